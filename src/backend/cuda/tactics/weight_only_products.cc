#include "tactics/weight_only_products.h"

#include <algorithm>

#include "backend/cuda/compile/weight_only/weight_only.h"
#include "backend/cuda/exec/weight_only_product.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/contraction.h"
#include "backend/cuda/tactics/registry.h"
#include "backend/cuda/tactics/weight_only_products.h"

namespace kiln::cuda {
namespace {

DType dtype_of(const TacticContext& cx, ir::ValueId value) { return cx.graph.type(value).dtype; }

WeightOnlyTypes types_of_region(const TacticContext& cx, const Region& region) {
  using steps::WeightOperand;
  const size_t count = region.inputs.size();
  const ir::ValueId scale = region.inputs[steps::input_of(WeightOperand::kScale, count)],
                    zero = region.inputs[steps::input_of(WeightOperand::kZero, count)];
  const DType weights = dtype_of(cx, region.inputs[1]);
  return {dtype_of(cx, region.inputs[0]), dtype_of(cx, region.outputs[0]), dtype_of(cx, scale), weights,
          zero != ir::ValueId::kNone || weights == DType::kU8};
}

Result<WeightOnlyProblem> problem_of(const TacticContext& cx, const Region& region) {
  const steps::WeightOnlyProduct step = TRY(weight_only_step(cx, region));
  const ir::ValueId scale = region.inputs[steps::input_of(steps::WeightOperand::kScale, region.inputs.size())];
  const Extents b = TRY(cx.graph.type(region.inputs[1]).extents()), scales = TRY(cx.graph.type(scale).extents());
  const ProductOperand matrix = right_operand(b, step.op.b);
  const Extents y = cx.graph.type(region.outputs[0]).opt_extents();
  WeightOnlyProblem p;
  p.types = types_of_region(cx, region);
  p.m = volume(std::span(y).first(y.size() - 1));
  p.n = matrix.cols, p.k = matrix.rows;
  p.block = TRY(steps::weight_scales(step.op.b, b, scales)).block;
  p.k_align = power_of_two_in(p.k, 8), p.n_align = power_of_two_in(p.n, 8);
  const auto product =
      std::ranges::find_if(region.nodes, [&](ir::NodeId id) { return cx.graph.node(id).op.has(Trait::kContraction); });
  Region at = region;
  at.nodes = {*product};
  p.tf32 = may_use_tf32(cx, at);
  return p;
}

class WeightOnlyProducts final : public Tactic {
 public:
  std::string_view name() const override { return "gemm of quantized weights"; }

  Match match(const TacticContext& cx, ir::NodeId root) const override {
    Match region = match_weight_only_product(cx, root, /*takes_halves=*/true);
    if (!region) return region;
    const auto epilogue = epilogue_of(*region);
    CHECK(epilogue.has_value());
    if (const Status valid = validate(*epilogue); !valid) return reject(valid.error().message);
    if (const Status valid = types_of_region(cx, *region).check(); !valid) return reject(valid.error().message);
    return region;
  }

  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    const auto problem = problem_of(cx, region);
    CHECK(problem.has_value());
    const Machine machine = machine_of(cx);
    std::vector<Variant> result;
    const auto add = [&](std::string name, double estimate_us, const WeightOnlyTuning& tuning) {
      result.push_back(contraction_variant(cx, region, std::move(name), {}, estimate_us));
      result.back().params = to_record(tuning);
    };
    for (const WeightOnlyCandidate& c : rows_candidates(*problem, machine))
      add(c.kernel.name(), c.estimate_us, {c.kernel, {}});
    for (const GemmCandidate& c : expanded_candidates(*problem, machine))
      add(str("expanded, ", c.kernel.name()), c.estimate_us, {{}, c.kernel});
    keep_likeliest(cx, result);
    return result;
  }

  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const WeightOnlyTuning tuning = TRY(from_record<WeightOnlyTuning>(variant.params));
    const steps::WeightOnlyProduct step = TRY(weight_only_step(cx, region));
    StepDraft draft = cuda_step(step, tuning);
    draft.in_place_input = in_place_input(region);
    const KernelSource source = tuning.rows ? source_of(*tuning.rows, step.epilogue)
                                            : source_of(*tuning.expanded, types_of_region(cx, region), step.epilogue);
    draft.binary = TRY(compile_kernel(cx, source));
    return draft;
  }
};

}  // namespace

const Tactic& weight_only_tactic() { return the<WeightOnlyProducts>(); }

}  // namespace kiln::cuda
