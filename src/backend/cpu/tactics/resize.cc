/// Resampling, row-major or channels last: kernels/resize.
#include "ops/resize.h"

#include <algorithm>

#include "backend/cpu/kernels/resize/resize.h"
#include "backend/cpu/tactics/registry.h"
#include "tactics/region.h"
#include "tactics/resized_axes.h"

namespace kiln::cpu {
namespace {

class ResizeTactic final : public Tactic {
 public:
  std::string_view name() const override { return "resize"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    const ir::Node& node = cx.graph.node(root);
    const auto& op = *node.op.as<ops::Resize>();
    const TensorType& x = cx.graph.type(node.inputs[0]);
    if (bits_of(x.dtype) < 8) return reject("x is ", x, "; elements of less than a byte are not moved");
    if (op.mode != ResizeMode::kNearest && x.dtype != DType::kF32)
      return reject("x is ", x, "; linear and cubic take f32");
    if (op.antialias && op.mode != ResizeMode::kNearest)
      return reject("antialiasing takes more taps than the kernel has");
    const ResizeHas has{is_given(node, 1), is_given(node, 2), is_given(node, 3)};
    const Extents in = x.max_extents(), out = cx.graph.type(node.outputs[0]).max_extents();
    if (const Status tables = check_resize_tables(op, has, in, out); !tables) return reject(tables.error().message);
    const auto resized = static_cast<int>(std::ranges::count(may_be_resized(cx.graph, root), true));
    if (const Status axes = check_resized_axes(op, resized); !axes) return reject(axes.error().message);
    Region region{{root}, {node.inputs[0]}, {node.outputs[0]}, {}};
    if (node.inputs.size() > 2) {
      region.inputs.push_back(node.inputs[2]);
      region.inputs.push_back(node.inputs.size() > 3 ? node.inputs[3] : ir::ValueId::kNone);
    }
    return region;
  }
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    std::vector<Variant> result{linear_variant(region, "row-major")};
    // Scales of the run must fit the extents, which those that a timer would make up do not.
    if (region.inputs.size() > 1) return result;
    const Format last = Format::channels_last(cx.graph.type(region.inputs[0]).rank());
    if (!last.is_linear()) result.push_back({"channels last", {last}, {last}, {}, 0});
    return result;
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant&) const override {
    const ir::Node& node = cx.graph.node(region.nodes[0]);
    StepDraft draft{.executor = "cpu", .kernel = "resize"};
    draft.payload.set("resize", to_record(node.op));
    draft.payload.set("from_sizes", is_given(node, 1));
    return draft;
  }

 private:
  static bool is_given(const ir::Node& node, size_t input) {
    return input < node.inputs.size() && node.inputs[input] != ir::ValueId::kNone;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Resize>() {
  static const ResizeTactic tactic;
  static const Tactic* const kList[] = {&tactic};
  return kList;
}

}  // namespace kiln::cpu
