/// A box of elements copied from one set of strides to another: what every copy is made of.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace kiln::cpu {

/// One axis of a box; strides in bytes, negative or 0 in the source as the caller likes, not 0 in the target.
struct BoxAxis {
  int64_t extent;
  ptrdiff_t from, to;
};

/// A box as it runs: axes merged and sorted, the loop that suits them chosen.
struct Box {
  enum class Kind : uint8_t {
    kRows,      ///< contiguous bytes
    kFill,      ///< one element repeated
    kElements,  ///< elements at any stride
    kTranspose  ///< contiguous along one axis in the source, along another in the target
  };
  static constexpr int kMaxAxes = 16;

  Kind kind = Kind::kElements;
  int source = 0;  ///< which of the copy's sources
  int element_bytes = 1;
  ptrdiff_t from_offset = 0, to_offset = 0;
  int num_outer = 0;
  std::array<BoxAxis, kMaxAxes> outer{};  ///< outermost in the target first
  BoxAxis inner{1, 0, 0};                 ///< the loop's own axis; of kTranspose the target's contiguous one
  BoxAxis across{1, 0, 0};                ///< of kTranspose: the source's contiguous one
  int64_t strips = 1;                     ///< of kTranspose: parts of `across`
  int64_t units = 0;                      ///< what the work can be split into; 0 if the box is empty
  int64_t bytes = 0;                      ///< copied in all
};

/// Element bytes: any number >= 1. At most kMaxAxes axes with an extent above 1.
Box make_box(int element_bytes, std::span<const BoxAxis> axes, ptrdiff_t from_offset, ptrdiff_t to_offset, int source);

/// Copies units [begin, end). Source and target must not overlap.
void run_box(const Box& box, const std::byte* from, std::byte* to, int64_t begin, int64_t end);

}  // namespace kiln::cpu
