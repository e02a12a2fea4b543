#include "ops/fast_fold.h"

#include <algorithm>
#include <cstring>

#include "ops/cast.h"
#include "ops/concatenation.h"
#include "ops/element_wise.h"
#include "ops/identity.h"
#include "ops/reshape.h"
#include "ops/squeeze.h"
#include "ops/transpose.h"
#include "ops/unsqueeze.h"
#include "tensor/numeric.h"

namespace kiln {
namespace {

using Folded = Result<std::optional<HostTensor>>;

/// A tensor walked along the axes of another: a stride for each of these axes, 0 where it is repeated.
template <class F>
void for_each_row(const Extents& extents, const Extents& a, const Extents& b, F f) {
  Extents index(extents.size(), 0);
  const size_t last = extents.size() - 1;
  const int64_t rows = volume(extents) / std::max<int64_t>(extents[last], 1);
  int64_t at_a = 0, at_b = 0;
  for (int64_t row = 0; row < rows; ++row) {
    f(row, at_a, at_b);
    for (size_t axis = last; axis-- > 0;) {
      at_a += a[axis], at_b += b[axis];
      if (++index[axis] < extents[axis]) break;
      at_a -= a[axis] * extents[axis], at_b -= b[axis] * extents[axis];
      index[axis] = 0;
    }
  }
}

/// Transposes [rows, columns] to [columns, rows] in squares that the cache holds.
template <class T>
void transpose_plane(const T* x, T* y, int64_t rows, int64_t columns) {
  constexpr int64_t kSquare = 32;
  for (int64_t r = 0; r < rows; r += kSquare)
    for (int64_t c = 0; c < columns; c += kSquare)
      for (int64_t j = c; j < std::min(c + kSquare, columns); ++j)
        for (int64_t i = r; i < std::min(r + kSquare, rows); ++i) y[j * rows + i] = x[i * columns + j];
}

template <class T>
void transpose(const HostTensor& x, T* y, const std::vector<int64_t>& perm, const Extents& to) {
  const T* from = x.data<T>();
  const size_t rank = perm.size();
  bool swaps_last =
      rank >= 2 && perm[rank - 1] == static_cast<int64_t>(rank - 2) && perm[rank - 2] == static_cast<int64_t>(rank - 1);
  for (size_t i = 0; i + 2 < rank; ++i) swaps_last &= perm[i] == static_cast<int64_t>(i);
  if (swaps_last) {
    const int64_t rows = x.extents()[rank - 2], columns = x.extents()[rank - 1], plane = rows * columns;
    for (int64_t at = 0; at < x.volume(); at += plane) transpose_plane(from + at, y + at, rows, columns);
    return;
  }
  const Extents strides = row_major_strides(x.extents());
  Extents steps;
  for (const int64_t axis : perm) steps.push_back(strides[static_cast<size_t>(axis)]);
  const int64_t columns = to[rank - 1], step = steps[rank - 1];
  for_each_row(to, steps, steps, [&](int64_t row, int64_t at, int64_t) {
    for (int64_t i = 0; i < columns; ++i) y[row * columns + i] = from[at + i * step];
  });
}

Folded fold_transpose(const ops::Transpose& op, const HostTensor& x, const Extents& to) {
  if (op.perm.empty() || bits_of(x.dtype()) < 8) return std::nullopt;
  HostTensor::Fresh y = TRY(HostTensor::make(x.dtype(), to));
  switch (bits_of(x.dtype())) {
    case 8: transpose(x, reinterpret_cast<uint8_t*>(y.data.data()), op.perm, to); break;
    case 16: transpose(x, reinterpret_cast<uint16_t*>(y.data.data()), op.perm, to); break;
    case 32: transpose(x, reinterpret_cast<uint32_t*>(y.data.data()), op.perm, to); break;
    default: transpose(x, reinterpret_cast<uint64_t*>(y.data.data()), op.perm, to); break;
  }
  return std::move(y.tensor);
}

Folded fold_cast(const HostTensor& x, DType to) {
  const bool widens = to == DType::kF32 && (x.dtype() == DType::kF16 || x.dtype() == DType::kBF16);
  const bool narrows = x.dtype() == DType::kF32 && (to == DType::kF16 || to == DType::kBF16);
  if (!widens && !narrows) return std::nullopt;
  HostTensor::Fresh fresh = TRY(HostTensor::make(to, x.extents()));
  const int64_t count = x.volume();
  if (narrows) {
    auto* y = reinterpret_cast<uint16_t*>(fresh.data.data());
    const auto narrow = to == DType::kF16 ? float_to_half : float_to_bfloat16;
    for (int64_t i = 0; i < count; ++i) y[i] = narrow(x.data<float>()[i]);
    return std::move(fresh.tensor);
  }
  auto* y = reinterpret_cast<float*>(fresh.data.data());
  const auto* bits = x.data<uint16_t>();
  if (x.dtype() == DType::kF16)
    for (int64_t i = 0; i < count; ++i) y[i] = half_to_float(bits[i]);
  else
    for (int64_t i = 0; i < count; ++i) y[i] = bfloat16_to_float(bits[i]);
  return std::move(fresh.tensor);
}

Folded fold_concatenation(const ops::Concatenation& op, std::span<const HostTensor* const> parts, const Extents& to) {
  const DType dtype = parts[0]->dtype();
  if (bits_of(dtype) < 8) return std::nullopt;
  const auto axis = static_cast<size_t>(TRY(normalize_axis(op.axis, static_cast<int>(to.size()))));
  HostTensor::Fresh fresh = TRY(HostTensor::make(dtype, to));
  const int64_t rows = volume(std::span(to).first(axis));
  std::byte* y = fresh.data.data();
  for (int64_t row = 0; row < rows; ++row)
    for (const HostTensor* part : parts) {
      const size_t bytes = part->bytes().size() / static_cast<size_t>(rows);
      std::memcpy(y, part->bytes().data() + static_cast<size_t>(row) * bytes, bytes);
      y += bytes;
    }
  return std::move(fresh.tensor);
}

/// Strides along the axes of `to`, 0 along those that `x` repeats.
Extents broadcast_strides(const HostTensor& x, const Extents& to) {
  Extents strides = row_major_strides(x.extents());
  for (size_t axis = 0; axis < to.size(); ++axis)
    if (x.extents()[axis] == 1) strides[axis] = 0;
  return strides;
}

template <class F>
Folded fold_elements(const HostTensor& a, const HostTensor& b, const Extents& to, F f) {
  HostTensor::Fresh fresh = TRY(HostTensor::make(DType::kF32, to));
  auto* y = reinterpret_cast<float*>(fresh.data.data());
  const Extents by_a = broadcast_strides(a, to), by_b = broadcast_strides(b, to);
  const int64_t columns = to.back(), step_a = by_a.back(), step_b = by_b.back();
  for_each_row(to, by_a, by_b, [&](int64_t row, int64_t at_a, int64_t at_b) {
    for (int64_t i = 0; i < columns; ++i)
      y[row * columns + i] = f(a.data<float>()[at_a + i * step_a], b.data<float>()[at_b + i * step_b]);
  });
  return std::move(fresh.tensor);
}

// An f32 operation rounded once equals the same in double rounded to f32: 53 bits suffice for two of 24.
Folded fold_element_wise(const ops::ElementWise& op, const HostTensor& a, const HostTensor& b, const Extents& to) {
  if (a.dtype() != DType::kF32 || a.rank() != b.rank() || a.rank() == 0) return std::nullopt;
  switch (op.kind) {
    case ops::ElementWiseKind::kSum: return fold_elements(a, b, to, [](float x, float y) { return x + y; });
    case ops::ElementWiseKind::kProd: return fold_elements(a, b, to, [](float x, float y) { return x * y; });
    case ops::ElementWiseKind::kSub: return fold_elements(a, b, to, [](float x, float y) { return x - y; });
    case ops::ElementWiseKind::kDiv: return fold_elements(a, b, to, [](float x, float y) { return x / y; });
    default: return std::nullopt;
  }
}

}  // namespace

Folded fast_fold(const Op& op, std::span<const HostTensor* const> inputs, const TensorType& y) {
  constexpr int64_t kSmall = 1024;  // elements; references take microseconds
  if (inputs.empty() || !inputs[0] || !y.is_static()) return std::nullopt;
  const HostTensor& x = *inputs[0];
  const Extents to = TRY(y.extents());
  if (op.as<ops::Reshape>() || op.as<ops::Squeeze>() || op.as<ops::Unsqueeze>() || op.as<ops::Identity>())
    return x.reshaped(to);
  if (volume(to) < kSmall) return std::nullopt;
  if (const auto* transpose = op.as<ops::Transpose>()) return fold_transpose(*transpose, x, to);
  if (const auto* cast = op.as<ops::Cast>()) return fold_cast(x, cast->to);
  if (const auto* join = op.as<ops::Concatenation>()) return fold_concatenation(*join, inputs, to);
  if (const auto* element_wise = op.as<ops::ElementWise>()) return fold_element_wise(*element_wise, x, *inputs[1], to);
  return std::nullopt;
}

}  // namespace kiln
