#include "backend/cuda/tactics/gated_product.h"

#include <algorithm>

#include "backend/cuda/exec/matrix_multiply.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/contraction.h"
#include "backend/cuda/tactics/matrix_multiply.h"
#include "backend/cuda/tactics/registry.h"
#include "steps/gated_product.h"
#include "tactics/chain.h"
#include "tactics/matrix_multiply.h"

namespace kiln::cuda {
namespace {

using ir::ValueId;

/// Whether `view` is one half of the last axis of the whole `source`: its first number's column, or nothing.
std::optional<int64_t> half_of(const StridedView& view, const TensorType& source, int64_t half) {
  const size_t rank = source.shape.size();
  if (view.extents.size() != rank || view.extents.back() != sym::Expr(half)) return {};
  sym::Expr stride(1);
  for (size_t axis = rank; axis-- > 0; stride = stride * source.shape[axis]) {
    if (axis + 1 < rank && view.extents[axis] != source.shape[axis]) return {};
    if (view.extents[axis] != sym::Expr(1) && view.strides[axis] != stride) return {};
  }
  for (const int64_t first : {int64_t{0}, half})
    if (view.offset == sym::Expr(first)) return first;
  return {};
}

/// A chain that reads two halves of one value's columns, and nothing else.
struct Gate {
  ValueId sums = ValueId::kNone;
  std::vector<ir::NodeId> nodes;
  NestProgram program;  ///< of a number of the first half and one of the second
};

std::expected<Gate, Reject> gate_of(const ir::Graph& graph, ir::NodeId root) {
  auto chain = grow_chain(graph, root, is_hook_type, ChainReach::kViews);
  if (!chain) return std::unexpected(chain.error());
  if (chain->leaves.size() != 2 || !chain->views[0] || !chain->views[1] ||
      chain->views[0]->source != chain->views[1]->source)
    return reject("the chain does not read two parts of one value alone");
  const ValueId sums = chain->views[0]->source;
  const TensorType& type = graph.type(sums);
  const std::optional<int64_t> columns = type.rank() >= 2 ? type.shape.back().constant() : std::nullopt;
  if (!columns || *columns % 2 != 0) return reject("the value it reads, ", type, ", has no two halves of columns");
  const auto first = half_of(*chain->views[0], type, *columns / 2),
             second = half_of(*chain->views[1], type, *columns / 2);
  if (!first || !second || *first == *second) return reject("it does not read the two halves of the columns of ", type);
  const auto within = [&](ir::NodeId user) { return std::ranges::count(chain->nodes, user) > 0; };
  if (graph.is_output(sums) || !std::ranges::all_of(graph.value(sums).users, within))
    return reject("others read the value whose halves it reads");
  return Gate{sums, std::move(chain->nodes), reordered(std::move(chain->program), *first == 0 ? 0 : 1)};
}

class GatedProductTactic final : public Tactic {
 public:
  std::string_view name() const override { return "gated gemm"; }

  Match match(const TacticContext& cx, ir::NodeId root) const override {
    auto gate = gate_of(cx.graph, root);
    if (!gate) return std::unexpected(gate.error());
    const ir::NodeId end = cx.graph.value(gate->sums).producer;
    if (end == ir::NodeId::kNone) return reject("the value whose halves it reads is computed by nothing");
    Match region = matrix_multiply_tactic().match(cx, end);
    if (!region) return region;
    if (const auto one = require_one_constant_matrix(cx, *region); !one) return std::unexpected(one.error());
    const ValueId bias = region->inputs[steps::Epilogue::kBias];
    if (bias != ValueId::kNone && !cx.graph.constant(bias)) return reject("the bias is no constant");
    if (region->inputs.size() != steps::GatedProduct::kNumInputs)
      return reject("the sums have more than a bias before their gate");
    const steps::GatedProduct step{product_of(cx, *region), *epilogue_of(*region), std::move(gate->program)};
    if (const Status valid = step.check(); !valid) return reject(valid.error().message);
    region->nodes.insert(region->nodes.end(), gate->nodes.begin(), gate->nodes.end());
    region->outputs = {cx.graph.node(root).outputs[0]};
    region->data = to_record(step);
    if (candidates(cx, *region).empty())
      return reject("no kernel ends pairs of columns of ", cx.graph.type(region->inputs[1]));
    return region;
  }

  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    return product_variants(cx, region, candidates(cx, region), /*packs=*/true);
  }

  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const ProductTuning tuning = TRY(from_record<ProductTuning>(variant.params));
    const auto step = TRY(from_record<steps::GatedProduct>(region.data));
    StepDraft draft = cuda_step(step, tuning);
    draft.binary = TRY(compile_kernel(cx, source_of(*tuning.gemm, step.epilogue, step.gate)));
    return draft;
  }

 private:
  static std::vector<GemmCandidate> candidates(const TacticContext& cx, const Region& region) {
    const auto step = from_record<steps::GatedProduct>(region.data);
    CHECK(step.has_value());
    auto found = product_candidates(cx, region, step->op, {.packs_b = true, .columns_each = 2});
    std::erase_if(found, [](const GemmCandidate& candidate) { return !candidate.kernel.may_gate(); });
    return found;
  }
};

}  // namespace

const Tactic& gated_product_tactic() { return the<GatedProductTactic>(); }

}  // namespace kiln::cuda
