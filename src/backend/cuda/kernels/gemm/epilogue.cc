#include "backend/cuda/kernels/gemm/epilogue.h"

#include "ops/quantization.h"

namespace kiln::cuda {

Status validate(const Epilogue& epilogue) {
  if (!epilogue.hook) return {};
  const steps::Hook& hook = *epilogue.hook;
  TRY(require(hook.operands.size() <= EpilogueArguments::kMostOfHook, "an epilogue reads ", hook.operands.size(),
              " tensors; ", EpilogueArguments::kMostOfHook, " are possible"));
  for (const DType type : hook.program.inputs)
    TRY(require(is_kernel_float(type) || is_byte(type) || type == DType::kF8E4M3, "an epilogue reads ", type,
                "; it takes f32, f16, bf16 and bytes"));
  TRY(require(is_kernel_float(hook.program.outputs[0]), "an epilogue makes ", hook.program.outputs[0],
              "; it makes f32, f16 and bf16"));
  return {};
}

}  // namespace kiln::cuda
