#include "backend/cpu/kernels/copy/box.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "backend/cpu/kernels/aligned.h"
#include "backend/cpu/kernels/copy/transpose_block.h"

namespace kiln::cpu {
namespace {

constexpr int64_t kStripBytes =
    4 * kCacheLine;  // of a transposition's source rows: a few pages' worth of rows stay open
constexpr int64_t kBlockRows = 64;
constexpr int64_t kPage = 4096;

bool is_power_of_two_to_16(int64_t bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
}

/// Sorts the axes by falling stride in the target, and merges neighbours that form one axis in both memories.
int merge_axes(std::span<const BoxAxis> axes, std::array<BoxAxis, Box::kMaxAxes>& merged) {
  int count = 0;
  for (const BoxAxis& axis : axes)
    if (axis.extent != 1) merged[static_cast<size_t>(count++)] = axis;
  std::stable_sort(merged.begin(), merged.begin() + count,
                   [](const BoxAxis& a, const BoxAxis& b) { return std::abs(a.to) > std::abs(b.to); });
  int last = 0;
  for (int i = 1; i < count; ++i) {
    BoxAxis& outer = merged[static_cast<size_t>(last)];
    const BoxAxis& inner = merged[static_cast<size_t>(i)];
    if (outer.to == inner.to * inner.extent && outer.from == inner.from * inner.extent)
      outer = {outer.extent * inner.extent, inner.from, inner.to};
    else
      merged[static_cast<size_t>(++last)] = inner;
  }
  return count ? last + 1 : 0;
}

/// Takes an axis out of the list.
BoxAxis take(Box& box, int index) {
  const BoxAxis axis = box.outer[static_cast<size_t>(index)];
  for (int i = index; i + 1 < box.num_outer; ++i)
    box.outer[static_cast<size_t>(i)] = box.outer[static_cast<size_t>(i + 1)];
  --box.num_outer;
  return axis;
}

int find_axis(const Box& box, ptrdiff_t BoxAxis::*stride, ptrdiff_t wanted) {
  for (int i = box.num_outer - 1; i >= 0; --i)
    if (box.outer[static_cast<size_t>(i)].*stride == wanted) return i;
  return -1;
}

void choose_loop(Box& box) {
  const int last = box.num_outer - 1;
  const BoxAxis& innermost = box.outer[static_cast<size_t>(last)];
  if (innermost.to == box.element_bytes && innermost.from == box.element_bytes) {
    box.kind = Box::Kind::kRows;
    box.inner = take(box, last);
    return;
  }
  const bool simple = is_power_of_two_to_16(box.element_bytes);
  if (innermost.to == box.element_bytes && innermost.from == 0 && simple) {
    box.kind = Box::Kind::kFill;
    box.inner = take(box, last);
    return;
  }
  constexpr int64_t kWorthBlocks = 4;
  const int across = find_axis(box, &BoxAxis::from, box.element_bytes);
  const bool square = innermost.to == box.element_bytes && across >= 0 && across != last && simple;
  const int64_t rows = square ? box.outer[static_cast<size_t>(across)].extent : 0;
  // Bytes of three channels have a block of their own.
  const bool is_picture = square && box.element_bytes == 1 && innermost.extent == 3 &&
                          box.outer[static_cast<size_t>(across)].to == innermost.extent;
  if (rows >= kWorthBlocks && (innermost.extent >= kWorthBlocks || is_picture)) {
    box.kind = Box::Kind::kTranspose;
    box.inner = take(box, last);
    box.across = take(box, across);
    box.strips = ceil_div(box.across.extent * box.element_bytes, kStripBytes);
    return;
  }
  // The longer loop goes inside: a loop over an image's three channels would not pay.
  const bool use_across = rows > innermost.extent;
  box.kind = Box::Kind::kElements;
  box.inner = take(box, use_across ? across : last);
}

template <int kBytes>
struct Chunk {
  std::byte bytes[kBytes];
};
template <int kBytes>
void copy_elements(const std::byte* from, std::byte* to, const BoxAxis& axis) {
  for (int64_t i = 0; i < axis.extent; ++i) {
    Chunk<kBytes> chunk;
    std::memcpy(&chunk, from + i * axis.from, kBytes);
    std::memcpy(to + i * axis.to, &chunk, kBytes);
  }
}
template <int kBytes>
void fill_elements(const std::byte* from, std::byte* to, int64_t count) {
  Chunk<kBytes> chunk;
  std::memcpy(&chunk, from, kBytes);
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * kBytes, &chunk, kBytes);
}

/// Every second word of a row, by fours; stops before a load would reach beyond the last word asked for.
int64_t copy_even_words(const std::byte* from, std::byte* to, int64_t count) {
  using Words = uint32_t __attribute__((vector_size(16)));
  int64_t i = 0;
  for (; i + 4 < count; i += 4) {
    Words low, high;
    std::memcpy(&low, from + i * 8, 16);
    std::memcpy(&high, from + i * 8 + 16, 16);
    const Words even = __builtin_shufflevector(low, high, 0, 2, 4, 6);
    std::memcpy(to + i * 4, &even, 16);
  }
  return i;
}

void copy_words(const std::byte* from, std::byte* to, const BoxAxis& axis) {
  const int64_t done = axis.to == 4 && axis.from == 8 ? copy_even_words(from, to, axis.extent) : 0;
  copy_elements<4>(from + done * axis.from, to + done * axis.to, {axis.extent - done, axis.from, axis.to});
}

void copy_strided(int element_bytes, const std::byte* from, std::byte* to, const BoxAxis& axis) {
  switch (element_bytes) {
    case 1: return copy_elements<1>(from, to, axis);
    case 2: return copy_elements<2>(from, to, axis);
    case 4: return copy_words(from, to, axis);
    case 8: return copy_elements<8>(from, to, axis);
    case 16: return copy_elements<16>(from, to, axis);
    default:
      for (int64_t i = 0; i < axis.extent; ++i)
        std::memcpy(to + i * axis.to, from + i * axis.from, static_cast<size_t>(element_bytes));
  }
}

void fill(int element_bytes, const std::byte* from, std::byte* to, int64_t count) {
  switch (element_bytes) {
    case 1: std::memset(to, static_cast<int>(*from), static_cast<size_t>(count)); return;
    case 2: return fill_elements<2>(from, to, count);
    case 4: return fill_elements<4>(from, to, count);
    case 8: return fill_elements<8>(from, to, count);
    default: return fill_elements<16>(from, to, count);
  }
}

/// Transposes a block through a buffer. Where the target's rows lie a multiple of a page apart, direct writes would hit
/// one set of the cache again and again (measured: a third of the speed); the buffer's rows do not, and it is then
/// copied row by row.
void transpose_through_buffer(const Box& box, TransposeBlock block, const std::byte* from, std::byte* to, int64_t num_a,
                              int64_t num_b) {
  constexpr ptrdiff_t kRowBytes = kBlockRows * 4 + kCacheLine;
  alignas(kCacheLine) std::byte buffer[kStripBytes / 4 * kRowBytes];
  block(from, box.inner.from, buffer, kRowBytes, num_a, num_b);
  for (int64_t a = 0; a < num_a; ++a)
    std::memcpy(to + a * box.across.to, buffer + a * kRowBytes, static_cast<size_t>(num_b * 4));
}

/// One strip of a transposition, in blocks that stay in cache.
void copy_transposed(const Box& box, TransposeBlock block, const std::byte* from, std::byte* to, int64_t strip) {
  const int64_t wide = kStripBytes / box.element_bytes;
  const int64_t a0 = strip * wide, num_a = std::min(wide, box.across.extent - a0);
  const bool buffered = box.element_bytes == 4 && box.across.to % kPage == 0;
  from += a0 * box.element_bytes;
  to += a0 * box.across.to;
  for (int64_t b = 0; b < box.inner.extent; b += kBlockRows) {
    const std::byte* source = from + b * box.inner.from;
    std::byte* target = to + b * box.element_bytes;
    const int64_t num_b = std::min(kBlockRows, box.inner.extent - b);
    if (buffered)
      transpose_through_buffer(box, block, source, target, num_a, num_b);
    else
      block(source, box.inner.from, target, box.across.to, num_a, num_b);
  }
}

/// The position of a unit's outer axes, moved on from one unit to the next.
struct Cursor {
  const Box& box;
  std::array<int64_t, Box::kMaxAxes> index{};
  const std::byte* from;
  std::byte* to;

