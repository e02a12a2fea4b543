/// How tactics make a step's code.
#pragma once

#include "backend/cuda/compile/compiler.h"
#include "backend/cuda/tactics/backend.h"
#include "tactics/quantization.h"
#include "tactics/step_draft.h"

namespace kiln::cuda {

/// The cubin of a kernel for the context's device.
inline Result<std::shared_ptr<const Bytes>> compile_kernel(const TacticContext& cx, const KernelSource& source) {
  return compiler_of(device_of(cx)).compile(source);
}

/// The bytes that kernels for the context's device make of results in floats.
inline QuantizedTo quantized_to(const TacticContext& cx) {
  const auto& device = device_of(cx).properties();
  const bool has_fp8 = device.compute_major * 10 + device.compute_minor >= 89;
  return has_fp8 ? QuantizedTo::kIntegersAndFp8 : QuantizedTo::kIntegers;
}

/// A step of this backend, with what was chosen for it.
inline StepDraft cuda_step(StepDraft draft) {
  draft.executor = "cuda";
  return draft;
}
inline StepDraft cuda_step(AnyStep step) { return cuda_step(step_draft(std::move(step))); }
template <Reflected Tuning>
StepDraft cuda_step(StepDraft draft, const Tuning& tuning) {
  draft.tuning = to_record(tuning);
  return cuda_step(std::move(draft));
}
template <Reflected Tuning>
StepDraft cuda_step(AnyStep step, const Tuning& tuning) {
  return cuda_step(step_draft(std::move(step)), tuning);
}

}  // namespace kiln::cuda
