#include "tensor/dtype.h"

namespace kiln {
namespace {
constexpr std::string_view kNames[kNumDTypes] = {"f32",  "f16", "i8", "i32",    "bool", "u8", "f8e4m3",
                                                 "bf16", "i64", "i4", "f4e2m1", "e8m0", "f64"};
}

std::string_view name_of(DType t) { return kNames[static_cast<int>(t)]; }

std::optional<DType> dtype_named(std::string_view name) {
  for (int i = 0; i < kNumDTypes; ++i)
    if (kNames[i] == name) return static_cast<DType>(i);
  return std::nullopt;
}

}  // namespace kiln
