#include "backend/cpu/tactics/lower.h"

#include "ir/precision.h"
#include "tactics/retype.h"

namespace kiln::cpu {
namespace {

bool is_half(DType t) { return t == DType::kF16 || t == DType::kBF16; }

/// The half that a layer's precision is.
std::optional<DType> half_of(const ir::Node& node) {
  const auto precision = ir::float_precision_of(node);
  return precision && is_half(*precision) ? precision : std::nullopt;
}

class InFloat final : public RetypeRules {
 public:
  explicit InFloat(bool rounds_values) : rounds_values_(rounds_values) {}
  DType compute_type(const ir::Graph&, ir::NodeId, DType) override { return DType::kF32; }
  std::optional<DType> rounds_to(const ir::Graph& graph, ir::NodeId id) override {
    return rounds_values_ ? std::nullopt : half_of(graph.node(id));
  }
  bool rounds_values() const override { return rounds_values_; }

 private:
  const bool rounds_values_;
};

}  // namespace

Status lower_to_float(ir::Graph& graph, const Numerics& numerics) {
  if (!has_type(graph, &is_half) && !ir::has_precision(graph, &is_half)) return {};
  InFloat rules(numerics.strongly_typed);
  graph = TRY(retype(graph, rules));
  return {};
}

}  // namespace kiln::cpu
