#include "backend/cpu/tactics/lower.h"

#include "tactics/retype.h"

namespace kiln::cpu {
namespace {

bool is_half(DType t) { return t == DType::kF16 || t == DType::kBF16; }

class InFloat final : public RetypeRules {
 public:
  explicit InFloat(bool rounds_values) : rounds_values_(rounds_values) {}
  DType compute_type(const ir::Graph&, ir::NodeId, DType) override { return DType::kF32; }
  bool rounds_values() const override { return rounds_values_; }

 private:
  const bool rounds_values_;
};

}  // namespace

Status lower_to_float(ir::Graph& graph, const Numerics& numerics) {
  if (!has_type(graph, &is_half)) return {};
  InFloat rules(numerics.strongly_typed);
  graph = TRY(retype(graph, rules));
  return {};
}

}  // namespace kiln::cpu
