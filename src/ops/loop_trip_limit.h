/// The end of a loop.
#pragma once

#include <array>

#include "ops/op.h"

namespace kiln {

/// nvinfer1::TripLimit.
enum class TripLimit : int32_t {
  kCount,  ///< after as many iterations
  kWhile   ///< before the first iteration for which the condition is false
};
inline std::span<const std::string_view> enum_names(TripLimit) {
  static constexpr std::array<std::string_view, 2> kNames = {"count", "while"};
  return kNames;
}

}  // namespace kiln

namespace kiln::ops {

/// Says how often the loop `group` runs.
///   in   limit   kCount: i32 or i64, one element, from outside the loop. kWhile: bool, one element
/// It has no output.
struct LoopTripLimit {
  static constexpr std::string_view name = "LoopTripLimit";
  int group = 0;
  TripLimit limit = TripLimit::kCount;
  static void reflect(auto& self, auto f) { f("group", self.group), f("limit", self.limit); }
  int num_outputs() const { return 0; }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
