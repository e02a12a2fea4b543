#include "backend/cuda/kernels/nest/nest.h"

#include <algorithm>
#include <cstdint>

namespace kiln::cuda {
namespace {

/// Whether vectors of `width` tile the axes: whole along the innermost one, unless it is all there is, and aligned.
bool tiles(const MergedAxes& axes, const NestVariant& variant, int width) {
  if (axes.rank > 1 && axes.inner_extent() % width != 0) return false;
  for (size_t tensor = 0; tensor < axes.strides.size(); ++tensor)
    for (int axis = 0; axis + 1 < axes.rank; ++axis)
      if (variant.lies[tensor] == static_cast<char>(NestLie::kRow) &&
          axes.strides[tensor][static_cast<size_t>(axis)] % width != 0)
        return false;
  return true;
}

}  // namespace

Status NestVariant::check() const {
  TRY(require(width == 1 || width == 2 || width == 4 || width == 8, "a nest's vectors have ", width,
              " elements; 1, 2, 4 or 8 are possible"));
  TRY(require(unroll >= 1 && unroll <= 4, "a nest's threads load ", unroll, " vectors at once; 1 to 4 are possible"));
  const auto is_lie = [](char lie) { return lie == 'r' || lie == '1' || lie == 'a'; };
  return require(std::ranges::all_of(lies, is_lie), "a nest's tensors lie as '", lies, "'");
}

Result<MergedAxes> nest_axes(std::span<const NestTensor> tensors, size_t num_inputs) {
  const Extents& space = tensors[num_inputs].extents;
  std::vector<AxisStrides> strides;
  for (const NestTensor& tensor : tensors) {
    if (tensor.view) {
      strides.push_back(*tensor.view);
      continue;
    }
    TRY(require(tensor.extents.size() <= space.size() && space.size() <= kMaxRank, "a tensor of rank ",
                tensor.extents.size(), " broadcast to ", space));
    const auto along = std::span(space).last(tensor.extents.size());
    TRY(require(std::ranges::equal(tensor.extents, along, [](int64_t e, int64_t s) { return e == 1 || e == s; }),
                "a nest's tensor of ", tensor.extents, " does not broadcast to ", space));
    if (tensor.format.is_blocked())
      return error(Code::kUnsupported, "a nest cannot read the blocked format ", tensor.format);
    strides.push_back(broadcast_strides(tensor.extents, tensor.format.strides(tensor.extents), space));
  }
  return merge_axes(space, strides, num_inputs);
}

NestLie lie_of(const MergedAxes& axes, size_t tensor) {
  const int64_t stride = axes.inner_stride(tensor);
  return stride == 1 ? NestLie::kRow : stride == 0 ? NestLie::kOne : NestLie::kApart;
}

bool suits(const NestVariant& variant, const MergedAxes& axes) {
  if (variant.lies.size() != axes.strides.size() || (!variant.wide && !is_narrow(axes))) return false;
  if (variant.width == 1) return true;
  for (size_t i = 0; i < axes.strides.size(); ++i)
    if (variant.lies[i] != static_cast<char>(NestLie::kApart) && variant.lies[i] != static_cast<char>(lie_of(axes, i)))
      return false;
  return tiles(axes, variant, variant.width);
}

std::string nest_entry(size_t variant) { return str("nest_", variant); }

NestLaunch::NestLaunch(const NestVariant& variant, const MergedAxes& axes, int num_sms)
    : variant_(variant), empty_(axes.count() == 0), pointers_(axes.strides.size() + 1) {
  if (empty_) return;
  const int64_t vectors = (axes.count() + variant.width - 1) / variant.width;
  int64_t threads = kNestThreads, unroll = variant.unroll;
  while (unroll > 1 && vectors < 4 * threads * unroll * num_sms) unroll /= 2;
  while (threads > 64 && vectors < 2 * threads * num_sms) threads /= 2;
  const int64_t per_block = threads * unroll;
  shape_.block[0] = static_cast<uint32_t>(threads);
  shape_.grid[0] = grid_blocks((vectors + per_block - 1) / per_block);
  shape_.pdl = true;
  for (size_t i = 0; i < axes.strides.size(); ++i) {
    if (variant.wide)
      wide_.operands.push_back(operand_argument<int64_t>(axes, i, variant.width));
    else
      narrow_.operands.push_back(operand_argument<int32_t>(axes, i, variant.width));
  }
  narrow_.walk = variant.wide ? WalkArgument() : narrow_walk(axes, variant.width);
  wide_.walk = wide_walk(axes, variant.width);
  narrow_.walk.per_block = static_cast<uint32_t>(per_block);
  wide_.walk.per_block = static_cast<uint64_t>(per_block);
}

bool NestLaunch::takes(const void* const* tensors, std::span<const int> element_bytes) const {
  for (size_t i = 0; i < element_bytes.size(); ++i) {
    if (variant_.lies[i] != static_cast<char>(NestLie::kRow)) continue;
    const auto align = static_cast<uintptr_t>(std::min(16, variant_.width * element_bytes[i]));
    if (reinterpret_cast<uintptr_t>(tensors[i]) % align != 0) return false;
  }
  return true;
}

Status NestLaunch::run(const Stream& stream, const Function& function, const void* const* tensors) {
  if (empty_) return {};
  const auto fill = [&](auto& arguments) {
    pointers_[0] = &arguments.walk;
    for (size_t i = 0; i < arguments.operands.size(); ++i) {
      arguments.operands[i].data = const_cast<void*>(tensors[i]);
      pointers_[i + 1] = &arguments.operands[i];
    }
  };
  variant_.wide ? fill(wide_) : fill(narrow_);
  return launch(stream, function, shape_, pointers_.data());
}

}  // namespace kiln::cuda
