#include "backend/cpu/kernels/copy/copy.h"

#include <algorithm>

#include "backend/cpu/kernels/aligned.h"

namespace kiln::cpu {

Copy make_copy(std::vector<Box> boxes) {
  // A part takes some microseconds, ten times a fork; parts of one box after another stay in L2.
  constexpr int64_t kPartBytes = 1 << 16, kMostParts = 256;
  std::erase_if(boxes, [](const Box& box) { return box.units == 0; });
  int64_t bytes = 0;
  for (const Box& box : boxes) bytes += box.bytes;
  return {std::move(boxes), std::clamp<int64_t>(bytes / kPartBytes, 1, kMostParts)};
}

void run_copy(Team& team, const Copy& copy, const void* const* sources, void* to) {
  const auto run_part = [&](int64_t part, int) {
    for (const Box& box : copy.boxes)
      run_box(box, static_cast<const std::byte*>(sources[box.source]), static_cast<std::byte*>(to),
              box.units * part / copy.parts, box.units * (part + 1) / copy.parts);
  };
  if (copy.parts == 1) return run_part(0, 0);
  team.run(copy.parts, run_part);
}

Copy plan_strided(int element_bytes, std::span<const int64_t> extents, std::span<const int64_t> from_strides,
                  std::span<const int64_t> to_strides) {
  std::vector<BoxAxis> axes;
  for (size_t i = 0; i < extents.size(); ++i)
    axes.push_back({extents[i], from_strides[i] * element_bytes, to_strides[i] * element_bytes});
  return make_copy({make_box(element_bytes, axes, 0, 0, 0)});
}

Copy plan_transpose(int element_bytes, std::span<const int64_t> extents, std::span<const int64_t> perm) {
  const Extents strides = row_major_strides(extents);
  Extents to, from_strides;
  for (const int64_t axis : perm) {
    to.push_back(extents[static_cast<size_t>(axis)]);
    from_strides.push_back(strides[static_cast<size_t>(axis)]);
  }
  return plan_strided(element_bytes, to, from_strides, row_major_strides(to));
}

Copy plan_expand(int element_bytes, std::span<const int64_t> from, std::span<const int64_t> to) {
  const Extents strides = row_major_strides(from);
  Extents from_strides(to.size(), 0);
  const size_t added = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] != 1) from_strides[added + i] = strides[i];
  return plan_strided(element_bytes, to, from_strides, row_major_strides(to));
}

Copy plan_concatenation(int element_bytes, std::span<const Extents> inputs, int axis) {
  std::vector<JoinedInput> dense;
  for (const Extents& input : inputs) dense.push_back({input, 0, row_major_strides(input)});
  return plan_concatenation(element_bytes, dense, axis);
}

Copy plan_concatenation(int element_bytes, std::span<const JoinedInput> inputs, int axis) {
  const auto along = static_cast<size_t>(axis);
  Extents to = inputs[0].extents;
  to[along] = 0;
  for (const JoinedInput& input : inputs) to[along] += input.extents[along];
  const Extents to_strides = row_major_strides(to);
  std::vector<Box> boxes;
  ptrdiff_t offset = 0;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const auto& [extents, first, from_strides] = inputs[k];
    std::vector<BoxAxis> axes;
    for (size_t i = 0; i < to.size(); ++i)
      axes.push_back({extents[i], from_strides[i] * element_bytes, to_strides[i] * element_bytes});
    boxes.push_back(make_box(element_bytes, axes, first * element_bytes, offset, static_cast<int>(k)));
    offset += extents[along] * to_strides[along] * element_bytes;
  }
  return make_copy(std::move(boxes));
}

}  // namespace kiln::cpu
