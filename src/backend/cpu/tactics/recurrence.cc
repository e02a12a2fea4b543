/// Recurrences of FP32.
#include "tactics/recurrence.h"

#include "backend/cpu/tactics/registry.h"

namespace kiln::cpu {
namespace {

class RecurrenceTactic final : public PlainTactic<RecurrenceRegions> {
 public:
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    const TensorType& x = cx.graph.input_type(root, 0);
    if (x.dtype != DType::kF32) return reject("x is ", x, "; the kernel computes in f32");
    return PlainTactic::match(cx, root);
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Recurrence>() {
  return list_of<RecurrenceTactic>();
}

}  // namespace kiln::cpu
