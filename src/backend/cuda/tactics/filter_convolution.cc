#include "backend/cuda/tactics/filter_convolution.h"

#include <algorithm>

#include "backend/cuda/exec/epilogue_inputs.h"
#include "backend/cuda/kernels/conv/phases.h"
#include "backend/cuda/kernels/gemm/gemm.h"
#include "backend/cuda/tactics/backend.h"
#include "backend/cuda/tactics/contraction.h"

namespace kiln::cuda {

bool is_point(const FilterSpec& spec, int64_t groups) {
  const auto all = [](const Extents& e, int64_t value) {
    return std::ranges::all_of(e, [=](int64_t x) { return x == value; });
  };
  return groups == 1 && !spec.transposed && all(spec.kernel, 1) && all(spec.strides, 1) && all(spec.pads, 0);
}

/// Whether what a window reaches beyond a picture fits a tensor map of pixels, whatever the picture.
static bool fits_maps(const FilterSpec& spec) {
  for (size_t i = 0; i < spec.kernel.size(); ++i)
    if (spec.dilations[i] * (spec.kernel[i] - 1) > 48 || spec.strides[i] > 8 || spec.pads[i] < -48 || spec.pads[i] > 48)
      return false;
  return true;
}

/// Whether a deconvolution makes as many pixels as its strides say: without output padding.
static bool covered(const Shape& x, const Shape& y, std::span<const int64_t> strides) {
  for (size_t i = 0; i < strides.size(); ++i)
    if (y[2 + i] != x[2 + i] * sym::Expr(strides[i])) return false;
  return true;
}

std::vector<Variant> filter_variants(const TacticContext& cx, const Region& region, const FilterSpec& spec,
                                     int64_t groups) {
  const TensorType &x = cx.graph.type(region.inputs[0]), &w = cx.graph.type(region.inputs[1]),
                   &y = cx.graph.type(region.outputs[0]);
  const auto filter = FilterExtents::of(*w.extents(), groups, spec.transposed);
  CHECK(filter.has_value());
  const Extents opt = y.opt_extents();
  ConvTraits traits{x.dtype,
                    y.dtype,
                    *filter,
                    cx.graph.constant(region.inputs[1]) != nullptr,
                    may_use_tf32(cx, region),
                    spec.transposed,
                    opt[1] > 0 ? volume(opt) / opt[1] : 0};
  if (const ConvWindow window = spec.bind({}, {}); spec.transposed && has_phases(window))
    traits.phases = int64_t{window.stride[0]} * window.stride[1] * window.stride[2];
  const auto all_ones = [](const Extents& e) { return std::ranges::all_of(e, [](int64_t x) { return x == 1; }); };
  if (const size_t axes = spec.kernel.size(); axes <= 2 && all_ones(spec.dilations)) {
    traits.kernel_h = axes == 2 ? spec.kernel[0] : 1;
    traits.kernel_w = spec.kernel.back();
    traits.stride = spec.strides.back();
    traits.stride_h = axes == 2 ? spec.strides[0] : traits.stride;
    traits.out_h = axes == 2 ? opt[2] : 1;
    traits.out_w = opt.back();
  }
  traits.pictures = spec.kernel.size() <= 2 && fits_maps(spec);
  traits.float_weights = w.dtype != x.dtype;
  traits.joined = region.data.find("joined") != nullptr;
  traits.abutting = spec.transposed && spec.abuts() && covered(x.shape, y.shape, spec.strides);
  const Machine machine = machine_of(device_of(cx).properties());
  const Format last = Format::channels_last(x.rank());
  std::vector<Variant> result;
  const auto add = [&](const auto& candidate, std::string_view key, Record kernel, const Format& format) {
    result.push_back(contraction_variant(cx, region, candidate.kernel.name(), format, candidate.estimate_us));
    result.back().params.set(key, std::move(kernel));
  };
  for (const ConvCandidate& candidate : conv_candidates(traits, machine)) {
    add(candidate, "conv", candidate.kernel.record(), candidate.kernel.channels_last ? last : Format::linear());
    if (traits.joined) result.back().inputs.back() = last;
    if (candidate.kernel.pad_channels || candidate.kernel.family == ConvFamily::kStem)
      result.back().inputs[0] = Format::linear();  // as pictures come
  }
  if (traits.joined) {
    keep_likeliest(cx, result);
    return result;
  }
  // Pads behind alone make more pixels than there were.
  if (is_point(spec, groups) && std::equal(x.shape.begin() + 2, x.shape.end(), y.shape.begin() + 2)) {
    const int64_t in = filter->in_channels, out = filter->out_channels;
    const GemmTraits product{x.dtype,
                             y.dtype,
                             true,
                             true,
                             power_of_two_in(in, 8),
                             power_of_two_in(in, 8),
                             power_of_two_in(out, 8),
                             may_use_tf32(cx, region),
                             traits.constant_filter,
                             traits.float_weights,
                             true};
    for (const GemmCandidate& candidate : gemm_candidates(product, traits.pixels, out, in, 1, machine))
      add(candidate, "gemm", to_record(candidate.kernel), last);
  }
  keep_likeliest(cx, result);
  return result;
}

Result<StepDraft> compile_filter(const TacticContext& cx, const Region& region, const Variant& variant,
                                 const FilterSpec& spec, int64_t groups) {
  StepDraft draft{.executor = "cuda", .kernel = "convolution"};
  draft.payload = spec.record();
  draft.payload.set("groups", groups);
  draft.in_place_input = in_place_input(region);
  const Epilogue epilogue = TRY(epilogue_of(region));
  draft.payload.set("epilogue", EpilogueInputs::record(epilogue));
  Compiler& compiler = device_of(cx).compiler();
  if (variant.params.find("gemm")) {
    const Record& record = TRY(variant.params.get_record("gemm"));
    draft.payload.set("gemm", record);
    draft.binary = TRY(compiler.compile(source_of(TRY(from_record<GemmKernel>(record)), epilogue)));
  } else {
    const Record& record = TRY(variant.params.get_record("conv"));
    draft.payload.set("conv", record);
    draft.binary = TRY(compiler.compile(source_of(TRY(ConvKernel::parse(record)), epilogue)));
  }
  return draft;
}

}  // namespace kiln::cuda
