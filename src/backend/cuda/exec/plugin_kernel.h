/// What a plugin's kernel takes, seen before it is launched.
#pragma once

#include "backend/cuda/device/module.h"
#include "steps/plugin_kernel.h"

namespace kiln::cuda {

/// How many arguments the kernel wants behind those that the plugin names. They are addresses, for a compiler's own
/// purposes (Triton's scratch memory, which a kernel that does without it never touches), and null. Fails where the
/// kernel takes other arguments than the plugin names. A driver before CUDA 12.4 cannot tell: then it is as many as any
/// compiler adds.
Result<size_t> num_spare_arguments(const Function& function, const steps::PluginKernel& kernel, size_t num_inputs,
                                   size_t num_outputs);

}  // namespace kiln::cuda
