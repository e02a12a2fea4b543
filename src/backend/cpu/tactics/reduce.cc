/// Reductions: kernels/lanes takes axes that are neighbours in memory, and a format brings others together.
#include "tactics/reduce.h"

#include "backend/cpu/kernels/lanes/reduce.h"
#include "backend/cpu/tactics/registry.h"

namespace kiln::cpu {
namespace {

class ReduceTactic final : public ReduceRegions {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    return cpu_step(reduce_step(cx.graph, region.nodes[0], variant.inputs[0]));
  }

 private:
  std::string_view why_not(DType x, DType y) const override {
    return can_reduce(x, y) ? "" : "the kernel takes f32, f16, bf16, i32 and i64";
  }
  bool moves_axes() const override { return true; }
};

}  // namespace

template <>
TacticList tactics_of<ops::Reduce>() {
  static const ReduceTactic tactic;
  static const Tactic* const kList[] = {&tactic};
  return kList;
}

}  // namespace kiln::cpu
