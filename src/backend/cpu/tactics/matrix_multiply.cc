#include "backend/cpu/tactics/matrix_multiply.h"

#include <algorithm>

#include "backend/cpu/kernels/gemm/tuning.h"
#include "backend/cpu/tactics/attention.h"
#include "backend/cpu/tactics/byte_products.h"
#include "backend/cpu/tactics/half_weights.h"
#include "backend/cpu/tactics/registry.h"
#include "backend/cpu/tactics/weight_only_products.h"
#include "steps/product_in_kind.h"
#include "tactics/matrix_multiply.h"
#include "tactics/region.h"
#include "tactics/whole_node.h"

namespace kiln::cpu {
namespace {

class MatrixMultiplyTactic final : public ProductRegions {
 public:
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    std::vector<Variant> result;
    if (is_one_matrix(cx.graph.type(region.inputs[1])))
      for (const DType type : half_types(cx, region.inputs[1])) {
        result.push_back(linear_variant(region, str("packed in ", type)));
        result.back().params = to_record(ProductTuning{ContractionTypes{.b = type}});
      }
    result.push_back(linear_variant(region, "packed"));
    return result;
  }

  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const auto tuning = TRY(from_record<ProductTuning>(variant.params));
    StepDraft draft = cpu_step(TRY(product_step(cx, region)), tuning);
    if (tuning.types && !may_round(cx, region.inputs[1], tuning.types->b)) draft.decided_by = {region.inputs[1]};
    draft.in_place_input = in_place_input(region);
    return draft;
  }

 private:
  /// No batch axes: what a plan packs when it is loaded.
  static bool is_one_matrix(const TensorType& b) {
    return std::all_of(b.shape.begin(), b.shape.end() - std::min(b.rank(), 2),
                       [](const sym::Expr& extent) { return extent == sym::Expr(1); });
  }
  bool takes_halves() const override { return false; }
};

}  // namespace

const Tactic& matrix_multiply_tactic() { return the<MatrixMultiplyTactic>(); }

template <>
TacticList tactics_of<ops::MatrixMultiply>() {
  static const Tactic* const kList[] = {&attention_tactic(), &byte_product_tactic(), &weight_only_tactic(),
                                        &matrix_multiply_tactic(),
                                        &the<PlainTactic<WholeNode<ops::MatrixMultiply, steps::ProductInKind>>>()};
  return kList;
}

}  // namespace kiln::cpu
