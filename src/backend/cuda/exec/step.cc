#include "backend/cuda/exec/step.h"

namespace kiln::cuda {

Result<StepInputs> StepInputs::upload(const LoadArguments& arguments) {
  StepInputs inputs(arguments);
  TRY(inputs.upload_rest(arguments));
  return inputs;
}

Status StepInputs::put(size_t input, const LoadArguments& arguments, std::span<const std::byte> bytes) {
  constants_[input] = TRY(arguments.upload(bytes));
  packed_bytes_ += static_cast<int64_t>(bytes.size());
  return {};
}

Status StepInputs::upload_rest(const LoadArguments& arguments) {
  for (size_t i = 0; i < constants_.size(); ++i)
    if (i < arguments.constants.size() && arguments.constants[i] && !constants_[i])
      constants_[i] = TRY(arguments.upload(arguments.constants[i]->bytes()));
  return {};
}

Result<StepCode> StepCode::load(const LoadArguments& arguments) {
  if (arguments.spec.binary.empty())
    return error(Code::kCorrupt, "a step runs the CUDA kernel '", arguments.spec.step.name(),
                 "' and has no code for it");
  StepCode code;
  code.module_ = TRY(arguments.device.load(arguments.spec.binary));
  return code;
}

Status require_aligned(const RunArguments& run, size_t num_inputs, int64_t bytes) {
  uintptr_t all = reinterpret_cast<uintptr_t>(run.outputs[0]);
  for (size_t i = 0; i < num_inputs; ++i) all |= reinterpret_cast<uintptr_t>(run.inputs[i]);
  if (all % static_cast<uintptr_t>(bytes) == 0) [[likely]]
    return {};
  return error(Code::kInvalidArgument, "an address that it is given is not aligned to ", bytes,
               " bytes, as its kernel needs; TensorRT asks for 256 of every tensor");
}

}  // namespace kiln::cuda
