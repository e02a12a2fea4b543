/// The order of a tensor in memory: a permutation of its axes, and at most one axis blocked into the innermost
/// position. TensorRT's formats are instances: kLINEAR is {}, kHWC puts axis 1 last, kCHW32 blocks axis 1 by 32.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "tensor/extents.h"

namespace kiln {

class Format {
 public:
  constexpr Format() = default;  ///< linear (row-major), for every rank
  static constexpr Format linear() { return {}; }
  /// Axis 1 innermost: NHWC, NDHWC, NWC.
  static Format channels_last(int rank);
  /// `order[i]` is the axis at position i, outermost first.
  static Format permuted(std::span<const int> order);
  /// Axis `axis` split by `block`, whose remainder is innermost; padded with zeros to a multiple of it.
  Format blocked(int axis, int block) const;

  bool is_linear() const { return rank_ == 0 && block_ == 1; }
  bool is_channels_last() const;
  bool is_blocked() const { return block_ > 1; }
  int rank() const { return rank_; }  ///< of the permutation; 0 if axes keep their order, whatever the tensor's rank
  int block() const { return block_; }
  int block_axis() const { return block_axis_; }
  /// The axis at position `position`, outermost first.
  int axis_at(int position) const { return rank_ == 0 ? position : order_[static_cast<size_t>(position)]; }

  /// Strides in elements by axis, for an unblocked format.
  Extents strides(std::span<const int64_t> extents) const;
  /// Elements that memory holds, padding included.
  int64_t storage_volume(std::span<const int64_t> extents) const;

  bool operator==(const Format&) const = default;
  /// "linear", "nhwc" as a permutation "[0, 2, 3, 1]", with ":1/32" where blocked. `parse` reads it back.
  std::string text() const;
  static Result<Format> parse(std::string_view text);

 private:
  std::array<int8_t, kMaxRank> order_{};
  int8_t rank_ = 0;  // 0: linear
  int8_t block_axis_ = -1;
  int16_t block_ = 1;
};
inline void append(std::string& out, const Format& format) { out += format.text(); }

}  // namespace kiln
