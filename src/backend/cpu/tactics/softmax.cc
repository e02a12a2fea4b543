/// Softmax of rows in cache: kernels/lanes.
#include "ops/softmax.h"

#include "backend/cpu/tactics/registry.h"
#include "steps/softmax.h"
#include "tactics/region.h"

namespace kiln::cpu {
namespace {

class SoftmaxTactic final : public Tactic {
 public:
  std::string_view name() const override { return "softmax"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    const TensorType& x = cx.graph.input_type(root, 0);
    if (x.dtype != DType::kF32 && x.dtype != DType::kF16 && x.dtype != DType::kBF16)
      return reject("x is ", x, "; the kernel takes f32, f16 and bf16");
    return single_node_region(cx.graph, root);
  }
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    std::vector<Variant> result{linear_variant(region, "row-major")};
    // Along the channels of a channels-last tensor the lanes are contiguous.
    const TensorType& x = cx.graph.type(region.inputs[0]);
    if (x.rank() >= 3 && axis_of(cx, region) == 1) {
      const Format last = Format::channels_last(x.rank());
      result.push_back({"channels last", {last}, {last}, {}, 0});
    }
    return result;
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const int rank = cx.graph.type(region.inputs[0]).rank();
    StepDraft draft = cpu_step(steps::Softmax{.axis = variant.inputs[0].is_linear() ? axis_of(cx, region) : rank - 1});
    draft.in_place_input = 0;
    return draft;
  }

 private:
  static int axis_of(const TacticContext& cx, const Region& region) {
    const int rank = cx.graph.type(region.inputs[0]).rank();
    return *normalize_axis(cx.graph.node(region.nodes[0]).op.as<ops::Softmax>()->axis, rank);
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Softmax>() {
  static const SoftmaxTactic tactic;
  static const Tactic* const kList[] = {&tactic};
  return kList;
}

}  // namespace kiln::cpu
