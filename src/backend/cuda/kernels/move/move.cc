#include "backend/cuda/kernels/move/move.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <variant>

#include "backend/cuda/kernels/move/arguments.h"

namespace kiln::cuda {
namespace {

constexpr int kMostThreads = 256, kUnroll = 4, kMostUnitBytes = 16;
constexpr size_t kFrom = 0, kTo = 1;

/// A copy with axes merged, in units.
struct Units {
  int bytes = 1;
  MergedAxes axes;
  int64_t from_offset = 0, to_offset = 0;
};

Units merged(int element_bytes, const StridedCopy& copy) {
  const std::array<AxisStrides, 2> strides{copy.from, copy.to};
  return {element_bytes, merge_axes(copy.extents, strides, kTo), copy.from_offset, copy.to_offset};
}

/// Doubles the copy's unit. Returns false if neighbours do not stay neighbours in pairs.
bool widen(Units& units) {
  MergedAxes& axes = units.axes;
  const auto last = static_cast<size_t>(axes.rank - 1);
  bool even = units.bytes < kMostUnitBytes && axes.extents[last] % 2 == 0 && units.from_offset % 2 == 0 &&
              units.to_offset % 2 == 0;
  for (const AxisStrides& s : axes.strides) {
    even = even && s[last] == 1;
    for (size_t axis = 0; axis < last; ++axis) even = even && s[axis] % 2 == 0;
  }
  if (!even) return false;
  for (AxisStrides& s : axes.strides)
    for (size_t axis = 0; axis < last; ++axis) s[axis] /= 2;
  axes.extents[last] /= 2;
  units.from_offset /= 2;
  units.to_offset /= 2;
  units.bytes *= 2;
  return true;
}
Units in_units_of(int bytes, int element_bytes, const StridedCopy& copy) {
  Units units = merged(element_bytes, copy);
  while (units.bytes < bytes && widen(units)) {
  }
  return units;
}

/// The axis that is contiguous in the source but not in the target; -1 if a transpose does not pay.
int axis_across(const MergedAxes& axes) {
  constexpr int64_t kLeastExtent = 16;  // below, most of a tile is idle
  const int last = axes.rank - 1;
  if (axes.inner_stride(kTo) != 1 || axes.inner_stride(kFrom) <= 1 || axes.inner_extent() < kLeastExtent) return -1;
  for (int axis = 0; axis < last; ++axis)
    if (axes.strides[kFrom][static_cast<size_t>(axis)] == 1 && axes.extents[static_cast<size_t>(axis)] >= kLeastExtent)
      return axis;
  return -1;
}

/// Whether a transpose with `across` may move 16 bytes at a time on both sides.
bool has_vectors_across(const Units& units, int across) {
  const int last = units.axes.rank - 1, vec = kMostUnitBytes / units.bytes;
  if (units.bytes > 4 || units.from_offset % vec != 0 || units.to_offset % vec != 0) return false;
  for (const int axis : {across, last})
    if (units.axes.extents[static_cast<size_t>(axis)] % vec != 0) return false;
  for (int axis = 0; axis <= last; ++axis) {
    const auto at = static_cast<size_t>(axis);
    if ((axis != across && units.axes.strides[kFrom][at] % vec != 0) ||
        (axis != last && units.axes.strides[kTo][at] % vec != 0))
      return false;
  }
  return true;
}

}  // namespace

StridedCopy reformat_copy(std::span<const int64_t> extents, const Format& from, const Format& to) {
  StridedCopy copy{Extents(extents.begin(), extents.end())};
  std::ranges::copy(from.strides(extents), copy.from.begin());
  std::ranges::copy(to.strides(extents), copy.to.begin());
  return copy;
}

StridedCopy transpose_copy(std::span<const int64_t> extents, std::span<const int64_t> perm) {
  const Extents strides = row_major_strides(extents);
  StridedCopy copy;
  for (size_t i = 0; i < perm.size(); ++i) {
    copy.extents.push_back(extents[static_cast<size_t>(perm[i])]);
    copy.from[i] = strides[static_cast<size_t>(perm[i])];
  }
  std::ranges::copy(row_major_strides(copy.extents), copy.to.begin());
  return copy;
}

StridedCopy expand_copy(std::span<const int64_t> from, std::span<const int64_t> to) {
  StridedCopy copy{Extents(to.begin(), to.end())};
  copy.from = broadcast_strides(from, row_major_strides(from), to);
  std::ranges::copy(row_major_strides(to), copy.to.begin());
  return copy;
}

StridedCopy slice_copy(std::span<const int64_t> from, std::span<const int64_t> to, std::span<const int64_t> starts,
                       std::span<const int64_t> strides) {
  StridedCopy copy{Extents(to.begin(), to.end())};
  const Extents steps = row_major_strides(from);
  for (size_t i = 0; i < to.size(); ++i) {
    copy.from[i] = steps[i] * strides[i];
    copy.from_offset += steps[i] * starts[i];
  }
  std::ranges::copy(row_major_strides(to), copy.to.begin());
  return copy;
}

std::vector<StridedCopy> concatenation_copies(std::span<const Extents> inputs, int axis) {
  std::vector<StridedCopy> copies;
  for (const Extents& input : inputs) {
    StridedCopy& copy = copies.emplace_back(StridedCopy{input});
    std::ranges::copy(row_major_strides(input), copy.from.begin());
  }
  return concatenation_copies(std::move(copies), axis);
}

std::vector<StridedCopy> concatenation_copies(std::vector<StridedCopy> inputs, int axis) {
  const auto along = static_cast<size_t>(axis);
  Extents to = inputs[0].extents;
  to[along] = 0;
  for (const StridedCopy& input : inputs) to[along] += input.extents[along];
  const Extents to_strides = row_major_strides(to);
  int64_t offset = 0;
  for (size_t k = 0; k < inputs.size(); ++k) {
    StridedCopy& copy = inputs[k];
    std::ranges::copy(to_strides, copy.to.begin());
    copy.to_offset = offset;
    copy.source = static_cast<int>(k);
    offset += copy.extents[along] * to_strides[along];
  }
  return inputs;
}

std::string MoveKernel::entry() const {
  constexpr std::string_view kNames[] = {"move_", "many_", "wide_", "transpose_", "transpose_vectors_"};
  return str(kNames[static_cast<size_t>(kind)], unit_bytes);
}

MoveTile tile_of(MoveKernel kernel) {
  if (kernel.kind == MoveKernel::Kind::kTransposeVectors) return {64, 32 * 4 / kernel.unit_bytes};
  const int side = kernel.unit_bytes <= 2 ? 64 : kernel.unit_bytes <= 8 ? 32 : 16;
  return {side, side};
}

std::vector<MoveKernel> move_kernels_for(int element_bytes, std::span<const StridedCopy> copies) {
  using enum MoveKernel::Kind;
  int unit_bytes = kMostUnitBytes;
  bool narrow = true, across = copies.size() == 1;
  for (const StridedCopy& copy : copies) {
    if (volume(copy.extents) == 0) continue;
    const Units units = in_units_of(unit_bytes, element_bytes, copy);
    unit_bytes = std::min(unit_bytes, units.bytes);
    narrow = narrow && is_narrow(merged(element_bytes, copy).axes);
    across = across && axis_across(units.axes) >= 0;
  }
  const MoveKernel::Kind kind = !narrow ? kWide : copies.size() > 1 ? kMany : kMove;
  std::vector<MoveKernel> result;
  if (across && narrow) {
    const auto full = std::ranges::find_if(copies, [](const StridedCopy& c) { return volume(c.extents) > 0; });
    if (full != copies.end())
      if (const Units units = merged(element_bytes, *full); has_vectors_across(units, axis_across(units.axes)))
        result.push_back({kTransposeVectors, element_bytes});
    result.push_back({kTranspose, element_bytes});
  }
  if (unit_bytes > element_bytes) result.push_back({kind, unit_bytes});
  result.push_back({kind, element_bytes});
  return result;
}

MoveFunctions::MoveFunctions(const Module& module) {
  for (size_t kind = 0; kind < functions_.size(); ++kind)
    for (size_t i = 0; i < functions_[kind].size(); ++i)
      if (auto found = module.function(MoveKernel{static_cast<MoveKernel::Kind>(kind), 1 << i}.entry()))
        functions_[kind][i] = *found;
}
const Function* MoveFunctions::find(MoveKernel kernel) const {
  const auto size = static_cast<size_t>(std::countr_zero(static_cast<unsigned>(kernel.unit_bytes)));
  const auto& found = functions_[static_cast<size_t>(kernel.kind)][size];
  return found ? &*found : nullptr;
}

/// A kernel's arguments, and which sources its boxes read.
struct Move::Launch {
  Function function;
  LaunchShape shape{};
  struct Patch {
    void** from;
    void** to;
    int source;
    int64_t from_bytes, to_bytes;
  };
  std::vector<Patch> patches;
  void* argument = nullptr;
  std::variant<std::monostate, Boxes<WalkArgument, 1>, Boxes<WalkArgument, kBoxesOfLaunch>, Boxes<WideWalkArgument, 1>,
               TransposeArgument>
      storage;

