/// Copies between any two layouts: transposes, slices in every mode, broadcasts, concatenations, reformats.
///
/// A copy is planned when shapes are bound and run any number of times; running allocates nothing. Extents are those of
/// memory, outermost first: for a channels-last tensor [N, C, H, W] a caller gives [N, H, W, C] and its axes likewise.
/// Elements are bytes here: any type of whole bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backend/cpu/device/team.h"
#include "backend/cpu/kernels/copy/box.h"
#include "ops/slice.h"
#include "tensor/extents.h"
#include "tensor/format.h"

namespace kiln::cpu {

/// Boxes whose targets are disjoint.
struct Copy {
  std::vector<Box> boxes;
  int64_t parts = 1;  ///< of a team's work; part p runs the p-th part of every box
};

/// A copy of these boxes, cut into parts by their bytes.
Copy make_copy(std::vector<Box> boxes);

/// `sources[i]` is what a box of source i reads.
void run_copy(Team& team, const Copy& copy, const void* const* sources, void* to);
inline void run_copy(Team& team, const Copy& copy, const void* from, void* to) { run_copy(team, copy, &from, to); }

/// to[i . to_strides] = from[i . from_strides] for every index i of `extents`; strides in elements. At most 16 axes.
Copy plan_strided(int element_bytes, std::span<const int64_t> extents, std::span<const int64_t> from_strides,
                  std::span<const int64_t> to_strides);

/// Axis i of the dense target is axis perm[i] of the dense source, of `extents`.
Copy plan_transpose(int element_bytes, std::span<const int64_t> extents, std::span<const int64_t> perm);

/// A dense source of extents `from` broadcast to a dense target of extents `to`, aligned at the right.
Copy plan_expand(int element_bytes, std::span<const int64_t> from, std::span<const int64_t> to);

/// ops::Slice of a dense tensor. Source 0 is x, source 1 the fill element, read in mode kFill only.
/// In strict bounds every coordinate must lie inside (CHECK).
Copy plan_slice(int element_bytes, SliceMode mode, std::span<const int64_t> from, std::span<const int64_t> to,
                std::span<const int64_t> starts, std::span<const int64_t> strides);

/// Dense inputs, source i of extents inputs[i], one after the other along `axis` of a dense target.
Copy plan_concatenation(int element_bytes, std::span<const Extents> inputs, int axis);
/// An input that is read at strides of its own, in elements.
struct JoinedInput {
  Extents extents;
  int64_t offset = 0;
  Extents strides;
};
Copy plan_concatenation(int element_bytes, std::span<const JoinedInput> inputs, int axis);

/// The same elements in another format; what blocks pad is zero. `extents` are the tensor's own, axes in its order.
/// Source 0 is the tensor; source 1, read where the target is blocked, at least 16 bytes of zeros.
Copy plan_reformat(int element_bytes, std::span<const int64_t> extents, const Format& from, const Format& to);

}  // namespace kiln::cpu
