#include "backend/cuda/tactics/normalized_product.h"

#include <algorithm>

#include "backend/cuda/exec/matrix_multiply.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/contraction.h"
#include "backend/cuda/tactics/gated_product.h"
#include "backend/cuda/tactics/kept_floats.h"
#include "backend/cuda/tactics/matrix_multiply.h"
#include "backend/cuda/tactics/registry.h"
#include "ops/normalization.h"
#include "steps/gated_product.h"
#include "steps/normalized_product.h"
#include "tactics/epilogue.h"

namespace kiln::cuda {
namespace {

using steps::NormalizedProduct;

/// The product that ends at `root`, gated or plain, as a normalized one without its norm.
Match product_at(const TacticContext& cx, ir::NodeId root) {
  Match region = gated_product_tactic().match(cx, root);
  NormalizedProduct step;
  if (region) {
    auto gated = from_record<steps::GatedProduct>(region->data);
    CHECK(gated.has_value());
    step = {gated->op, gated->epilogue, std::move(gated->gate)};
  } else {
    region = matrix_multiply_tactic().match(cx, root);
    if (!region) return region;
    if (const auto one = require_one_constant_matrix(cx, *region); !one) return std::unexpected(one.error());
    step.op = *cx.graph.node(region->nodes[0]).op.as<ops::MatrixMultiply>();
    step.epilogue = *epilogue_of(*region);
  }
  if (const Status valid = step.check(); !valid) return reject(valid.error().message);
  region->data = to_record(step);
  return region;
}

class NormalizedProductTactic final : public Tactic {
 public:
  std::string_view name() const override { return "normalized gemm"; }

  Match match(const TacticContext& cx, ir::NodeId root) const override {
    Match region = product_at(cx, root);
    if (!region) return region;
    const ir::ValueId rows = region->inputs[0];
    const auto* norm = cx.graph.producer_as<ops::Normalization>(rows);
    if (!norm) return reject("no normalization makes a");
    const ir::Node& node = cx.graph.node(cx.graph.value(rows).producer);
    const TensorType& type = cx.graph.type(rows);
    if (cx.graph.num_uses(rows) != 1 || cx.graph.is_output(rows)) return reject("others read what is normalized");
    if (!norm->is_rms_of_rows(type.rank())) return reject("what makes a is no RMS normalization of rows");
    if (std::any_of(node.inputs.begin() + 1, node.inputs.end(), [](ir::ValueId v) { return v != ir::ValueId::kNone; }))
      return reject("the normalization has a scale or a bias");
    if (!cx.graph.type(node.inputs[0]).same_type(type)) return reject("the normalization changes the type");
    if (type.dtype == DType::kF32 && needs_all_digits(cx.graph, region->nodes[0]))
      return reject("the product is of a front end that needs all digits");
    NormalizedProduct step = step_of(*region);
    step.epsilon = norm->epsilon;
    region->inputs[0] = node.inputs[0];
    region->nodes.insert(region->nodes.begin(), cx.graph.value(rows).producer);
    region->data = to_record(step);
    if (candidates(cx, *region).empty()) return reject("no kernel normalizes rows of ", type);
    return region;
  }

  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    return product_variants(cx, region, candidates(cx, region), is_packed(cx, region));
  }

  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const ProductTuning tuning = TRY(from_record<ProductTuning>(variant.params));
    const auto step = TRY(from_record<NormalizedProduct>(region.data));
    StepDraft draft = cuda_step(step, tuning);
    draft.in_place_input = in_place_input(region);
    draft.binary = TRY(compile_kernel(
        cx, step.gate ? source_of(*tuning.gemm, step.epilogue, *step.gate) : source_of(*tuning.gemm, step.epilogue)));
    return draft;
  }

 private:
  static NormalizedProduct step_of(const Region& region) {
    auto step = from_record<NormalizedProduct>(region.data);
    CHECK(step.has_value());
    return std::move(*step);
  }
  static bool is_packed(const TacticContext& cx, const Region& region) {
    const NormalizedProduct step = step_of(region);
    return step.gate || packs_b(cx, region, step.op);
  }
  static std::vector<GemmCandidate> candidates(const TacticContext& cx, const Region& region) {
    const NormalizedProduct step = step_of(region);
    auto found = product_candidates(
        cx, region, step.op, {.packs_b = is_packed(cx, region), .columns_each = step.gate ? 2 : 1, .normalized = true});
    if (step.gate) std::erase_if(found, [](const GemmCandidate& c) { return !c.kernel.may_gate(); });
    return found;
  }
};

}  // namespace

const Tactic& normalized_product_tactic() { return the<NormalizedProductTactic>(); }

}  // namespace kiln::cuda
