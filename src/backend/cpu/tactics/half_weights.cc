#include "backend/cpu/tactics/half_weights.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "ir/precision.h"
#include "tensor/numeric.h"

namespace kiln::cpu {
namespace {

constexpr int64_t kFewestElements = 1 << 14;  // 64 KiB: what is smaller stays in a near cache

bool is_exact(float x, DType type) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if (type == DType::kBF16) return (bits & 0xffff) == 0;
  constexpr float kLeastNormalHalf = 0x1p-14f;
  const float size = std::fabs(x);
  if (size >= kLeastNormalHalf && size <= kLargestHalf) return (bits & 0x1fff) == 0;
  return half_to_float(float_to_half(x)) == x;
}

template <class Test>
bool all_of(const HostTensor& weights, Test test) {
  const auto* data = weights.data<float>();
  for (int64_t i = 0; i < weights.volume(); ++i)
    if (!test(data[i])) return false;
  return true;
}

}  // namespace

bool may_round(const TacticContext& cx, ir::ValueId weights, DType half) {
  if (cx.numerics.strongly_typed || !(half == DType::kF16 ? cx.numerics.fp16 : cx.numerics.bf16)) return false;
  return std::ranges::all_of(cx.graph.value(weights).users, [&](ir::NodeId user) {
    const auto precision = ir::float_precision_of(cx.graph.node(user));
    return !precision || precision == half;
  });
}

std::vector<DType> half_types(const TacticContext& cx, ir::ValueId weights) {
  const HostTensor* constant = cx.graph.constant(weights);
  if (!constant || constant->dtype() != DType::kF32 || constant->volume() < kFewestElements) return {};
  const auto fits = [](float x) { return std::fabs(x) <= kLargestHalf; };  // not NaN either
  std::vector<DType> result;
  for (const DType type : {DType::kF16, DType::kBF16}) {
    if (all_of(*constant, [&](float x) { return is_exact(x, type); }) ||
        (may_round(cx, weights, type) && (type == DType::kBF16 || all_of(*constant, fits))))
      result.push_back(type);
  }
  return result;
}

}  // namespace kiln::cpu
