#include "backend/cuda/tactics/matrix_multiply.h"

#include "backend/cuda/compile/gemm/gemm.h"
#include "backend/cuda/exec/matrix_multiply.h"
#include "backend/cuda/tactics/attention.h"
#include "backend/cuda/tactics/byte_products.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/contraction.h"
#include "backend/cuda/tactics/cublaslt.h"
#include "backend/cuda/tactics/normalized_product.h"
#include "backend/cuda/tactics/registry.h"
#include "backend/cuda/tactics/weight_only_products.h"
#include "tactics/matrix_multiply.h"

namespace kiln::cuda {
namespace {

/// An extent at the optimum, and a divisor that it has at all extents of the profile.
struct Extent {
  int64_t opt, divisor;
};
Extent extent_of(const TensorType& type, int axis_from_back, int64_t whole) {
  const sym::Expr e = type.shape[static_cast<size_t>(type.rank() - axis_from_back)];
  return {e.opt(), e.constant() ? power_of_two_in(*e.constant(), whole) : 1};
}

/// Whether b is one matrix, or vector, for all batches.
bool shares_b(const TensorType& b) {
  const size_t batch = static_cast<size_t>(std::max(b.rank() - 2, 0));
  return std::all_of(b.shape.begin(), b.shape.begin() + static_cast<ptrdiff_t>(batch),
                     [](const sym::Expr& e) { return e == sym::Expr(1); });
}
/// Whether both operands move through all batches together, whatever the extents.
bool same_batches(const TensorType& a, const TensorType& b) {
  return a.rank() == b.rank() && a.rank() >= 2 && std::equal(a.shape.begin(), a.shape.end() - 2, b.shape.begin());
}

/// A product: how kernels may read it, and its extents at the optimum.
struct Product {
  GemmTraits traits;
  int64_t m, n, k, batches;
};
Product extents_of(const TacticContext& cx, const Region& region, const ops::MatrixMultiply& op,
                   const ProductWanted& wanted) {
  const TensorType &a = cx.graph.type(region.inputs[0]), &b = cx.graph.type(region.inputs[1]);
  const bool transpose_a = op.a == ops::MatrixOp::kTranspose, transpose_b = op.b == ops::MatrixOp::kTranspose;
  Product p;
  p.traits.types = types_of(cx, region);
  p.traits.tf32 = may_use_tf32(cx, region);
  const int64_t whole = p.traits.types.is_of_bytes() ? 16 : 8;
  const Extent last_a = extent_of(a, 1, whole), last_b = extent_of(b, 1, whole);
  p.k = transpose_a ? extent_of(a, 2, 8).opt : last_a.opt;
  p.m = op.a == ops::MatrixOp::kVector ? 1 : transpose_a ? last_a.opt : extent_of(a, 2, 8).opt;
  Extent n{1, 1};
  if (op.b != ops::MatrixOp::kVector) n = transpose_b ? extent_of(b, 2, 8) : last_b;
  p.n = n.opt;
  p.traits.a_k_major = !transpose_a;
  p.traits.a_align = last_a.divisor;
  p.traits.b_k_major = transpose_b || wanted.packs_b || op.b == ops::MatrixOp::kVector;
  p.traits.b_align = wanted.packs_b ? whole : last_b.divisor;
  p.traits.c_align = std::min<int64_t>(n.divisor, 8);
  p.traits.read_bytes = bytes_read_by_result(cx, region);
  const int64_t sums = volume(cx.graph.type(region.outputs[0]).opt_extents()) * wanted.columns_each;
  p.traits.normalized = wanted.normalized;
  p.batches = std::max<int64_t>(1, sums / std::max<int64_t>(1, p.m * p.n));
  p.traits.b_constant = cx.graph.constant(region.inputs[1]) != nullptr;
  const bool one_matrix = shares_b(b);
  const bool vectors = op.a == ops::MatrixOp::kVector || op.b == ops::MatrixOp::kVector;
  p.traits.one_batch_axis = !vectors && ((one_matrix && !transpose_a) || same_batches(a, b));
  // If all batches share b, their rows form one matrix.
  if (one_matrix && !transpose_a) {
    p.m *= p.batches;
    p.batches = 1;
    const sym::Expr columns = b.shape[static_cast<size_t>(b.rank() - (transpose_b ? 2 : 1))];
    if (!vectors && columns.constant()) p.traits.lane_columns = power_of_two_in(*columns.constant(), 64);
  }
  return p;
}

}  // namespace

bool packs_b(const TacticContext& cx, const Region& region, const ops::MatrixMultiply& op) {
  const HostTensor* b = cx.graph.constant(region.inputs[1]);
  if (!b || op.b == ops::MatrixOp::kVector) return false;
  const Extents& e = b->extents();
  if (volume(std::span(e).first(e.size() - 2)) != 1) return false;
  return op.b != ops::MatrixOp::kTranspose || e.back() % (128 / bits_of(b->dtype())) != 0;
}

std::expected<void, Reject> require_one_constant_matrix(const TacticContext& cx, const Region& region) {
  const TensorType& b = cx.graph.type(region.inputs[1]);
  if (!cx.graph.constant(region.inputs[1])) return reject("b is no constant");
  const Extents extents = *b.extents();
  if (extents.size() < 2 || volume(std::span(extents).first(extents.size() - 2)) != 1)
    return reject("b is ", b, ", no one matrix");
  return {};
}

std::vector<GemmCandidate> product_candidates(const TacticContext& cx, const Region& region,
                                              const ops::MatrixMultiply& op, const ProductWanted& wanted) {
  const Product p = extents_of(cx, region, op, wanted);
  return gemm_candidates(p.traits, p.m, p.n, p.k, p.batches, machine_of(cx));
}

std::vector<Variant> product_variants(const TacticContext& cx, const Region& region, const ops::MatrixMultiply& op) {
  const bool packs = packs_b(cx, region, op);
  return product_variants(cx, region, product_candidates(cx, region, op, {.packs_b = packs}), packs);
}

std::vector<Variant> product_variants(const TacticContext& cx, const Region& region,
                                      std::span<const GemmCandidate> candidates, bool packs) {
  std::vector<Variant> result;
  for (const GemmCandidate& candidate : candidates) {
    result.push_back(contraction_variant(cx, region, candidate.kernel.name(), {}, candidate.estimate_us));
    result.back().params = to_record(ProductTuning{candidate.kernel, packs, {}});
  }
  keep_likeliest(cx, result);
  return result;
}

namespace {

class MatrixMultiplyTactic final : public ProductRegions {
 public:
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    return checked(cx, ProductRegions::match(cx, root));
  }

  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    return product_variants(cx, region, product_of(cx, region));
  }

  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const ProductTuning tuning = TRY(from_record<ProductTuning>(variant.params));
    const steps::MatrixMultiply step = TRY(product_step(cx, region));
    StepDraft draft = cuda_step(step, tuning);
    draft.in_place_input = in_place_input(region);
    draft.binary = TRY(compile_kernel(cx, source_of(*tuning.gemm, step.epilogue)));
    return draft;
  }

 private:
  bool takes_halves() const override { return true; }
};

}  // namespace

const Tactic& matrix_multiply_tactic() { return the<MatrixMultiplyTactic>(); }

template <>
TacticList tactics_of<ops::MatrixMultiply>() {
  static const Tactic* const kList[] = {
      &joined_attention_tactic(), &byte_attention_tactic(),   &attention_tactic(),
      &byte_product_tactic(),     &weight_only_tactic(),      &normalized_product_tactic(),
      &matrix_multiply_tactic(),  &cublaslt_product_tactic(), &cublaslt_byte_tactic()};
  return kList;
}

}  // namespace kiln::cuda
