/// Elements picked by computed indices.
#pragma once

#include <array>

#include "ops/op.h"

namespace kiln {

/// nvinfer1::GatherMode.
enum class GatherMode : int32_t {
  kDefault,  ///< whole slices of data along an axis
  kElement,  ///< one element each
  kNd        ///< the last axis of indices holds coordinates
};
inline std::span<const std::string_view> enum_names(GatherMode) {
  static constexpr std::array<std::string_view, 3> kNames = {"default", "element", "nd"};
  return kNames;
}

}  // namespace kiln

namespace kiln::ops {

/// With k = num_elementwise_dims, e the k leading axes that data and indices share, and m the last extent of indices:
///   kDefault  y[e, a, i, b] = data[e, a, indices[e, i], b]       a: axes k ... axis - 1, b: those after axis
///   kElement  y[i] = data[i with i[axis] replaced by indices[i]]
///   kNd       y[e, i, b] = data[e, indices[e, i, 0 ... m - 1], b]
///   in   data     any type, rank >= 1
///        indices  i32 or i64; negative ones count from the back, any other outside the axis is an error
///   out  y        data's type
struct Gather {
  static constexpr std::string_view name = "Gather";
  static constexpr Trait traits = Trait::kMovement;
  static constexpr int min_inputs = 2, max_inputs = 2;
  GatherMode mode = GatherMode::kDefault;
  int axis = 0;                  ///< of data, for kDefault and kElement; negative counts from the back
  int num_elementwise_dims = 0;  ///< for kDefault, where their extents broadcast, and kNd
  static void reflect(auto& self, auto f) {
    f("mode", self.mode);
    f("axis", self.axis);
    f("num_elementwise_dims", self.num_elementwise_dims);
  }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
