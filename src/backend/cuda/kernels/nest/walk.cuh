// How kernels walk strided tensors: a linear index is split into coordinates, outermost axis first.
#pragma once

#include "backend/cuda/kernels/nest/arguments.h"
#include "device.cuh"

namespace kiln {

using cuda::Divisor;
using cuda::kMaxAxes;
using Walk = cuda::WalkArgument;
using WideWalk = cuda::WideWalkArgument;
template <class Offset>
using Operand = cuda::OperandArgument<Offset>;

}  // namespace kiln