  explicit Launch(const Function& f) : function(f) {
    shape.block[0] = kMostThreads;
    shape.pdl = true;
  }
  void add_patch(auto& box, const Units& units, int source) {
    patches.push_back(
        {&box.from.data, &box.to.data, source, units.from_offset * units.bytes, units.to_offset * units.bytes});
  }
};

namespace {

/// Elements of a block: several a thread if that still leaves enough blocks.
int64_t per_block_of(int64_t count, int num_sms) {
  int64_t unroll = kUnroll;
  while (unroll > 1 && count < 4 * kMostThreads * unroll * num_sms) unroll /= 2;
  return kMostThreads * unroll;
}

template <class Walk>
uint32_t fill_box(Box<Walk>& box, const Units& units, uint32_t first_block, int num_sms) {
  const int64_t count = units.axes.count(), per_block = per_block_of(count, num_sms);
  using Offset = typename Walk::Offset;
  if constexpr (sizeof(Offset) == 4)
    box.walk = narrow_walk(units.axes, 1);
  else
    box.walk = wide_walk(units.axes, 1);
  box.walk.per_block = static_cast<decltype(box.walk.per_block)>(per_block);
  box.from = operand_argument<Offset>(units.axes, kFrom, 1);
  box.to = operand_argument<Offset>(units.axes, kTo, 1);
  box.first_block = first_block;
  return first_block + grid_blocks((count + per_block - 1) / per_block);
}

template <class Argument>
std::shared_ptr<Move::Launch> box_launch(const Function& function, std::span<const Units> units,
                                         std::span<const StridedCopy> copies, int num_sms) {
  auto launch = std::make_shared<Move::Launch>(function);
  Argument& boxes = launch->storage.template emplace<Argument>();
  boxes.count = static_cast<int32_t>(units.size());
  uint32_t blocks = 0;
  for (size_t i = 0; i < units.size(); ++i) {
    blocks = fill_box(boxes.at[i], units[i], blocks, num_sms);
    launch->add_patch(boxes.at[i], units[i], copies[i].source);
  }
  launch->shape.grid[0] = blocks;
  launch->argument = &boxes;
  return launch;
}

std::shared_ptr<Move::Launch> transpose_launch(const Function& function, MoveKernel kernel, const Units& units,
                                               int source) {
  const int across = axis_across(units.axes), rank = units.axes.rank;
  const MoveTile tile = tile_of(kernel);
  auto launch = std::make_shared<Move::Launch>(function);
  if (kernel.kind == MoveKernel::Kind::kTransposeVectors) launch->shape.block[0] = kMostThreads / 2;
  TransposeArgument& t = launch->storage.emplace<TransposeArgument>();
  const auto extent = [&](int axis) { return units.axes.extents[static_cast<size_t>(axis)]; };
  const auto stride = [&](size_t tensor, int axis) {
    return static_cast<int32_t>(units.axes.strides[tensor][static_cast<size_t>(axis)]);
  };
  int64_t blocks = 1;
  int to = 0;
  const auto add_axis = [&](int axis, int64_t count, int step) {
    t.outer.axes[to] = divisor_of(count);
    t.from.strides[to] = stride(kFrom, axis) * step;
    t.to.strides[to] = stride(kTo, axis) * step;
    ++to;
    blocks *= count;
  };
  for (int axis = 0; axis + 1 < rank; ++axis)
    if (axis != across) add_axis(axis, extent(axis), 1);
  add_axis(across, (extent(across) + tile.a - 1) / tile.a, tile.a);
  add_axis(rank - 1, (extent(rank - 1) + tile.b - 1) / tile.b, tile.b);
  t.outer.rank = to;
  t.extent_a = static_cast<int32_t>(extent(across));
  t.extent_b = static_cast<int32_t>(extent(rank - 1));
  t.from_b = stride(kFrom, rank - 1);
  t.to_a = stride(kTo, across);
  launch->add_patch(t, units, source);
  launch->shape.grid[0] = grid_blocks(blocks);
  launch->argument = &t;
  return launch;
}

}  // namespace

Result<Move> Move::plan(const MoveFunctions& functions, int element_bytes, std::span<const StridedCopy> all,
                        int num_sms) {
  using enum MoveKernel::Kind;
  Move move;
  std::vector<StridedCopy> copies;
  std::ranges::copy_if(all, std::back_inserter(copies), [](const StridedCopy& c) { return volume(c.extents) > 0; });
  if (copies.empty()) return move;
  std::vector<MoveKernel> kernels = move_kernels_for(element_bytes, copies);
  for (int bytes = kMostUnitBytes; bytes > element_bytes; bytes /= 2)  // others that this step happens to have
    kernels.insert(kernels.end() - 1, MoveKernel{kernels.back().kind, bytes});
  const bool several = kernels.back().kind == kMany;
  for (MoveKernel kernel : kernels) {
    const Function* function = functions.find(kernel);
    if (!function && kernel.kind == kMove) function = functions.find({kernel.kind = kMany, kernel.unit_bytes});
    if (!function && several) function = functions.find({kernel.kind = kMove, kernel.unit_bytes});
    if (!function) function = functions.find({kernel.kind = kWide, kernel.unit_bytes});
    if (!function) continue;
    std::vector<Units> units;
    for (const StridedCopy& copy : copies) units.push_back(in_units_of(kernel.unit_bytes, element_bytes, copy));
    if (std::ranges::any_of(units, [&](const Units& u) { return u.bytes != kernel.unit_bytes; })) continue;
    Way way{kernel.unit_bytes, kernel.kind == kTransposeVectors ? kMostUnitBytes : kernel.unit_bytes, {}};
    const size_t step = kernel.kind == kMany ? kBoxesOfLaunch : 1;
    for (size_t i = 0; i < copies.size(); i += step) {
      const auto some = std::span(units).subspan(i, std::min(step, copies.size() - i));
      const auto of = std::span<const StridedCopy>(copies).subspan(i, some.size());
      switch (kernel.kind) {
        case kMove: way.launches.push_back(box_launch<Boxes<WalkArgument, 1>>(*function, some, of, num_sms)); break;
        case kMany:
          way.launches.push_back(box_launch<Boxes<WalkArgument, kBoxesOfLaunch>>(*function, some, of, num_sms));
          break;
        case kWide: way.launches.push_back(box_launch<Boxes<WideWalkArgument, 1>>(*function, some, of, num_sms)); break;
        case kTranspose:
        case kTransposeVectors:
          way.launches.push_back(transpose_launch(*function, kernel, some[0], of[0].source));
          break;
      }
    }
    for (const auto& launch : way.launches) TRY(function->check(launch->shape));
    move.ways_.push_back(std::move(way));
  }
  if (move.ways_.empty() || move.ways_.back().unit_bytes != element_bytes)
    return error(Code::kVersion, "a copy of ", copies[0].extents, " needs the kernel '", kernels.back().entry(),
                 "', which its step does not hold; build the plan again");
  return move;
}

Status Move::run(const Stream& stream, const void* const* sources, void* to) {
  for (const Way& way : ways_) {
    const auto aligned = [&](const void* address) {
      return reinterpret_cast<uintptr_t>(address) % static_cast<uintptr_t>(way.align) == 0;
    };
    bool fits = aligned(to);
    for (const auto& launch : way.launches)
      for (const Launch::Patch& patch : launch->patches) fits = fits && aligned(sources[patch.source]);
    if (!fits && &way != &ways_.back()) continue;
    for (const auto& launch : way.launches) {
      for (const Launch::Patch& patch : launch->patches) {
        *patch.from = static_cast<std::byte*>(const_cast<void*>(sources[patch.source])) + patch.from_bytes;
        *patch.to = static_cast<std::byte*>(to) + patch.to_bytes;
      }
      void* arguments[] = {launch->argument};
      TRY(kiln::cuda::launch(stream, launch->function, launch->shape, arguments));
    }
    return {};
  }
  return {};
}

}  // namespace kiln::cuda
