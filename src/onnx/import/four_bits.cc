#include "onnx/import/four_bits.h"

#include <algorithm>

#include "tensor/view.h"

namespace kiln::onnx {
namespace {

constexpr int32_t kOffset = 8;

/// Whether all are what UINT4 has.
bool are_unsigned_nibbles(const HostTensor& numbers) {
  const std::span all(numbers.data<int32_t>(), static_cast<size_t>(numbers.volume()));
  return std::ranges::all_of(all, [](int32_t number) { return number >= 0 && number < 2 * kOffset; });
}

Result<HostTensor> moved(const HostTensor& numbers) {
  HostTensor::Fresh fresh = TRY(HostTensor::make(DType::kI4, numbers.extents()));
  for (int64_t i = 0; i < numbers.volume(); ++i)
    store_number(DType::kI4, fresh.data.data(), i, numbers.data<int32_t>()[i] - kOffset);
  return std::move(fresh.tensor);
}

/// Zero points of 0, one a scale, moved.
Result<HostTensor> moved_zeros(const Extents& scales) {
  HostTensor::Fresh fresh = TRY(HostTensor::make(DType::kI4, scales));
  for (int64_t i = 0; i < volume(scales); ++i) store_number(DType::kI4, fresh.data.data(), i, -kOffset);
  return std::move(fresh.tensor);
}

}  // namespace

Status narrow_to_int4(ImportContext& cx, ValueId& x, Quantization& by) {
  if (cx.dtype(x) != DType::kI32 || cx.rank(x) < 2 || !cx.is_constant(x)) return {};
  const HostTensor numbers = TRY(cx.constant(x, "x"));
  if (!are_unsigned_nibbles(numbers)) return {};
  if (by.zero == ValueId::kNone) {
    const auto extents = cx.type(by.scale).extents();
    if (!extents) return {};
    by.zero = cx.add_constant(TRY(moved_zeros(*extents)));
  } else {
    if (!cx.is_constant(by.zero)) return {};
    const HostTensor zeros = TRY(cx.constant(by.zero, "zero_point"));
    if (!are_unsigned_nibbles(zeros)) return {};
    by.zero = cx.add_constant(TRY(moved(zeros)));
  }
  x = cx.add_constant(TRY(moved(numbers)));
  return {};
}

}  // namespace kiln::onnx
