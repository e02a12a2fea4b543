// MultilevelProposeROI_TRT, of Mask R-CNN: for each of five feature maps anchors refined by a network of proposals, and
// the best of them, without those of the map that overlap better ones by more than iou_threshold (intersection over
// union); of all maps the best. Corners are y1, x1, y2, x2 in pixels. Floats are calculated with in FP32.
//   in   for each map, the finest first:
//        delta    floats [N, B, 4, 1]: dy, dx, log dh, log dw, which are log(1000 / 16) at most
//        scores   [N, B, 1, 1], in 0 ... 1
//   out  y        [N, keep_topk, 4]: corners, clipped to the image's pixels, the best first; 0 where there are fewer
//   fields  prenms_topk  so many of a map's best scores are looked at, 4096 at most. keep_topk  of a map, and of all.
//           fg_threshold  scores below it go. iou_threshold. image_size  channels, H, W; 3, 832, 1344 if it is absent
// B anchors belong to a map: for its stride s = 4, 8, 16, 32, 64, each of s / 2 + i s below H and W (row by row), and a
// box of 8 s x 8 s, 5.6 s x 11.2 s and 11.2 s x 5.6 s (rows x columns) around it. To be moved, they are 1 larger than
// the difference of their corners, and so are what becomes of them.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "library/anchors.h"
#include "library/detections.h"
#include "library/proposals.h"
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

constexpr int64_t kStrides[] = {4, 8, 16, 32, 64};
constexpr size_t kMaps = std::size(kStrides);
constexpr float kSizeOfStride = 8;
constexpr struct { float rows, columns; } kShapes[] = {{1, 1}, {0.7F, 1.4F}, {1.4F, 0.7F}};

int64_t count_anchors(int64_t height, int64_t width, int64_t stride) {
  const auto along = [&](int64_t length) { return (length + stride - 1 - stride / 2) / stride; };
  return along(height) * along(width) * std::ssize(kShapes);
}

std::vector<float> anchors_of(int64_t height, int64_t width, int64_t stride) {
  std::vector<float> anchors;
  const float size = kSizeOfStride * static_cast<float>(stride);
  for (int64_t row = stride / 2; row < height; row += stride)
    for (int64_t column = stride / 2; column < width; column += stride)
      for (const auto& shape : kShapes) {
        const float y = static_cast<float>(row), x = static_cast<float>(column), half_height = size * shape.rows / 2,
                    half_width = size * shape.columns / 2;
        anchors.insert(anchors.end(), {y - half_height, x - half_width, y + half_height, x + half_width});
      }
  return anchors;
}

class MultilevelProposeRoi final : public StandardPlugin {
 public:
  MultilevelProposeRoi(const Suppression& how, int64_t height, int64_t width)
      : how_(how), height_(height), width_(width) {}
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    for (size_t i = 0; i < 2 * kMaps; ++i) {
      TRY(require_rank(inputs, i, 4));
      const int64_t count = count_anchors(height_, width_, kStrides[i / 2]);
      TRY(require_extent(inputs, i, 1, count, "as many as its map has anchors"));
      TRY(require_equal(inputs, 0, 0, i, 0));
      const int64_t numbers = i % 2 == 0 ? 4 : 1;
      TRY(require_equal(inputs[i][2] * inputs[i][3], numbers,
                        str("an anchor of input ", i, " has to have so many numbers: ", numbers)));
    }
    return std::vector<Shape>{{inputs[0][0], how_.most, 4}};
  }
  std::vector<Value> add_layers(Layers&, std::span<const Value> inputs) const override {
    std::vector<Value> boxes, scores;
    for (size_t map = 0; map < kMaps; ++map) {
      const Detections found = detections(map, inputs[2 * map].f32(), inputs[2 * map + 1].f32());
      boxes.push_back(found.boxes);
      scores.push_back(found.scores);
    }
    const TopK best = top_k(concat(scores, 1), how_.most, 1);
    return {gather_nd(concat(boxes, 1), unsqueeze(best.indices, {2}), 1)};
  }

 private:
  /// The best boxes of one map.
  Detections detections(size_t map, const Value& deltas, const Value& scores) const {
    const Extent batch = deltas.extent(0);
    const std::vector<float> anchors = anchors_of(height_, width_, kStrides[map]);
    const auto count = static_cast<int64_t>(anchors.size() / 4);
    const Ranked best =
        best_anchors(anchors, reshape(deltas, {batch, count, 4}), reshape(scores, {batch, count}), how_.candidates);
    const Refinement how{.larger_by = 1, .most_growth = std::log(1000.0 / 16)};
    const Value boxes = in_image(refined(best.anchors, best.deltas, how), height_, width_);
    // Boxes of less than a pixel end before they begin; they overlap nothing.
    const std::vector<Value> corners = split(boxes, 2, {2, 2});
    const Value compared = concat({corners[0], max(corners[0], corners[1])}, 2);
    return detect(boxes, compared, unsqueeze(best.scores, {2}), how_);
  }
  Suppression how_;
  int64_t height_, width_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  constexpr int64_t kMostCandidates = 4096, kLeastSide = kStrides[kMaps - 1] / 2 + 1;
  Suppression how;
  how.candidates = TRY(fields.integer("prenms_topk"));
  how.most = how.most_of_class = TRY(fields.integer("keep_topk"));
  const double least_score = TRY(fields.number("fg_threshold"));
  how.iou_threshold = TRY(fields.number("iou_threshold"));
  const std::vector<int64_t> image = TRY(image_size(fields, {3, 832, 1344}));
  TRY(require(how.candidates > 0 && how.candidates <= kMostCandidates && how.most > 0 && how.most <= kMostOfTopK,
              "prenms_topk is ", how.candidates, ", keep_topk ", how.most, "; 1 to ", kMostCandidates, " and 1 to ",
              kMostOfTopK, " are possible"));
  TRY(require(least_score >= 0 && how.iou_threshold >= 0, "fg_threshold is ", least_score, ", iou_threshold ",
              how.iou_threshold));
  TRY(require(std::min(image[1], image[2]) >= kLeastSide && std::max(image[1], image[2]) <= kMostAnchors &&
                  count_anchors(image[1], image[2], kStrides[0]) <= kMostAnchors,
              "image_size is ", image[0], ", ", image[1], ", ", image[2], "; sides of ", kLeastSide, " or more with ",
              kMostAnchors, " anchors of a map at most are possible"));
  how.score_threshold = just_below(least_score);
  how.iou_threshold = std::min(how.iou_threshold, 1.0);  // no overlap is greater
  return std::make_shared<MultilevelProposeRoi>(how, image[1], image[2]);
}

}  // namespace

std::vector<Definition> multilevel_propose_roi() {
  return {{.name = "MultilevelProposeROI_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = {field("prenms_topk", kInt), field("keep_topk", kInt), field("fg_threshold", kFloat),
                      field("iou_threshold", kFloat), field("image_size", kInt)},
           .min_inputs = 2 * kMaps,
           .max_inputs = 2 * kMaps,
           .make = make}};
}

}  // namespace kiln::plugins
