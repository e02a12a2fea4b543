#include "backend/cpu/tactics/matrix_multiply.h"

#include <algorithm>

#include "backend/cpu/tactics/attention.h"
#include "backend/cpu/tactics/half_weights.h"
#include "backend/cpu/tactics/registry.h"
#include "ops/matrix_multiply.h"
#include "tactics/hook.h"
#include "tactics/region.h"

namespace kiln::cpu {
namespace {

bool is_product(const Op& op) { return op.as<ops::MatrixMultiply>() != nullptr; }

class MatrixMultiplyTactic final : public Tactic {
 public:
  std::string_view name() const override { return "gemm"; }

  Match match(const TacticContext& cx, ir::NodeId root) const override {
    Match region = match_contraction(cx, root, is_product, -1, ResultOrder::kRowMajor, region_of);
    if (region && has_hook(*region) && has_vector(cx, region->nodes[0]))
      return reject("a product with a vector has no rows and columns");
    return region;
  }

  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    std::vector<Variant> result;
    if (is_one_matrix(cx.graph.type(region.inputs[1])))
      for (const DType type : half_types(cx, region.inputs[1])) {
        Variant variant = linear_variant(region, str("packed in ", type));
        variant.params.set("weights", name_of(type));
        result.push_back(std::move(variant));
      }
    result.push_back(linear_variant(region, "packed"));
    return result;
  }

  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const auto& op = *cx.graph.node(region.nodes[0]).op.as<ops::MatrixMultiply>();
    StepDraft draft{.executor = "cpu", .kernel = "matrix_multiply"};
    draft.payload.set("transpose_a", op.a == ops::MatrixOp::kTranspose)
        .set("transpose_b", op.b == ops::MatrixOp::kTranspose);
    draft.payload.set("vector_a", op.a == ops::MatrixOp::kVector).set("vector_b", op.b == ops::MatrixOp::kVector);
    if (const Datum* weights = variant.params.find("weights")) draft.payload.set("weights", *weights);
    TRY(add_epilogue(draft, region));
    return draft;
  }

 private:
  /// No batch axes: what a plan packs when it is loaded.
  static bool is_one_matrix(const TensorType& b) {
    return std::all_of(b.shape.begin(), b.shape.end() - std::min(b.rank(), 2),
                       [](const sym::Expr& extent) { return extent == sym::Expr(1); });
  }
  static bool has_vector(const TacticContext& cx, ir::NodeId product) {
    const auto& op = *cx.graph.node(product).op.as<ops::MatrixMultiply>();
    return op.a == ops::MatrixOp::kVector || op.b == ops::MatrixOp::kVector;
  }
  static Match region_of(const TacticContext& cx, ir::NodeId root, const EpilogueMatch& epilogue) {
    if (has_vector(cx, epilogue.contraction) && epilogue.bias != ir::ValueId::kNone)
      return reject("a product with a vector has no bias");
    return contraction_region(cx, root, epilogue);
  }
};

}  // namespace

const Tactic& matrix_multiply_tactic() {
  static const MatrixMultiplyTactic tactic;
  return tactic;
}

template <>
TacticList tactics_of<ops::MatrixMultiply>() {
  static const Tactic* const kList[] = {&attention_tactic(), &matrix_multiply_tactic()};
  return kList;
}

}  // namespace kiln::cpu
