#include "backend/cuda/tactics/attention.h"

#include <numeric>

#include "backend/cuda/compile/attention/attention.h"
#include "backend/cuda/compile/gemm/gemm.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/contraction.h"
#include "backend/cuda/tactics/kept_floats.h"
#include "ops/cast.h"
#include "ops/quantize.h"
#include "steps/attention.h"
#include "steps/attention_layout.h"
#include "sym/divisor.h"
#include "tactics/attention.h"
#include "tactics/causal_mask.h"
#include "tactics/region.h"
#include "tactics/tactic_list.h"

namespace kiln::cuda {
namespace {

/// The largest number of elements, at most `most`, by which all offsets, strides and depths of the operands are
/// aligned.
int64_t alignment(std::span<const sym::Expr> params, int64_t most) {
  int64_t divisor = std::gcd(sym::known_divisor(params[4]), sym::known_divisor(params[5]));
  for (size_t operand = 0; operand < 5; ++operand)
    for (size_t i = 0; i < 4 && operand != 3; ++i)  // masks are read element by element
      divisor = std::gcd(divisor, sym::known_divisor(params[6 + operand * 5 + i]));
  for (size_t i = AttentionLayout::kNumParams + 1; i < params.size(); ++i)  // of what follows k and v
    if ((i - AttentionLayout::kNumParams) % 5 != 0) divisor = std::gcd(divisor, sym::known_divisor(params[i]));
  return power_of_two_in(divisor, most);
}

constexpr size_t kKvHeads = AttentionLayout::kNumParams - 1;  // among a region's parameters
constexpr int64_t kMostJoinedQueries = 16;                    // a block's: more read keys again and again

/// The type of floats around operands of bytes: of the mask, and of the result before it is quantized.
DType element_around(const TacticContext& cx, const Region& region) {
  const ir::NodeId root = region.nodes.back();
  return cx.graph.node(root).op.as<ops::Quantize>() ? cx.graph.input_type(root, 0).dtype
                                                    : cx.graph.output_type(root).dtype;
}

/// Whether FP32 may have the digits that tensor cores keep of it. Operands that are bytes have no others, nor have
/// weights that are rounded to bytes.
bool may_round_floats(const TacticContext& cx, const Region& region, const steps::Attention& step) {
  if (is_kernel_float(cx.graph.type(region.inputs[0]).dtype)) return may_use_tf32(cx, region);
  return step.weight_scale != 0 || (cx.numerics.tf32 && !needs_all_digits(cx.graph, region.nodes[0]));
}

/// Whether a half mask was converted from FP32, so that its least numbers stand for smaller ones.
bool stands_for_float(const TacticContext& cx, ir::ValueId value) {
  const ir::Graph& graph = cx.graph;
  ir::NodeId producer = graph.value(value).producer;
  while (producer != ir::NodeId::kNone && graph.node(producer).op.has(Trait::kMovement)) {
    value = graph.node(producer).inputs[0];
    producer = graph.value(value).producer;
  }
  if (graph.constant(value)) return cx.numerics.fp16 && !cx.numerics.strongly_typed;
  return graph.producer_as<ops::Cast>(value) && graph.input_type(producer, 0).dtype == DType::kF32;
}

/// Kernels for the region; none where its heads are too deep.
Result<std::vector<AttentionCandidate>> candidates_of(const TacticContext& cx, const Region& region) {
  const TensorType &q = cx.graph.type(region.inputs[0]), &v = cx.graph.type(region.inputs[2]);
  const bool joined = region.params.size() == AttentionLayout::kNumJoinedParams;
  TRY(require(joined || region.params.size() == AttentionLayout::kNumParams,
              "a region of attention lacks its parameters"));
  const auto depth_q = region.params[4].constant(), depth_v = region.params[5].constant();
  TRY(require(depth_q && depth_v, "the number of a head's channels must be known when the plan is built: ", q, ", ",
              v));
  const steps::Attention step = TRY(from_record<steps::Attention>(region.data));
  TRY(require(step.scale > 0, "kernels take a positive scale, not ", step.scale));
  AttentionTraits traits;
  const bool of_bytes = !is_kernel_float(q.dtype);
  traits.element = of_bytes ? element_around(cx, region) : q.dtype;
  if (of_bytes) traits.operand = q.dtype;
  traits.rounds_weights = step.weight_scale != 0;
  traits.depth = std::max(*depth_q, *depth_v);
  traits.align = alignment(region.params, of_bytes ? 16 : 8);
  traits.tf32 = may_round_floats(cx, region, step);
  traits.has_mask = region.inputs[3] != ir::ValueId::kNone;
  traits.least_hides = traits.has_mask && traits.element == DType::kF16 && stands_for_float(cx, region.inputs[3]);
  traits.nan_rows_are_zero = step.nan_rows_are_zero;
  traits.causal = step.causal;
  traits.joined = joined;
  if (const DType y = cx.graph.type(region.outputs[0]).dtype; y != traits.element) traits.result = y;
  traits.heads = region.params[0].opt() * region.params[1].opt();
  traits.queries = region.params[2].opt();
  if (const int64_t shared = region.params.size() > kKvHeads ? region.params[kKvHeads].opt() : 0;
      traits.queries == 1 && shared > 0) {  // as share_keys has it
    traits.queries = std::max<int64_t>(1, region.params[1].opt() / shared);
    traits.heads = region.params[0].opt() * shared;
  }
  traits.keys = region.params[3].opt();
  return attention_candidates(traits, machine_of(cx));
}

/// Drops a mask that only hides later keys. Kernels do that themselves, and skip keys that none of their queries sees.
void drop_causal_mask(const ir::Graph& graph, Region& region) {
  ir::ValueId& mask = region.inputs[3];
  const HostTensor* values = mask == ir::ValueId::kNone ? nullptr : graph.constant(mask);
  if (!values || !is_causal_mask(*values)) return;
  mask = ir::ValueId::kNone;
  steps::Attention step = *from_record<steps::Attention>(region.data);
  step.causal = true;
  region.data = to_record(step);
}

class AttentionTactic final : public AttentionRegions {
 public:
  enum class Reads : uint8_t { kFloats, kJoinedKeys, kBytes };
  explicit AttentionTactic(Reads reads = Reads::kFloats) : reads_(reads) {}
  std::string_view name() const override {
    return is_joined() ? "attention to joined keys" : reads_ == Reads::kBytes ? "attention of bytes" : "attention";
  }

