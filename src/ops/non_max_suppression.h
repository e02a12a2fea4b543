/// The best boxes of each class that do not overlap much.
#pragma once

#include <array>

#include "ops/op.h"

namespace kiln {

/// How four numbers describe a box: nvinfer1::BoundingBoxFormat.
enum class BoxFormat : int32_t {
  kCorners,     ///< two opposite corners, in any order
  kCenterSizes  ///< the centre and the two extents
};
inline std::span<const std::string_view> enum_names(BoxFormat) {
  static constexpr std::array<std::string_view, 2> kNames = {"corners", "center_sizes"};
  return kNames;
}

}  // namespace kiln

namespace kiln::ops {

/// Goes through the boxes of each image and class by descending score (of equal scores the lower index first) and
/// selects a box unless its intersection with one selected before is more than `iou_threshold` of their union. Boxes
/// whose score is not above `score_threshold` are left out; NaN is above nothing.
///   in   boxes            float[b, n, 4], or [b, n, c or 1, 4] with boxes for each class
///        scores           boxes' type, [b, n, c]
///        most             i32 or i64, one element: boxes that are selected of a class at most. Optional: none
///        iou_threshold    f32 or scores' type, one element in [0, 1]; optional: 0
///        score_threshold  the same; optional: nothing is left out
///   out  selected         indices[s, 3]: image, class and box, by image, then class, then descending score
///        count            i32[]: s, which the run decides; with its symbolic value
struct NonMaxSuppression {
  static constexpr std::string_view name = "NonMaxSuppression";
  static constexpr int min_inputs = 2, max_inputs = 5;
  BoxFormat format = BoxFormat::kCorners;
  int64_t candidates = -1;      ///< of a class: only so many of the best scores are looked at; -1: all
  DType indices = DType::kI64;  ///< i32 or i64
  static void reflect(auto& self, auto f) {
    f("format", self.format), f("candidates", self.candidates), f("indices", self.indices);
  }
  int num_outputs() const { return 2; }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
