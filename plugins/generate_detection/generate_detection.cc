// GenerateDetection_TRT, of Mask R-CNN: regions refined by their best class but the background, and the best of them,
// without those that overlap better ones of their class by more than iou_threshold (intersection over union). Corners
// are y1, x1, y2, x2 in pixels of the image; a region that begins and ends in one pixel is 1 large.
//   in   delta    f32 [N, B, C 4, 1, 1]: for each class dy, dx times 10, log dh, log dw times 5; the logarithms are
//                 log(1000 / 16) at most
//        scores   f32 [N, B, C, 1, 1]; class 0 is the background
//        regions  f32 [N, B, 4]
//   out  y        f32 [N, keep_topk, 6]: corners, clipped to the image's pixels, class, score; behind them class -1
//                 and 0
// With a region's size h = y2 - y1 + 1 and centre c = y1 + h / 2, the box has the centre c + dy h, the size
// h exp(log dh), and ends 1 before its size says. Columns likewise.
//   fields  num_classes (C), keep_topk, score_threshold (scores below it go, and those of 0.01 and less),
//           iou_threshold, image_size (channels, height and width: 3, 832, 1344)
#include <cmath>

#include "library/mask_rcnn.h"
#include "library/proposals.h"

namespace kiln::plugins {
namespace {

class GenerateDetection final : public MaskRcnnDetection {
 public:
  GenerateDetection(const MaskRcnnSettings& settings, int64_t height, int64_t width)
      : MaskRcnnDetection(settings, Background::kIgnored), height_(height), width_(width) {}

 private:
  Value refined(const Value& regions, const Value& deltas) const override {
    const Refinement how{
        .place_deviation = 0.1, .size_deviation = 0.2, .larger_by = 1, .most_growth = std::log(1000.0 / 16)};
    return in_image(plugins::refined(regions, deltas, how), height_, width_);
  }
  int64_t height_, width_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  const MaskRcnnSettings settings = TRY(MaskRcnnSettings::of(fields));
  const std::vector<int64_t> image = TRY(image_size(fields, {3, 832, 1344}));
  return std::make_shared<GenerateDetection>(settings, image[1], image[2]);
}

}  // namespace

std::vector<Definition> generate_detection() {
  std::vector<nv::PluginField> fields = MaskRcnnSettings::fields();
  fields.push_back(field("image_size", kInt));
  return {{.name = "GenerateDetection_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = fields,
           .min_inputs = 3,
           .max_inputs = 3,
           .make = make}};
}

}  // namespace kiln::plugins
