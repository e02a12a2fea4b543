#include "backend/cpu/kernels/nest/walk.h"

#include <algorithm>
#include <cstring>

namespace kiln::cpu {

bool NestWalk::is_dense(int operand) const {
  int64_t dense = 1;
  for (int axis = rank; axis-- > split;) {
    if (extents[axis] != 1 && strides[operand].at[axis] != dense) return false;
    dense *= extents[axis];
  }
  return true;
}

namespace {
/// Whether `outer` steps over exactly all of `inner` in every operand, so that the two are one axis.
bool can_merge(const NestWalk& walk, int outer, int inner) {
  for (int i = 0; i < walk.num_operands; ++i)
    if (walk.strides[i].at[outer] != walk.strides[i].at[inner] * walk.extents[inner]) return false;
  return true;
}

void split_walk(NestWalk& walk, int64_t tile) {
  if (std::count(walk.extents, walk.extents + walk.rank, 0)) return;  // nothing to do: no tiles
  walk.split = walk.rank - 1;
  walk.inner = 1;
  while (walk.split > 0 && walk.inner * walk.extents[walk.split] * 2 <= tile) walk.inner *= walk.extents[walk.split--];
  walk.step = std::clamp<int64_t>(tile / walk.inner, 1, walk.extents[walk.split]);
  const int64_t blocks = walk.tiles_of_split();  // of about the same size, in whole cache lines of floats
  const int64_t even = ((walk.extents[walk.split] + blocks - 1) / blocks + 15) / 16 * 16;
  walk.step = std::min(walk.step, even);
  walk.tiles = walk.tiles_of_split();
  for (int axis = 0; axis < walk.split; ++axis) walk.tiles *= walk.extents[axis];
}
}  // namespace

NestWalk make_walk(std::span<const int64_t> extents, std::span<const NestStrides> operands, int num_outputs,
                   int64_t tile) {
  NestWalk walk;
  walk.num_operands = static_cast<int>(operands.size());
  int order[kMaxRank], axes = 0;
  for (int axis = 0; axis < static_cast<int>(extents.size()); ++axis)
    if (extents[static_cast<size_t>(axis)] != 1) order[axes++] = axis;
  const NestStrides& output = operands[operands.size() - static_cast<size_t>(num_outputs)];
  for (int i = 1; i < axes; ++i)  // by insertion: std::stable_sort may allocate, and this runs once a tile in hooks
    for (int k = i; k > 0 && output.at[order[k - 1]] < output.at[order[k]]; --k) std::swap(order[k - 1], order[k]);
  for (int i = 0; i < axes; ++i) {
    const int to = walk.rank++;
    walk.extents[to] = extents[static_cast<size_t>(order[i])];
    for (int k = 0; k < walk.num_operands; ++k) walk.strides[k].at[to] = operands[static_cast<size_t>(k)].at[order[i]];
    if (to == 0 || !can_merge(walk, to - 1, to)) continue;
    walk.extents[to - 1] *= walk.extents[to];
    for (int k = 0; k < walk.num_operands; ++k) walk.strides[k].at[to - 1] = walk.strides[k].at[to];
    --walk.rank;
  }
  if (walk.rank == 0) walk.extents[walk.rank++] = 1;  // one element
  split_walk(walk, tile);
  return walk;
}

namespace {
/// One axis of a tile and those behind it; moves `kGather ? data to dense : dense to data`. Returns dense's end.
template <class T, bool kGather>
T* copy_axis(const NestWalk& walk, const NestStrides& strides, int axis, int64_t count, T* data, T* dense) {
  const int64_t stride = strides.at[axis];
  if (axis + 1 < walk.rank) {
    for (int64_t i = 0; i < count; ++i)
      dense = copy_axis<T, kGather>(walk, strides, axis + 1, walk.extents[axis + 1], data + i * stride, dense);
    return dense;
  }
  if (stride == 1) {
    std::memcpy(kGather ? dense : data, kGather ? data : dense, static_cast<size_t>(count) * sizeof(T));
  } else if (kGather && stride == 0) {
    std::fill_n(dense, count, *data);
  } else {
    for (int64_t i = 0; i < count; ++i) (kGather ? dense[i] : data[i * stride]) = kGather ? data[i * stride] : dense[i];
  }
  return dense + count;
}

template <bool kGather>
void copy_tile(const NestWalk& walk, int operand, int64_t count, int size, void* data, void* dense) {
  const auto copy = [&]<class T>(T*) {
    copy_axis<T, kGather>(walk, walk.strides[operand], walk.split, count, static_cast<T*>(data),
                          static_cast<T*>(dense));
  };
  switch (size) {
    case 1: return copy(static_cast<uint8_t*>(nullptr));
    case 2: return copy(static_cast<uint16_t*>(nullptr));
    case 4: return copy(static_cast<uint32_t*>(nullptr));
    default: return copy(static_cast<uint64_t*>(nullptr));
  }
}
}  // namespace

void gather_tile(const NestWalk& walk, int operand, int64_t count, int size, const void* data, void* dense) {
  copy_tile<true>(walk, operand, count, size, const_cast<void*>(data), dense);
}
void scatter_tile(const NestWalk& walk, int operand, int64_t count, int size, const void* dense, void* data) {
  copy_tile<false>(walk, operand, count, size, data, const_cast<void*>(dense));
}

}  // namespace kiln::cpu
