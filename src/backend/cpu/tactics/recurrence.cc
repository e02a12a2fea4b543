/// Recurrences of FP32 with the product of their input.
#include "tactics/recurrence.h"

#include "backend/cpu/tactics/registry.h"
#include "ops/recurrence.h"

namespace kiln::cpu {
namespace {

class RecurrenceTactic final : public PlainTactic<RecurrenceRegions> {
 public:
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    const TensorType& x = cx.graph.input_type(root, 0);
    if (x.dtype != DType::kF32) return reject("x is ", x, "; the kernel computes in f32");
    if (cx.graph.node(root).inputs[ops::Recurrence::kW] == ir::ValueId::kNone)
      return reject("w is absent; the kernel multiplies x by it");
    return PlainTactic::match(cx, root);
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Recurrence>() {
  return list_of<RecurrenceTactic>();
}

}  // namespace kiln::cpu