  Cursor(const Box& b, const std::byte* source, std::byte* target, int64_t unit) : box(b), from(source), to(target) {
    for (int i = box.num_outer - 1; i >= 0; --i) {
      const BoxAxis& axis = box.outer[static_cast<size_t>(i)];
      index[static_cast<size_t>(i)] = unit % axis.extent;
      from += unit % axis.extent * axis.from;
      to += unit % axis.extent * axis.to;
      unit /= axis.extent;
    }
  }
  void next() {
    for (int i = box.num_outer - 1; i >= 0; --i) {
      const BoxAxis& axis = box.outer[static_cast<size_t>(i)];
      from += axis.from;
      to += axis.to;
      if (++index[static_cast<size_t>(i)] < axis.extent) return;
      index[static_cast<size_t>(i)] = 0;
      from -= axis.extent * axis.from;
      to -= axis.extent * axis.to;
    }
  }
};

/// Copies a row that is too short for a call of memcpy to pay: 16 to 64 bytes go as two overlapping halves.
inline void copy_row(const std::byte* from, std::byte* to, size_t bytes) {
  if (bytes >= 16 && bytes <= 32) {
    Chunk<16> head, tail;
    std::memcpy(&head, from, 16);
    std::memcpy(&tail, from + bytes - 16, 16);
    std::memcpy(to, &head, 16);
    std::memcpy(to + bytes - 16, &tail, 16);
  } else if (bytes > 32 && bytes <= 64) {
    Chunk<32> head, tail;
    std::memcpy(&head, from, 32);
    std::memcpy(&tail, from + bytes - 32, 32);
    std::memcpy(to, &head, 32);
    std::memcpy(to + bytes - 32, &tail, 32);
  } else if (bytes == 12) {
    Chunk<8> head;
    Chunk<4> tail;
    std::memcpy(&head, from, 8);
    std::memcpy(&tail, from + 8, 4);
    std::memcpy(to, &head, 8);
    std::memcpy(to + 8, &tail, 4);
  } else {
    std::memcpy(to, from, bytes);
  }
}

}  // namespace

