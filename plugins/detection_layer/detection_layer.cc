// DetectionLayer_TRT, of Mask R-CNN: regions refined by their best class, and the best of them, without those that
// overlap better ones of their class by more than iou_threshold (intersection over union). Corners are y1, x1, y2, x2.
//   in   delta    f32 [N, B, C 4, 1, 1]: for each class dy, dx, log dh, log dw, of standard deviations 0.1 and 0.2
//        scores   f32 [N, B, C, 1, 1]; class 0 is the background
//        regions  f32 [N, B, 4], in 0 ... 1
//   out  y        f32 [N, keep_topk, 6]: corners, clipped to 0 ... 1, class, score; behind them class -1 and 0
//   fields  num_classes (C), keep_topk, score_threshold (scores below it go, and those of 0.01 and less),
//           iou_threshold
#include "library/mask_rcnn.h"
#include "library/proposals.h"

namespace kiln::plugins {
namespace {

class DetectionLayer final : public MaskRcnnDetection {
 public:
  explicit DetectionLayer(const MaskRcnnSettings& settings) : MaskRcnnDetection(settings, Background::kCompetes) {}

 private:
  Value refined(const Value& regions, const Value& deltas) const override {
    return clamp(plugins::refined(regions, deltas, {.place_deviation = 0.1, .size_deviation = 0.2}), 0, 1);
  }
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  const MaskRcnnSettings settings = TRY(MaskRcnnSettings::of(fields));
  return std::make_shared<DetectionLayer>(settings);
}

}  // namespace

std::vector<Definition> detection_layer() {
  return {{.name = "DetectionLayer_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = MaskRcnnSettings::fields(),
           .min_inputs = 3,
           .max_inputs = 3,
           .make = make}};
}

}  // namespace kiln::plugins
