/// Any op by its reference, in host memory: the fallback, at the cost of copies both ways and of waiting.
#include "steps/reference.h"
#include "backend/cuda/exec/executor.h"
#include "ops/fill.h"
#include "ops/reference_context.h"
#include "steps/inferred.h"
#include "steps/keeps_state.h"

namespace kiln::cuda {
namespace {

/// Inputs and outputs of one step in host memory.
class BoundReference final : public BoundStep {
 public:
  BoundReference(const Op& op, CudaDevice& device, const StepSpec& spec, std::span<const HostTensor* const> constants,
                 const StepShapes& shapes, std::byte* state)
      : op_(op),
        device_(device),
        constants_(constants),
        input_extents_(shapes.inputs.begin(), shapes.inputs.end()),
        output_extents_(shapes.outputs.begin(), shapes.outputs.end()),
        state_(state) {
    for (size_t i = 0; i < spec.inputs.size(); ++i)
      inputs_.push_back(make(spec.inputs[i].dtype, input_extents_[i], spec.inputs[i].present && !constants[i]));
    for (size_t i = 0; i < spec.outputs.size(); ++i)
      outputs_.push_back(make(spec.outputs[i].dtype, output_extents_[i], true));
    for (size_t i = 0; i < inputs_.size(); ++i) {
      inputs_[i].tensor.present = spec.inputs[i].present;
      if (constants[i]) inputs_[i].tensor.data = const_cast<std::byte*>(constants[i]->bytes().data());
    }
  }

  Status run(const RunArguments& arguments) override {
    Stream& stream = *arguments.stream;
    if (stream.capturing())
      return error(
          Code::kUnsupported, op_.name(),
          " has no CUDA kernel for these types and runs on the host, which a CUDA graph cannot record: enqueue "
          "without a capture");
    for (size_t i = 0; i < inputs_.size(); ++i)
      if (inputs_[i].tensor.present && !constants_[i])
        TRY(device_.copy_to_host(inputs_[i].bytes.data(), arguments.inputs[i], inputs_[i].size(), stream));
    std::vector<ReferenceTensor> inputs, outputs;
    for (const Staged& staged : inputs_) inputs.push_back(staged.tensor);
    for (const Staged& staged : outputs_) outputs.push_back(staged.tensor);
    RandomState state;
    if (state_) TRY(device_.copy_to_host(&state, state_, sizeof(state), stream));
    ReferenceContext context(inputs, outputs, state_ ? reinterpret_cast<std::byte*>(&state) : nullptr);
    TRY(compute_reference(op_, context));
    if (state_) TRY(device_.copy_from_host(state_, &state, sizeof(state), stream));
    for (size_t i = 0; i < outputs_.size(); ++i)
      TRY(device_.copy_from_host(arguments.outputs[i], outputs_[i].bytes.data(), outputs_[i].size(), stream));
    return {};
  }

 private:
  struct Staged {
    Bytes bytes;
    ReferenceTensor tensor;
    int64_t size() const { return static_cast<int64_t>(bytes.size()); }
  };
  static Staged make(DType dtype, const Extents& extents, bool allocates) {
    Staged staged;
    if (allocates) staged.bytes.resize(static_cast<size_t>(size_bytes(dtype, volume(extents))));
    staged.tensor = {dtype, extents, staged.bytes.data(), true};
    return staged;
  }

  const Op& op_;
  CudaDevice& device_;
  std::span<const HostTensor* const> constants_;
  std::vector<Extents> input_extents_, output_extents_;
  std::vector<Staged> inputs_, outputs_;
  std::byte* state_;  ///< on the device
};

class LoadedReference final : public KeepsState {
 public:
  LoadedReference(Op op, const LoadArguments& arguments)
      : op_(std::move(op)),
        device_(arguments.device),
        spec_(arguments.spec),
        constants_(arguments.constants.begin(), arguments.constants.end()) {}
  std::vector<std::byte> initial_state() const override { return kiln::initial_state(op_); }

 protected:
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes, std::byte* state) const override {
    TRY(require_inferred(op_, spec_, shapes, constants_));
    return std::make_unique<BoundReference>(op_, device_, spec_, constants_, shapes, state);
  }

 private:
  Op op_;
  CudaDevice& device_;
  StepSpec spec_;
  std::vector<const HostTensor*> constants_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Reference& step, const LoadArguments& arguments) {
  return std::make_unique<LoadedReference>(step.op, arguments);
}

}  // namespace kiln::cuda
