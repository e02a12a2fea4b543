#include "backend/cuda/tactics/cudnn.h"

#include <algorithm>

#include "backend/cuda/exec/cublaslt_product.h"
#include "backend/cuda/exec/cudnn_on_device.h"
#include "backend/cuda/exec/cudnn_step.h"
#include "backend/cuda/exec/epilogue_inputs.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/contraction.h"
#include "backend/cuda/tactics/filter_convolution.h"
#include "backend/cuda/tactics/library_epilogue.h"
#include "ops/convolution.h"
#include "tactics/hook.h"

namespace kiln::cuda {
namespace {

bool is_convolution(const Op& op) { return op.as<ops::Convolution>() != nullptr; }

Match region_of(const TacticContext& cx, ir::NodeId root, const EpilogueMatch& epilogue) {
  const ir::Node& node = cx.graph.node(epilogue.contraction);
  const HostTensor* w = cx.graph.constant(node.inputs[1]);
  if (!w) return reject("w is no constant, which cuDNN wants in another order");
  if (w->volume() == 0) return reject("the sums have no terms");
  const auto& op = *node.op.as<ops::Convolution>();
  if (is_point(filter_spec(op, w->extents(), /*transposed=*/false), op.groups) && cx.numerics.cublas_lt &&
      device_of(cx).companion<CublasLtOnDevice>())
    return reject("a product, which cuBLASLt is faster at");
  return contraction_region(cx, root, epilogue);
}

/// At the optimum extents. The epilogue is a library's.
struct Layer {
  CudnnStep step;
  CudnnConvolutionSpec spec;
};
Layer layer_of(const TacticContext& cx, const Region& region, const LibraryEpilogue& epilogue) {
  const auto& op = *cx.graph.node(region.nodes[0]).op.as<ops::Convolution>();
  const TensorType &x = cx.graph.type(region.inputs[0]), &w = cx.graph.type(region.inputs[1]),
                   &y = cx.graph.type(region.outputs[0]);
  CudnnStep step{filter_spec(op, *w.extents(), /*transposed=*/false), may_use_tf32(cx, region), epilogue.relu};
  const CudnnTypes types{x.dtype, y.dtype, epilogue.bias, epilogue.residual};
  CudnnConvolutionSpec spec = step.spec(types, x.opt_extents(), *w.extents(), y.opt_extents());
  return {std::move(step), std::move(spec)};
}

/// How many engines are worth timing: each is loaded for it, which takes some 25 ms.
size_t most_variants(const TacticContext& cx) {
  constexpr size_t kByLevel[] = {1, 2, 3, 4, 8, 16};
  return kByLevel[std::clamp(cx.optimization_level, 0, 5)];
}

/// The library's first ones, and the first of each further engine: its own order has one engine with all its knobs
/// before the next. Those that are compiled take a quarter of a second each: no more than half.
std::vector<CudnnChoice> likeliest(const std::vector<CudnnChoice>& all, size_t most) {
  std::vector<bool> leads;
  for (size_t i = 0; i < all.size(); ++i)
    leads.push_back(std::none_of(all.begin(), all.begin() + static_cast<ptrdiff_t>(i),
                                 [&](const CudnnChoice& c) { return c.engine == all[i].engine; }));
  std::vector<bool> taken(all.size());
  size_t count = 0, compiled = 0;
  const auto take = [&](size_t i, size_t limit) {
    if (taken[i] || count >= limit || (all[i].compiles && compiled >= std::max<size_t>(1, most / 2))) return;
    taken[i] = true;
    ++count;
    compiled += all[i].compiles;
  };
  for (size_t i = 0; i < all.size(); ++i) take(i, (most + 1) / 2);
  for (size_t i = 0; i < all.size(); ++i)
    if (leads[i]) take(i, most);
  for (size_t i = 0; i < all.size(); ++i) take(i, most);
  std::vector<CudnnChoice> result;
  for (size_t i = 0; i < all.size(); ++i)
    if (taken[i]) result.push_back(all[i]);
  return result;
}

class CudnnTactic final : public Tactic {
 public:
  std::string_view name() const override { return "cudnn"; }

  Match match(const TacticContext& cx, ir::NodeId root) const override {
    if (!cx.numerics.cudnn) return reject("the build's tactic sources leave out cuDNN");
    Match region = match_contraction(cx, root, is_convolution, 1, ResultOrder::kChannelsLast, region_of, true);
    if (!region) return region;
    const auto epilogue = library_epilogue(cx, *region);
    if (!epilogue) return std::unexpected(epilogue.error());
    if (volume(cx.graph.type(region->outputs[0]).opt_extents()) == 0) return reject("the result is empty");
    const auto library = device_of(cx).companion<CudnnOnDevice>();
    if (!library) return reject(missing(cx, library.error()));
    const auto choices = library->get().choices(layer_of(cx, *region, *epilogue).spec);
    if (!choices) return reject(choices.error().message);
    if (choices->empty()) return reject("cuDNN has no engine for it that is exact enough");
    return region;
  }

  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    CudnnOnDevice& cudnn = *device_of(cx).companion<CudnnOnDevice>();
    const Layer layer = layer_of(cx, region, *library_epilogue(cx, region));
    const auto choices = cudnn.choices(layer.spec);
    CHECK(choices.has_value());
    const double least_us = least_time_us(cx, region, multiply_adds(layer.spec));
    const Format last = Format::channels_last(cx.graph.type(region.inputs[0]).rank());
    std::vector<Variant> result;
    for (const CudnnChoice& choice : likeliest(*choices, most_variants(cx))) {
      const double behind = 1 + 0.01 * static_cast<double>(result.size());  // the order is the library's
      result.push_back(contraction_variant(cx, region, choice.name(), last, least_us * behind));
      Record& params = result.back().params = layer.step.record();
      choice.write(params);
      params.set("version", cudnn.library().version);
    }
    return result;
  }

  /// Never in place of the residual: engines of several kernels may write y before they have read all of it.
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    CudnnOnDevice& cudnn = TRY(device_of(cx).companion<CudnnOnDevice>());
    cudnn.expect(layer_of(cx, region, *library_epilogue(cx, region)).spec, TRY(CudnnChoice::parse(variant.params)));
    StepDraft draft = cuda_step("cudnn");
    draft.payload = variant.params;
    draft.payload.set("epilogue", EpilogueInputs::record(TRY(epilogue_of(region))));
    draft.libraries.set("cuDNN", version_text(cudnn.library()));
    return draft;
  }

 private:
  static std::string missing(const TacticContext& cx, const Error& why) {
    device_of(cx).compiler().notices().add(
        Severity::kInfo,
        str("convolutions run by kernels of Kiln's own alone, which take longer for some sizes: ", why.message));
    return why.message;
  }
  static double multiply_adds(const CudnnConvolutionSpec& spec) {
    return static_cast<double>(volume(spec.y)) * static_cast<double>(volume(std::span(spec.w).subspan(1)));
  }
};

}  // namespace

const Tactic& cudnn_tactic() {
  static const CudnnTactic tactic;
  return tactic;
}

}  // namespace kiln::cuda
