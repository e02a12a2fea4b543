/// Any op by its reference, in host memory: the fallback, at the cost of copies both ways and of waiting.
#include "steps/reference.h"

#include "backend/cuda/exec/executor.h"
#include "steps/inferred.h"
#include "steps/loaded_op.h"

namespace kiln::cuda {
namespace {

/// Inputs and outputs of one step in host memory.
class BoundReference final : public BoundStep {
 public:
  BoundReference(const Op& op, CudaDevice& device, ReferenceTensors tensors,
                 std::span<const HostTensor* const> constants, std::byte* state)
      : op_(op), device_(device), tensors_(std::move(tensors)), constants_(constants), state_(state) {
    for (size_t i = 0; i < tensors_.inputs.size(); ++i) {
      if (constants[i])
        tensors_.inputs[i].data = const_cast<std::byte*>(constants[i]->bytes().data());
      else if (tensors_.inputs[i].present)
        allocate(tensors_.inputs[i]);
    }
    for (ReferenceTensor& output : tensors_.outputs) allocate(output);
  }

  Status run(const RunArguments& arguments) override {
    Stream& stream = *arguments.stream;
    if (stream.capturing())
      return error(
          Code::kUnsupported, op_.name(),
          " has no CUDA kernel for these types and runs on the host, which a CUDA graph cannot record: enqueue "
          "without a capture");
    for (size_t i = 0; i < tensors_.inputs.size(); ++i)
      if (const ReferenceTensor& input = tensors_.inputs[i]; input.present && !constants_[i])
        TRY(device_.copy_to_host(input.data, arguments.inputs[i], bytes_of(input), stream));
    RandomState state;
    if (state_) TRY(device_.copy_to_host(&state, state_, sizeof(state), stream));
    ReferenceContext context =
        tensors_.context(state_ ? reinterpret_cast<std::byte*>(&state) : nullptr, arguments.sizes);
    TRY(compute_reference(op_, context));
    if (state_) TRY(device_.copy_from_host(state_, &state, sizeof(state), stream));
    for (size_t i = 0; i < tensors_.outputs.size(); ++i)
      TRY(device_.copy_from_host(arguments.outputs[i], tensors_.outputs[i].data, bytes_of(tensors_.outputs[i]),
                                 stream));
    return {};
  }

 private:
  static int64_t bytes_of(const ReferenceTensor& tensor) { return size_bytes(tensor.dtype, volume(tensor.extents)); }
  void allocate(ReferenceTensor& tensor) {
    tensor.data = memory_.emplace_back(static_cast<size_t>(bytes_of(tensor))).data();
  }

  const Op& op_;
  CudaDevice& device_;
  ReferenceTensors tensors_;
  std::span<const HostTensor* const> constants_;
  std::vector<Bytes> memory_;
  std::byte* state_;  ///< on the device
};

}  // namespace

LoadResult load(const steps::Reference& step, const LoadArguments& arguments) {
  const auto bind = [&device = arguments.device, types = StepTypes(arguments.spec),
                     constants = std::vector(arguments.constants.begin(), arguments.constants.end())](
                        const Op& op, const StepShapes& shapes, std::byte* state) -> BindResult {
    TRY(require_inferred(op, types, shapes, constants));
    return std::make_unique<BoundReference>(
        op, device, ReferenceTensors(types, shapes, static_cast<size_t>(types.num_sizes)), constants, state);
  };
  return loaded_op(step.op, bind);
}

}  // namespace kiln::cuda
