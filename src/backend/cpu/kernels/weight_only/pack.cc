#include "backend/cpu/kernels/weight_only/pack.h"

#include <algorithm>

#include "backend/cpu/kernels/weight_only/product.h"
#include "tensor/numeric.h"
#include "tensor/view.h"

namespace kiln::cpu {
namespace {

/// Number `at` of integers of at most a byte.
int32_t number_at(DType type, const std::byte* data, int64_t at) {
  if (type == DType::kI8) return static_cast<int8_t>(data[at]);
  if (type == DType::kU8) return static_cast<uint8_t>(data[at]);
  const auto both = static_cast<uint8_t>(data[at / 2]);
  const int32_t nibble = at % 2 ? both >> 4 : both & 15;
  return (nibble ^ 8) - 8;
}
void put_nibble(std::byte* data, int64_t at, int32_t number) {
  auto& both = data[at / 2];
  const auto nibble = static_cast<uint8_t>(number & 15);
  const auto kept = static_cast<uint8_t>(static_cast<uint8_t>(both) & (at % 2 ? 0x0f : 0xf0));
  both = static_cast<std::byte>(kept | (at % 2 ? nibble << 4 : nibble));
}

/// The place of a number in a panel's data, in numbers.
int64_t place_in_panel(const PackedWeights& packed, int64_t i, int64_t column) {
  if (packed.type == DType::kI8) return i * packed.panel + column;
  return (i / kBlockStep * packed.panel + column) * kBlockStep + i % kBlockStep;
}

void pack_panel(const QuantizedMatrix& from, PackedWeights& to, int64_t index) {
  auto* const data = reinterpret_cast<std::byte*>(to.data.data()) + index * to.panel_bytes();
  const int64_t first = index * to.panel, columns = std::min(to.panel, to.n - first);
  const int32_t flip = to.biased ? 8 : 0;
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < to.k; ++i) {
      const int32_t number = number_at(from.type, from.data, from.offset(i, first + j)) - to.moved;
      const int64_t at = place_in_panel(to, i, j);
      if (to.type == DType::kI4)
        put_nibble(data, at, number ^ flip);
      else
        data[at] = static_cast<std::byte>(number);
    }
  for (int64_t b = 0; b < to.blocks(); ++b)
    for (int64_t j = 0; j < columns; ++j) {
      const int64_t at = from.scale_offset(b, first + j), place = (index * to.blocks() + b) * to.panel + j;
      to.scales.data()[place] = static_cast<float>(load_number(from.scale_type, from.scales, at));
      if (to.zeros.empty()) continue;
      const int32_t zero = (from.zeros ? number_at(from.type, from.zeros, at) : 0) - to.moved;
      to.zeros[static_cast<size_t>(place)] = static_cast<int8_t>(zero + flip);
    }
}

}  // namespace

Result<PackedWeights> pack_weights(const QuantizedMatrix& from) {
  PackedWeights result;
  result.k = from.k, result.n = from.n, result.block = from.block;
  result.panel = weight_panel();
  result.type = from.type == DType::kI4 ? DType::kI4 : DType::kI8;
  result.moved = from.type == DType::kU8 ? 128 : 0;
  result.biased = from.type == DType::kI4 && keeps_nibbles_biased();
  const int64_t scales = result.panels() * result.blocks() * result.panel;
  // Kernels load from the middle of the last words.
  result.data = TRY(AlignedFloats::zeros(ceil_div(result.panels() * result.panel_bytes(), 4) + 1));
  result.scales = TRY(AlignedFloats::zeros(scales));
  if (from.zeros || result.moved || result.biased) result.zeros.resize(static_cast<size_t>(scales));
  for (int64_t i = 0; i < result.panels(); ++i) pack_panel(from, result, i);
  return result;
}

void unpack_weights(const PackedWeights& packed, const QuantizedMatrix& to, std::byte* into) {
  const int32_t flip = packed.biased ? 8 : 0;
  for (int64_t j = 0; j < packed.n; ++j) {
    const std::byte* data = packed.panel_data(j / packed.panel);
    for (int64_t i = 0; i < packed.k; ++i) {
      const int64_t at = place_in_panel(packed, i, j % packed.panel);
      if (packed.type == DType::kI4)
        put_nibble(into, to.offset(i, j), number_at(DType::kI4, data, at) ^ flip);
      else
        into[to.offset(i, j)] = static_cast<std::byte>(number_at(DType::kI8, data, at) + packed.moved);
    }
  }
}

}  // namespace kiln::cpu
