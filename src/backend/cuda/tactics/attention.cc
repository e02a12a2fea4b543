#include "backend/cuda/tactics/attention.h"

#include <numeric>

#include "backend/cuda/compile/attention/attention.h"
#include "backend/cuda/compile/gemm/gemm.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/contraction.h"
#include "steps/attention.h"
#include "steps/attention_layout.h"
#include "sym/divisor.h"
#include "tactics/attention.h"
#include "tactics/causal_mask.h"
#include "tactics/region.h"
#include "tactics/tactic_list.h"

namespace kiln::cuda {
namespace {

/// The largest number of elements, at most 8, by which all offsets, strides and depths of the operands are aligned.
int64_t alignment(std::span<const sym::Expr> params) {
  int64_t divisor = std::gcd(sym::known_divisor(params[4]), sym::known_divisor(params[5]));
  for (size_t operand = 0; operand < 5; ++operand)
    for (size_t i = 0; i < 4 && operand != 3; ++i)  // masks are read element by element
      divisor = std::gcd(divisor, sym::known_divisor(params[6 + operand * 5 + i]));
  for (size_t i = AttentionLayout::kNumParams + 1; i < params.size(); ++i)  // of what follows k and v
    if ((i - AttentionLayout::kNumParams) % 5 != 0) divisor = std::gcd(divisor, sym::known_divisor(params[i]));
  return power_of_two_in(divisor, 8);
}

constexpr size_t kKvHeads = AttentionLayout::kNumParams - 1;  // among a region's parameters
constexpr int64_t kMostJoinedQueries = 16;                    // a block's: more read keys again and again

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
  traits.element = q.dtype;
  traits.depth = std::max(*depth_q, *depth_v);
  traits.align = alignment(region.params);
  traits.tf32 = may_use_tf32(cx, region);
  traits.has_mask = region.inputs[3] != ir::ValueId::kNone;
  traits.nan_rows_are_zero = step.nan_rows_are_zero;
  traits.causal = step.causal;
  traits.joined = joined;
  if (const DType y = cx.graph.type(region.outputs[0]).dtype; y != q.dtype) traits.result = y;
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
  explicit AttentionTactic(bool joined_keys = false) : joined_keys_(joined_keys) {}
  std::string_view name() const override { return joined_keys_ ? "attention to joined keys" : "attention"; }

  Match match(const TacticContext& cx, ir::NodeId root) const override {
    static constexpr DType kTypes[] = {DType::kF16, DType::kBF16, DType::kF32};
    Match region = attention_region(cx, root,
                                    {.types = kTypes,
                                     .joined_keys = joined_keys_,
                                     .results = joined_keys_ ? QuantizedTo::kNothing : quantized_to(cx)});
    if (!region) return region;
    if (const int64_t queries = region->params[2].opt(); joined_keys_ && queries > kMostJoinedQueries)
      return reject("its ", queries, " queries are more than the ", kMostJoinedQueries, " of a block");
    drop_causal_mask(cx.graph, *region);
    const auto candidates = candidates_of(cx, *region);
    if (!candidates) return reject(candidates.error().message);
    if (candidates->empty() && joined_keys_) return reject("no kernel of joined keys takes its types or its heads");
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
  bool joined_keys_;
};

}  // namespace

const Tactic& attention_tactic() { return the<AttentionTactic>(); }
const Tactic& joined_attention_tactic() {
  static const AttentionTactic tactic(true);
  return tactic;
}

}  // namespace kiln::cuda
