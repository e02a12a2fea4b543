#include "backend/cpu/tactics/matrix_multiply.h"

#include "backend/cpu/tactics/epilogue.h"
#include "backend/cpu/tactics/fallback.h"
#include "backend/cpu/tactics/registry.h"
#include "ops/matrix_multiply.h"

namespace kiln::cpu {
namespace {

bool is_product(const Op& op) { return op.as<ops::MatrixMultiply>() != nullptr; }

class MatrixMultiplyTactic final : public Tactic {
 public:
  std::string_view name() const override { return "gemm"; }

  Match match(const TacticContext& cx, ir::NodeId root) const override {
    auto found = match_epilogue(cx.graph, root, is_product, -1);
    if (!found) return std::unexpected(found.error());
    const ir::Node& product = cx.graph.node(found->contraction);
    const TensorType& a = cx.graph.type(product.inputs[0]);
    if (a.dtype != DType::kF32) return reject("a is ", a, "; the kernel computes in f32");
    const bool has_vector = product.op.as<ops::MatrixMultiply>()->b == ops::MatrixOp::kVector;
    if (has_vector && found->bias != ir::ValueId::kNone)
      return reject("the last axis of a product with a vector has no bias");
    Region region{found->nodes,
                  {product.inputs[0], product.inputs[1], found->bias, found->residual},
                  {cx.graph.node(root).outputs[0]},
                  {}};
    region.data.set("lo", found->lo).set("hi", found->hi);
    return region;
  }

  std::vector<Variant> variants(const TacticContext&, const Region& region) const override {
    return {linear_variant(region, "packed")};
  }

  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant&) const override {
    const auto& op = *cx.graph.node(region.nodes[0]).op.as<ops::MatrixMultiply>();
    StepDraft draft{.executor = "cpu", .kernel = "matrix_multiply"};
    draft.payload.set("transpose_a", op.a == ops::MatrixOp::kTranspose)
        .set("transpose_b", op.b == ops::MatrixOp::kTranspose);
    draft.payload.set("vector_a", op.a == ops::MatrixOp::kVector).set("vector_b", op.b == ops::MatrixOp::kVector);
    draft.payload.set("lo", TRY(region.data.get_double("lo"))).set("hi", TRY(region.data.get_double("hi")));
    if (region.inputs[3] != ir::ValueId::kNone) draft.in_place_input = 3;
    return draft;
  }
};

}  // namespace

const Tactic& matrix_multiply_tactic() {
  static const MatrixMultiplyTactic tactic;
  return tactic;
}

template <>
TacticList tactics_of<ops::MatrixMultiply>() {
  static const Tactic* const kList[] = {&matrix_multiply_tactic()};
  return kList;
}

}  // namespace kiln::cpu
