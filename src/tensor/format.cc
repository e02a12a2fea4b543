#include "tensor/format.h"

#include <algorithm>
#include <charconv>

namespace kiln {

Format Format::channels_last(int rank) {
  if (rank < 3) return {};
  int order[kMaxRank];
  order[0] = 0;
  for (int i = 1; i + 1 < rank; ++i) order[i] = i + 1;
  order[rank - 1] = 1;
  return permuted(std::span(order, static_cast<size_t>(rank)));
}

Format Format::permuted(std::span<const int> order) {
  CHECK(order.size() <= kMaxRank);
  Format result;
  bool identity = true;
  for (size_t i = 0; i < order.size(); ++i) {
    result.order_[i] = static_cast<int8_t>(order[i]);
    identity &= order[i] == static_cast<int>(i);
  }
  if (identity) return {};
  result.rank_ = static_cast<int8_t>(order.size());
  return result;
}

Format Format::blocked(int axis, int block) const {
  Format result = *this;
  result.block_axis_ = static_cast<int8_t>(block > 1 ? axis : -1);
  result.block_ = static_cast<int16_t>(block);
  return result;
}

bool Format::is_channels_last() const { return rank_ >= 3 && *this == channels_last(rank_); }

Extents Format::strides(std::span<const int64_t> extents) const {
  CHECK(!is_blocked());
  CHECK(rank_ == 0 || rank_ == static_cast<int>(extents.size()));
  Extents strides(extents.size());
  uint64_t stride = 1;  // wraps where no element is, as row_major_strides does
  for (int i = static_cast<int>(extents.size()); i-- > 0;) {
    const auto axis = static_cast<size_t>(axis_at(i));
    strides[axis] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(extents[axis]);
  }
  return strides;
}

int64_t Format::storage_volume(std::span<const int64_t> extents) const {
  if (std::ranges::count(extents, 0) > 0) return 0;  // beside a 0 the others may be of any size
  int64_t result = 1;
  for (size_t axis = 0; axis < extents.size(); ++axis)
    result *= static_cast<int>(axis) == block_axis_ ? (extents[axis] + block_ - 1) / block_ * block_ : extents[axis];
  return result;
}

std::string Format::text() const {
  if (is_linear()) return "linear";
  std::string out = "[";
  for (int i = 0; i < rank_; ++i) out += (i ? ", " : "") + std::to_string(order_[static_cast<size_t>(i)]);
  out += ']';
  if (is_blocked()) out += str(':', int{block_axis_}, '/', int{block_});
  return out;
}

Result<Format> Format::parse(std::string_view text) {
  const auto bad = [&] { return error(Code::kCorrupt, "'", text, "' is not a format"); };
  if (text == "linear") return Format{};
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](int& value) {
    const auto [next, failed] = std::from_chars(at, end, value);
    at = next;
    return failed == std::errc{};
  };
  const auto take = [&](char c) { return at < end && *at == c && ++at; };
  int order[kMaxRank], rank = 0, seen = 0;
  if (!take('[')) return bad();
  while (!take(']')) {
    if (rank == kMaxRank || (rank > 0 && !(take(',') && take(' ')))) return bad();
    if (!number(order[rank]) || order[rank] < 0 || order[rank] >= kMaxRank) return bad();
    seen |= 1 << order[rank++];
  }
  if (seen != (1 << rank) - 1) return bad();
  Format result = permuted(std::span(order, static_cast<size_t>(rank)));
  if (at == end) return result;
  int axis = 0, block = 0;
  if (!take(':') || !number(axis) || !take('/') || !number(block) || at != end) return bad();
  if (axis < 0 || axis >= kMaxRank || block < 2 || block > 1024) return bad();
  return result.blocked(axis, block);
}

}  // namespace kiln
