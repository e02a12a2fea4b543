#include "backend/cuda/tactics/filter_convolution.h"

#include <algorithm>

#include "backend/cuda/compile/conv/conv.h"
#include "backend/cuda/exec/convolution.h"
#include "backend/cuda/kernels/conv/phases.h"
#include "backend/cuda/tactics/compile.h"
#include "ops/concatenation.h"
#include "tactics/convolution.h"

namespace kiln::cuda {

/// Whether a tensor map of pixels can describe how far the window reaches beyond any picture.
static bool fits_maps(const steps::Window& window) {
  for (size_t i = 0; i < window.kernel.size(); ++i)
    if (window.reach(i) > 49 || window.strides[i] > 8 || window.pads[i] > 48) return false;
  return true;
}

/// Whether a deconvolution's output is exactly its strides times as long as its input, as without output padding.
static bool covered(const Shape& x, const Shape& y, std::span<const int64_t> strides) {
  for (size_t i = 0; i < strides.size(); ++i)
    if (y[2 + i] != x[2 + i] * sym::Expr(strides[i])) return false;
  return true;
}

std::vector<Variant> filter_variants(const TacticContext& cx, const Region& region, const Filter& by) {
  const steps::Window& window = by.window;
  const TensorType &x = cx.graph.type(region.inputs[0]), &w = cx.graph.type(region.inputs[1]),
                   &y = cx.graph.type(region.outputs[0]);
  const auto filter = by.extents(*w.extents());
  CHECK(filter.has_value());
  const Extents opt = y.opt_extents();
  ConvTraits traits{types_of(cx, region),     *filter,       cx.graph.constant(region.inputs[1]) != nullptr,
                    may_use_tf32(cx, region), by.transposed, opt[1] > 0 ? volume(opt) / opt[1] : 0};
  if (by.transposed && has_phases(by.bind({}, {}))) traits.phases = volume(window.strides);
  const auto all_ones = [](const Extents& e) { return std::ranges::all_of(e, [](int64_t x) { return x == 1; }); };
  if (const size_t axes = window.kernel.size(); axes <= 2 && all_ones(window.dilations)) {
    traits.kernel_h = axes == 2 ? window.kernel[0] : 1;
    traits.kernel_w = window.kernel.back();
    traits.stride = window.strides.back();
    traits.stride_h = axes == 2 ? window.strides[0] : traits.stride;
    traits.out_h = axes == 2 ? opt[2] : 1;
    traits.out_w = opt.back();
  }
  traits.pictures = window.kernel.size() <= 2 && fits_maps(window);
  traits.joined = cx.graph.node(region.nodes[0]).op.as<ops::Concatenation>() != nullptr;
  traits.abutting = by.transposed && window.abuts() && covered(x.shape, y.shape, window.strides);
  traits.read_bytes = bytes_read_by_result(cx, region);
  const Machine machine = machine_of(cx);
  const Format last = Format::channels_last(x.rank());
  std::vector<Variant> result;
  const auto add = [&](std::string name, double estimate_us, const ConvolutionTuning& tuning, const Format& format) {
    result.push_back(contraction_variant(cx, region, std::move(name), format, estimate_us));
    result.back().params = to_record(tuning);
  };
  for (const ConvCandidate& candidate : conv_candidates(traits, machine)) {
    const ConvFacts facts = candidate.kernel->facts();
    add(candidate.kernel->name(), candidate.estimate_us, {.conv = candidate.kernel},
        facts.channels_last ? last : Format::linear());
    if (traits.joined) result.back().inputs.back() = last;
    if (facts.reads_pictures) result.back().inputs[0] = Format::linear();  // as pictures come
  }
  if (traits.joined) {
    keep_likeliest(cx, result);
    return result;
  }
  // Pads behind the picture would make more pixels than x has, so extents are compared too.
  if (by.is_point() && std::equal(x.shape.begin() + 2, x.shape.end(), y.shape.begin() + 2)) {
    const int64_t in = filter->in_channels, out = filter->out_channels;
    const int64_t whole = traits.types.is_of_bytes() ? 16 : 8;
    const GemmTraits product{.types = traits.types,
                             .a_k_major = true,
                             .b_k_major = true,
                             .a_align = power_of_two_in(in, whole),
                             .b_align = power_of_two_in(in, whole),
                             .c_align = power_of_two_in(out, 8),
                             .tf32 = may_use_tf32(cx, region),
                             .b_constant = traits.constant_filter,
                             .one_batch_axis = true,
                             .lane_columns = power_of_two_in(out, 64),
                             .read_bytes = bytes_read_by_result(cx, region)};
    for (const GemmCandidate& candidate : gemm_candidates(product, traits.pixels, out, in, 1, machine))
      add(candidate.kernel.name(), candidate.estimate_us, {.gemm = candidate.kernel}, last);
  }
  keep_likeliest(cx, result);
  return result;
}

Result<StepDraft> compile_filter(const TacticContext& cx, const Region& region, const Variant& variant,
                                 const AnyStep& step) {
  const auto tuning = TRY(from_record<ConvolutionTuning>(variant.params));
  StepDraft draft = cuda_step(step, tuning);
  draft.in_place_input = in_place_input(region);
  const steps::Epilogue epilogue = TRY(epilogue_of(region));
  draft.binary =
      TRY(compile_kernel(cx, tuning.gemm ? source_of(*tuning.gemm, epilogue) : source_of(*tuning.conv, epilogue)));
  return draft;
}

}  // namespace kiln::cuda
