#include "backend/cuda/compile/conv/conv.h"

#include <algorithm>

#include "backend/cuda/compile/conv/family.h"
#include "backend/cuda/compile/gemm/wgmma_text.h"
#include "backend/cuda/compile/nest/function.h"

namespace kiln::cuda {
namespace {

constexpr const ConvSource* kSources[] = {
#define FAMILY(Name) &kConv##Name##Source,
#include "backend/cuda/kernels/conv/families.def"
#undef FAMILY
};

/// The entry of a kernel that reads x through tensor maps: one, or two where x is two tensors.
std::string entry_with_maps(std::string_view entry, bool joined) {
  std::string maps = "const __grid_constant__ kiln::TensorMap map_x, const __grid_constant__ kiln::TensorMap map_w, ";
  if (joined) maps += "const __grid_constant__ kiln::TensorMap map_behind, ";
  return entry_text(entry, "kiln::kThreads, 1", maps + struct_parameter("ConvArguments"),
                    joined ? "run({&map_x, &map_behind}, &map_w, args)" : "run({&map_x, &map_x}, &map_w, args)");
}

}  // namespace

int64_t ConvTraits::vec() const {
  return power_of_two_in(filter.out_channels, std::min<int64_t>(8, 16 / bytes_of(types.out)));
}

KernelSource source_of(const ConvKernel& kernel, const Epilogue& epilogue, const std::optional<ByteScales>& scales) {
  const ConvSource& row = **std::ranges::find(kSources, kernel->family, &ConvSource::family);
  const ContractionTypes& types = kernel->types;
  const ConvFacts facts = kernel->facts();
  KernelSource source{row.file, epilogue_source(epilogue, scales), kernel->family->entry, is_quick(epilogue)};
  source.choices.set("Element", element_name(types.a)).set("Result", element_name(types.out));
  const bool reads_filter = kernel->family->float_weights == FloatWeights::kRead;
  const bool as_x = kernel->splits_filter() || (types.is_of_bytes() && !reads_filter);
  source.choices.set("Filter", element_name(as_x ? types.a : types.b));
  source.choices.set("narrow_sums", scales && scales->narrow_sums);
  Record parameters = fields_record(kernel->family->fields(), &*kernel);
  add_choices(source, parameters.set("terms", kernel->splits_filter() ? 2 : 1), row.unread);
  if (row.calls_wgmma) {
    const WgmmaForm form = row.x_is_right ? WgmmaForm::kSharedRight : WgmmaForm::kShared;
    source.prelude += wgmma_source(static_cast<const ConvTiled&>(*kernel).tile.bn, types.a, form);
  }
  if (row.takes_joined) source.end = entry_with_maps(source.entry, facts.joined);
  if (facts.pad_channels > 0) source.end += "#include \"conv/pad_channels.cuh\"\n";
  if (facts.sums_parts) {
    source.choices.set("splits", 2);  // the text is the same for any number
    source.end += "#include \"conv/reduce.cuh\"\n";
  }
  return source;
}

bool ConvSearch::takes_tensor_cores() const {
  return machine.compute >= 80 && traits.constant_filter && (traits.types.a != DType::kF32 || traits.tf32) &&
         (!traits.transposed || traits.phases > 0);
}

std::vector<int64_t> ConvSearch::paddings() const {
  const int64_t in = traits.filter.in_channels;
  // A pixel of three channels is no aligned piece; one of four is.
  const bool narrow = in == 3 || (in > 4 && in < 8) || (traits.types.is_of_bytes() && in < 3);
  const bool pads = !traits.transposed && traits.filter.groups == 1 && narrow;
  const int64_t padded = ceil_div(in, 4) * 4;
  if (!pads || padded * bytes_of(traits.types.a) > 16) return {0};
  return {padded, 0};
}

double ConvSearch::product_us(const ConvParameters& kernel, const TileShape& tile, int64_t splits,
                              double flops_per_cycle) const {
  const FilterExtents& f = traits.filter;
  const ConvFacts facts = kernel.facts();
  // A phase is a launch of its own, with its share of pixels and taps.
  const double phases = facts.transposed && facts.packs_filter ? static_cast<double>(traits.phases) : 1;
  const int64_t taps = f.taps * (kernel.splits_filter() ? 2 : 1);
  const double k = static_cast<double>(taps * kernel.channels_read(f)) / phases;
  const double us = phases * product_estimate_us(tile, static_cast<double>(traits.pixels) / phases,
                                                 static_cast<double>(f.out_channels), k, static_cast<double>(f.groups),
                                                 splits, bytes_of(traits.types.a), flops_per_cycle, machine);
  return us + (facts.pad_channels ? 2 : 0);
}

std::vector<ConvCandidate> conv_candidates(const ConvTraits& traits, const Machine& machine) {
  ConvSearch search{traits, machine};
  for (const ConvSource* source : kSources) {
    if (traits.joined && !source->takes_joined) continue;
    if (traits.types.is_mixed() && source->family->float_weights == FloatWeights::kNone) continue;
    if (traits.types.is_of_bytes() && !source->family->takes_bytes) continue;
    source->search(search);
  }
  // Tensor cores' kernels of bytes have one group; those of depthwise convolutions pad with x's zero point.
  if (traits.types.is_of_bytes() && traits.filter.groups > 1)
    std::erase_if(search.found, [](const ConvCandidate& c) { return !c.kernel->facts().pads_with_zero; });
  std::ranges::stable_sort(search.found, {}, &ConvCandidate::estimate_us);
  return std::move(search.found);
}

}  // namespace kiln::cuda
