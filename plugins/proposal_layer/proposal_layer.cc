// ProposalLayer_TRT, of Mask R-CNN: anchors refined by a network of proposals, and the best of them, without those that
// overlap better ones by more than iou_threshold (intersection over union). Corners are y1, x1, y2, x2.
//   in   scores   f32 [N, B, 2, 1]: of background and foreground
//        delta    f32 [N, B, 4, 1]: dy, dx, log dh, log dw, of standard deviations 0.1 and 0.2
//   out  y        f32 [N, keep_topk, 4]: corners, clipped to 0 ... 1, the best first; 0 where there are fewer whose
//                 score is above 0.01
//   fields  prenms_topk (so many of the best scores are looked at, 1024 at most), keep_topk, iou_threshold,
//           image_size (3, H, W: 3, 1024, 1024)
// B anchors belong to the image: for each stride 4, 8, 16, 32, 64, each of its multiples below H and W (row by row),
// and r = 1/2, 1, 2, a box of s / sqrt(r) x s sqrt(r) around it, s = 8 strides. Its greater corner is a pixel less, and
// all are divided by H - 1 and W - 1.
#include <algorithm>
#include <cmath>

#include "library/anchors.h"
#include "library/detections.h"
#include "library/proposals.h"
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

constexpr int64_t kStrides[] = {4, 8, 16, 32, 64};
constexpr float kRatios[] = {0.5F, 1, 2}, kSizeOfStride = 8;
constexpr double kLeastScore = 0.01;
constexpr int64_t kMostCandidates = 1024;

int64_t count_anchors(int64_t height, int64_t width) {
  int64_t count = 0;
  for (const int64_t stride : kStrides)
    count += (height + stride - 1) / stride * ((width + stride - 1) / stride) * std::ssize(kRatios);
  return count;
}

std::vector<float> anchors_of(int64_t height, int64_t width) {
  std::vector<float> anchors;
  const float last_y = static_cast<float>(height - 1), last_x = static_cast<float>(width - 1);
  for (const int64_t stride : kStrides)
    for (int64_t row = 0; row < height; row += stride)
      for (int64_t column = 0; column < width; column += stride)
        for (const float ratio : kRatios) {
          const float size = kSizeOfStride * static_cast<float>(stride), y = static_cast<float>(row),
                      x = static_cast<float>(column);
          const float half_height = size / std::sqrt(ratio) / 2, half_width = size * std::sqrt(ratio) / 2;
          anchors.insert(anchors.end(), {(y - half_height) / last_y, (x - half_width) / last_x,
                                         (y + half_height - 1) / last_y, (x + half_width - 1) / last_x});
        }
  return anchors;
}

class ProposalLayer final : public StandardPlugin {
 public:
  ProposalLayer(const Suppression& how, int64_t keep, int64_t height, int64_t width)
      : how_(how), keep_(keep), height_(height), width_(width), count_(count_anchors(height, width)) {}
  bool takes(nv::DataType type, std::span<const nv::DataType>) const override { return type == nv::DataType::kFLOAT; }
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    for (size_t i = 0; i < 2; ++i) {
      TRY(require_rank(inputs, i, 4));
      TRY(require_extent(inputs, i, 1, count_, "as many as the image has anchors"));
      const int64_t numbers = i == 0 ? 2 : 4;
      TRY(require_equal(inputs[i][2] * inputs[i][3], numbers,
                        str("an anchor of input ", i, " has to have so many numbers: ", numbers)));
    }
    TRY(require_equal(inputs, 0, 0, 1, 0));
    return std::vector<Shape>{{inputs[0][0], keep_, 4}};
  }
  std::vector<Value> add_layers(Layers&, std::span<const Value> inputs) const override {
    const Extent batch = inputs[0].extent(0);
    const Value scores = pick(reshape(inputs[0], {batch, count_, 2}), 2, 1);
    const Value deltas = reshape(inputs[1], {batch, count_, 4});
    const Ranked best = best_anchors(anchors_of(height_, width_), deltas, scores, how_.candidates);
    const Value moved = refined(best.anchors, best.deltas, {.place_deviation = 0.1, .size_deviation = 0.2});
    const Value boxes = clamp(moved, 0, 1);
    const Value found = detect(boxes, boxes, unsqueeze(best.scores, {2}), how_).boxes;
    return {keep_ > how_.most ? pad(found, {0, 0, 0}, {0, keep_ - how_.most, 0}) : found};
  }

 private:
  Suppression how_;
  int64_t keep_, height_, width_, count_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  Suppression how;
  how.candidates = TRY(fields.integer("prenms_topk"));
  const int64_t keep = TRY(fields.integer("keep_topk"));
  how.iou_threshold = TRY(fields.number("iou_threshold"));
  how.score_threshold = kLeastScore;
  const std::vector<int64_t> image = TRY(image_size(fields, {3, 1024, 1024}));
  TRY(require(how.candidates > 0 && how.candidates <= kMostCandidates, "prenms_topk is ", how.candidates, "; 1 to ",
              kMostCandidates, " are possible"));
  TRY(require(keep > 0 && how.iou_threshold > 0, "keep_topk is ", keep, ", iou_threshold ", how.iou_threshold));
  TRY(require(image[0] == 3, "image_size has ", image[0], " channels; 3 are needed"));
  TRY(require(std::min(image[1], image[2]) > 1 && std::max(image[1], image[2]) <= kMostAnchors &&
                  count_anchors(image[1], image[2]) <= kMostAnchors,
              "image_size is 3, ", image[1], ", ", image[2], "; sides of 2 or more with ", kMostAnchors,
              " anchors at most are possible"));
  how.most = how.most_of_class = std::min(keep, how.candidates);
  how.iou_threshold = std::min(how.iou_threshold, 1.0);  // no overlap is greater
  return std::make_shared<ProposalLayer>(how, keep, image[1], image[2]);
}

}  // namespace

std::vector<Definition> proposal_layer() {
  return {{.name = "ProposalLayer_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = {field("prenms_topk", kInt), field("keep_topk", kInt), field("iou_threshold", kFloat),
                      field("image_size", kInt)},
           .min_inputs = 2,
           .max_inputs = 2,
           .make = make}};
}

}  // namespace kiln::plugins