Box make_box(int element_bytes, std::span<const BoxAxis> axes, ptrdiff_t from_offset, ptrdiff_t to_offset, int source) {
  Box box;
  box.source = source;
  box.element_bytes = element_bytes;
  box.from_offset = from_offset;
  box.to_offset = to_offset;
  box.bytes = element_bytes;
  for (const BoxAxis& axis : axes) box.bytes *= axis.extent;
  if (box.bytes == 0) return box;
  box.num_outer = merge_axes(axes, box.outer);
  // A short contiguous run is an element of its own, so that two halves or four bytes transpose as one word.
  if (box.num_outer > 1) {
    const BoxAxis& innermost = box.outer[static_cast<size_t>(box.num_outer - 1)];
    const int64_t run = innermost.extent * element_bytes;
    if (innermost.from == element_bytes && innermost.to == element_bytes && run <= 16 && is_power_of_two_to_16(run)) {
      box.element_bytes = static_cast<int>(run);
      --box.num_outer;
    }
  }
  if (box.num_outer == 0) {
    box.kind = Box::Kind::kRows;
    box.inner = {1, box.element_bytes, box.element_bytes};
  } else {
    choose_loop(box);
  }
  box.units = box.strips;
  for (int i = 0; i < box.num_outer; ++i) box.units *= box.outer[static_cast<size_t>(i)].extent;
  // One long row is cut up, so that threads share it.
  constexpr int64_t kLongRow = 1 << 16;
  const int64_t row = box.inner.extent * box.element_bytes;
  if (box.kind == Box::Kind::kRows && box.units == 1 && row > 2 * kLongRow) {
    box.strips = ceil_div(row, kLongRow);
    box.units = box.strips;
  }
  return box;
}

void run_box(const Box& box, const std::byte* from, std::byte* to, int64_t begin, int64_t end) {
  if (begin >= end) return;
  from += box.from_offset;
  to += box.to_offset;
  const int64_t row = box.inner.extent * box.element_bytes;
  if (box.kind == Box::Kind::kRows && box.strips > 1) {
    const int64_t first = row * begin / box.strips, last = row * end / box.strips;
    std::memcpy(to + first, from + first, static_cast<size_t>(last - first));
    return;
  }
  Cursor cursor(box, from, to, begin / box.strips);
  switch (box.kind) {
    case Box::Kind::kRows:
      for (int64_t unit = begin; unit < end; ++unit, cursor.next())
        copy_row(cursor.from, cursor.to, static_cast<size_t>(row));
      return;
    case Box::Kind::kFill:
      for (int64_t unit = begin; unit < end; ++unit, cursor.next())
        fill(box.element_bytes, cursor.from, cursor.to, box.inner.extent);
      return;
    case Box::Kind::kElements:
      for (int64_t unit = begin; unit < end; ++unit, cursor.next())
        copy_strided(box.element_bytes, cursor.from, cursor.to, box.inner);
      return;
    case Box::Kind::kTranspose: break;
  }
  const TransposeBlock block = transpose_block(box.element_bytes);
  for (int64_t unit = begin; unit < end; ++unit) {
    copy_transposed(box, block, cursor.from, cursor.to, unit % box.strips);
    if ((unit + 1) % box.strips == 0) cursor.next();
  }
}

}  // namespace kiln::cpu
