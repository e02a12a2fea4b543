/// Elements written over others at computed indices.
#pragma once

#include <array>

#include "ops/op.h"

namespace kiln {

/// nvinfer1::ScatterMode.
enum class ScatterMode : int32_t {
  kElement,  ///< one element each
  kNd        ///< the last axis of indices holds coordinates
};
inline std::span<const std::string_view> enum_names(ScatterMode) {
  static constexpr std::array<std::string_view, 2> kNames = {"element", "nd"};
  return kNames;
}

/// The way in which an element and an update of it become one.
enum class ScatterReduction : int32_t {
  kNone,  ///< the update; of several the last
  kSum,
  kProd,
  kMax,
  kMin
};
inline std::span<const std::string_view> enum_names(ScatterReduction) {
  static constexpr std::array<std::string_view, 5> kNames = {"none", "sum", "prod", "max", "min"};
  return kNames;
}

}  // namespace kiln

namespace kiln::ops {

/// y is data, but for what updates make of it, one after another. With m the last extent of
/// indices:
///   kElement  updates[i] is for y[i with i[axis] replaced by indices[i]]
///   kNd       updates[i, b] is for y[indices[i, 0 ... m - 1], b]
///   in   data     any type, rank >= 1
///        indices  i32 or i64; negative ones count from the back, any other outside the axis is an error
///        updates  data's type; kElement: as many as indices
///   out  y        data's type and shape
struct Scatter {
  static constexpr std::string_view name = "Scatter";
  static constexpr int min_inputs = 3, max_inputs = 3;
  ScatterMode mode = ScatterMode::kElement;
  int axis = 0;                                          ///< of data, for kElement; negative counts from the back
  ScatterReduction reduction = ScatterReduction::kNone;  ///< of numbers alone, but for kNone
  static void reflect(auto& self, auto f) {
    f("mode", self.mode);
    f("axis", self.axis);
    f("reduction", self.reduction);
  }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
