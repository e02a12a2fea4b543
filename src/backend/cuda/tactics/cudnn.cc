#include "backend/cuda/tactics/cudnn.h"

#include <algorithm>

#include "backend/cuda/exec/convolution.h"
#include "backend/cuda/exec/cudnn_on_device.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/contraction.h"
#include "backend/cuda/tactics/library_epilogue.h"
#include "tactics/convolution.h"

namespace kiln::cuda {
namespace {

Match region_of(const TacticContext& cx, ir::NodeId root, const EpilogueMatch& epilogue) {
  if (limits_shared_memory(cx))
    return reject("the build limits shared memory, and cuDNN's kernels take what they need");
  const ir::Node& node = cx.graph.node(epilogue.contraction);
  const HostTensor* w = cx.graph.constant(node.inputs[1]);
  if (!w) return reject("w is not a constant, so that it cannot be brought to cuDNN's order");
  if (w->volume() == 0) return reject("the sums have no terms");
  Match region = contraction_region(cx, root, epilogue);
  if (!region) return region;
  const auto step = convolution_step(cx, *region);
  CHECK(step.has_value());
  if (Filter(*step).is_point() && cx.numerics.cublas_lt && device_of(cx).companion<CublasLtOnDevice>())
    return reject("it is a matrix product, for which cuBLASLt is faster");
  return region;
}

/// The convolution at the optimum extents.
Result<CudnnConvolutionSpec> layer_of(const TacticContext& cx, const Region& region) {
  const steps::Convolution step = TRY(convolution_step(cx, region));
  const TensorType &x = cx.graph.type(region.inputs[0]), &y = cx.graph.type(region.outputs[0]);
  return with_extents(cudnn_convolution(types_of(cx, region), step.epilogue, may_use_tf32(cx, region)), step.window,
                      x.opt_extents(), filter_of(cx, region), y.opt_extents());
}

/// How many engines are timed. Timing loads each one, which takes some 25 ms.
size_t most_variants(const TacticContext& cx) {
  constexpr size_t kByLevel[] = {1, 2, 3, 4, 8, 16};
  return kByLevel[std::clamp(cx.optimization_level, 0, 5)];
}

/// Picks the library's first choices and the first of each further engine: the library lists an engine with all its
/// knobs before the next engine. At most half of them are compiled ones, which take a quarter of a second each.
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
    Match region = checked_for_library(
        cx, match_contraction(cx, root, is_convolution, 1, ResultOrder::kChannelsLast, region_of, true));
    if (!region) return region;
    if (volume(cx.graph.type(region->outputs[0]).opt_extents()) == 0) return reject("the result is empty");
    const auto library = device_of(cx).companion<CudnnOnDevice>();
    if (!library) return reject(missing(cx, library.error()));
    const auto layer = layer_of(cx, *region);
    CHECK(layer.has_value());
    const auto choices = library->get().choices(*layer);
    if (!choices) return reject(choices.error().message);
    if (choices->empty()) return reject("cuDNN has no engine for it that is exact enough");
    return region;
  }

  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    CudnnOnDevice& cudnn = *device_of(cx).companion<CudnnOnDevice>();
    const auto layer = layer_of(cx, region);
    CHECK(layer.has_value());
    const auto choices = cudnn.choices(*layer);
    CHECK(choices.has_value());
    const double least_us = least_time_us(cx, region, multiply_adds(*layer));
    const Format last = Format::channels_last(cx.graph.type(region.inputs[0]).rank());
    std::vector<Variant> result;
    for (const CudnnChoice& choice : likeliest(*choices, most_variants(cx))) {
      const double behind = 1 + 0.01 * static_cast<double>(result.size());  // the order is the library's
      result.push_back(contraction_variant(cx, region, choice.name(), last, least_us * behind));
      result.back().params = to_record(CudnnTuning{layer->tf32, choice, cudnn.library().version});
    }
    return result;
  }

  /// Never in place of the residual: engines of several kernels may write y before they have read all of it.
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    CudnnOnDevice& cudnn = TRY(device_of(cx).companion<CudnnOnDevice>());
    const auto tuning = TRY(from_record<CudnnTuning>(variant.params));
    cudnn.expect(TRY(layer_of(cx, region)), tuning.choice);
    StepDraft draft = cuda_step(TRY(convolution_step(cx, region)), ConvolutionTuning{.cudnn = tuning});
    draft.libraries.set("cuDNN", version_text(cudnn.library()));
    return draft;
  }

 private:
  static std::string missing(const TacticContext& cx, const Error& why) {
    compiler_of(device_of(cx))
        .notices()
        .add(Severity::kInfo,
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
