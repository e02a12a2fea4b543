/// Any op by its reference, on dense row-major tensors: the fallback.
#include "steps/reference.h"
#include "backend/cpu/exec/executor.h"
#include "ops/fill.h"
#include "ops/reference_context.h"
#include "steps/inferred.h"
#include "steps/keeps_state.h"

namespace kiln::cpu {
namespace {

class BoundReference final : public BoundStep {
 public:
  BoundReference(const Op& op, const StepSpec& spec, const StepShapes& shapes, std::byte* state)
      : op_(op),
        input_extents_(shapes.inputs.begin(), shapes.inputs.end()),
        output_extents_(shapes.outputs.begin(), shapes.outputs.end()),
        state_(state) {
    for (size_t i = 0; i < spec.inputs.size(); ++i)
      inputs_.push_back({spec.inputs[i].dtype, input_extents_[i], nullptr, spec.inputs[i].present});
    for (size_t i = 0; i < spec.outputs.size(); ++i)
      outputs_.push_back({spec.outputs[i].dtype, output_extents_[i], nullptr, true});
  }

  Status run(const RunArguments& arguments) override {
    for (size_t i = 0; i < inputs_.size(); ++i)
      inputs_[i].data = static_cast<std::byte*>(const_cast<void*>(arguments.inputs[i]));
    for (size_t i = 0; i < outputs_.size(); ++i) outputs_[i].data = static_cast<std::byte*>(arguments.outputs[i]);
    ReferenceContext context(inputs_, outputs_, state_);
    return compute_reference(op_, context);
  }

 private:
  const Op& op_;
  std::vector<Extents> input_extents_, output_extents_;
  std::vector<ReferenceTensor> inputs_, outputs_;
  std::byte* state_;
};

class LoadedReference final : public KeepsState {
 public:
  LoadedReference(Op op, const LoadArguments& arguments)
      : op_(std::move(op)), spec_(arguments.spec), constants_(arguments.constants.begin(), arguments.constants.end()) {}
  std::vector<std::byte> initial_state() const override { return kiln::initial_state(op_); }

 protected:
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes, std::byte* state) const override {
    TRY(require_inferred(op_, spec_, shapes, constants_));
    return std::make_unique<BoundReference>(op_, spec_, shapes, state);
  }

 private:
  Op op_;
  StepSpec spec_;
  std::vector<const HostTensor*> constants_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Reference& step, const LoadArguments& arguments) {
  return std::make_unique<LoadedReference>(step.op, arguments);
}

}  // namespace kiln::cpu
