#include "backend/cuda/kernels/move/reformat.h"

#include <algorithm>

namespace kiln::cuda {
namespace {

constexpr int kSplitAxes = 2;  // that the blocked axis becomes more

/// An index c of the blocked axis is (outer * most + middle) * least + inner. An unblocked format may have any blocks.
struct Blocks {
  int64_t least = 1, most = 1;  ///< most counts in least
  explicit Blocks(const Format& a, const Format& b)
      : least(a.is_blocked() && b.is_blocked() ? std::min(a.block(), b.block()) : std::max(a.block(), b.block())),
        most(std::max(a.block(), b.block()) / least) {}
};

/// The places of a format's elements, by strides of the tensor's axes.
class Places {
 public:
  Places(std::span<const int64_t> extents, const Format& format, int axis)
      : format_(format), axis_(static_cast<size_t>(axis)) {
    int64_t stride = format.block();
    for (int i = static_cast<int>(extents.size()); i-- > 0;) {
      const auto at = static_cast<size_t>(format.axis_at(i));
      strides_[at] = stride;
      stride *= at == axis_ ? (extents[at] + format.block() - 1) / format.block() : extents[at];
    }
  }
  /// Strides of the axes: the blocked axis has its outer stride; behind all of them stand the middle and the inner one.
  AxisStrides strides(size_t rank, const Blocks& blocks) const {
    AxisStrides result = strides_;
    result[axis_] = offset(blocks.least * blocks.most);
    result[rank] = offset(blocks.least);
    result[rank + 1] = offset(1);
    return result;
  }
  /// Offset of element `c` of the blocked axis, where c is a multiple of blocks or less than one.
  int64_t offset(int64_t c) const { return c / format_.block() * strides_[axis_] + c % format_.block(); }

 private:
  Format format_;
  size_t axis_;
  AxisStrides strides_{};
};

}  // namespace

Status check_reformat(int rank, const Format& from, const Format& to) {
  for (const Format* format : {&from, &to})
    if ((format->rank() != 0 && format->rank() != rank) || (format->is_blocked() && format->block_axis() >= rank))
      return error(Code::kUnsupported, "a tensor of rank ", rank, " has no format ", *format);
  if (!from.is_blocked() && !to.is_blocked()) return {};
  const Blocks blocks(from, to);
  const bool fit = !from.is_blocked() || !to.is_blocked() ||
                   (from.block_axis() == to.block_axis() && std::max(from.block(), to.block()) % blocks.least == 0);
  if (!fit || rank + kSplitAxes > kMaxRank)
    return error(Code::kUnsupported, "no CUDA kernel copies a tensor of rank ", rank, " from format ", from, " to ",
                 to);
  return {};
}

std::vector<StridedCopy> reformat_copies(std::span<const int64_t> extents, const Format& from, const Format& to) {
  if (!from.is_blocked() && !to.is_blocked()) return {reformat_copy(extents, from, to)};
  const int axis = from.is_blocked() ? from.block_axis() : to.block_axis();
  const Blocks blocks(from, to);
  const Places source(extents, from, axis), target(extents, to, axis);
  const int64_t count = extents[static_cast<size_t>(axis)], whole = blocks.least * blocks.most;
  std::vector<StridedCopy> copies;
  const auto add = [&](int64_t begin, int64_t outer, int64_t middle, int64_t inner) {
    if (outer * middle * inner == 0) return;
    StridedCopy& copy = copies.emplace_back();
    copy.extents.assign(extents.begin(), extents.end());
    copy.extents[static_cast<size_t>(axis)] = outer;
    copy.extents.insert(copy.extents.end(), {middle, inner});
    copy.from = source.strides(extents.size(), blocks);
    copy.to = target.strides(extents.size(), blocks);
    copy.from_offset = source.offset(begin), copy.to_offset = target.offset(begin);
  };
  const int64_t rest = count / whole * whole, last = count / blocks.least * blocks.least;
  add(0, count / whole, blocks.most, blocks.least);
  add(rest, 1, (count - rest) / blocks.least, blocks.least);
  add(last, 1, 1, count - last);
  return copies;
}

}  // namespace kiln::cuda
