/// Mask R-CNN's detections: regions refined by their best class, and the best of them.
#pragma once

#include "library/detections.h"
#include "library/standard_plugin.h"

namespace kiln::plugins {

/// The fields num_classes, keep_topk, score_threshold and iou_threshold.
struct MaskRcnnSettings {
  Suppression how;
  int64_t num_classes = 0;
  static Result<MaskRcnnSettings> of(const Fields& fields);
  static std::vector<nv::PluginField> fields();
};

/// What its plugins have in common.
///   in   delta    f32 [N, B, C 4, 1, 1]: for each class dy, dx, log dh, log dw
///        scores   f32 [N, B, C, 1, 1], in 0 ... 1; class 0 is the background
///        regions  f32 [N, B, 4]: y1, x1, y2, x2
///   out  y        f32 [N, keep_topk, 6]: corners, class, score, the best first; class -1 and 0 where there are fewer
class MaskRcnnDetection : public StandardPlugin {
 public:
  bool takes(nv::DataType type, std::span<const nv::DataType>) const override { return type == nv::DataType::kFLOAT; }
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override;
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override;

 protected:
  enum class Background : bool {
    kCompetes,  ///< regions that are best called background are none of any class
    kIgnored
  };
  MaskRcnnDetection(const MaskRcnnSettings& settings, Background background)
      : settings_(settings), background_(background) {}
  /// Regions moved by the deltas of one class each, [N, B, 4].
  virtual Value refined(const Value& regions, const Value& deltas) const = 0;

 private:
  MaskRcnnSettings settings_;
  Background background_;
};

}  // namespace kiln::plugins