  Match match(const TacticContext& cx, ir::NodeId root) const override {
    static constexpr DType kTypes[] = {DType::kF16, DType::kBF16, DType::kF32};
    Match region = attention_region(cx, root,
                                    {.types = kTypes,
                                     .joined_keys = is_joined(),
                                     .results = is_joined() ? QuantizedTo::kNothing : quantized_to(cx),
                                     .operands = reads_ == Reads::kBytes ? quantized_to(cx) : QuantizedTo::kNothing});
    if (!region) return region;
    if (const int64_t queries = region->params[2].opt(); is_joined() && queries > kMostJoinedQueries)
      return reject("its ", queries, " queries are more than the ", kMostJoinedQueries, " of a block");
    drop_causal_mask(cx.graph, *region);
    const auto candidates = candidates_of(cx, *region);
    if (!candidates) return reject(candidates.error().message);
    if (candidates->empty() && is_joined()) return reject("no kernel of joined keys takes its types or its heads");
    if (candidates->empty() && reads_ == Reads::kBytes)
      return reject("no kernel takes heads of ", cx.graph.type(region->inputs[0]), " among ",
                    element_around(cx, *region), cx.numerics.tf32 ? "" : " without TF32");
    if (candidates->empty())
      return reject("heads of ", cx.graph.type(region->inputs[0]), " are too deep for the kernels");
    return region;
  }

  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    std::vector<Variant> result;
    const auto candidates = candidates_of(cx, region);
    CHECK(candidates.has_value());
    for (const AttentionCandidate& candidate : *candidates) {
      result.push_back(linear_variant(region, candidate.kernel.name()));
      result.back().estimate_us = candidate.estimate_us;
      result.back().params = to_record(candidate.kernel);
    }
    keep_likeliest(cx, result);
    return result;
  }

  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const AttentionKernel kernel = TRY(from_record<AttentionKernel>(variant.params));
    StepDraft step = cuda_step(TRY(draft(cx, region, variant)));
    step.tuning = to_record(kernel);
    step.binary = TRY(compile_kernel(cx, source_of(kernel)));
    return step;
  }

 private:
  bool is_joined() const { return reads_ == Reads::kJoinedKeys; }

  Reads reads_;
};

}  // namespace

const Tactic& attention_tactic() { return the<AttentionTactic>(); }
const Tactic& joined_attention_tactic() {
  static const AttentionTactic tactic(AttentionTactic::Reads::kJoinedKeys);
  return tactic;
}
const Tactic& byte_attention_tactic() {
  static const AttentionTactic tactic(AttentionTactic::Reads::kBytes);
  return tactic;
}

}  // namespace kiln::cuda
