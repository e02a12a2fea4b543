/// Sources and choices of the kernels of softmax.
#pragma once

#include "backend/cuda/compile/kernel_source.h"
#include "backend/cuda/kernels/lanes/softmax.h"

namespace kiln::cuda {

KernelSource softmax_source(DType dtype, const SoftmaxTuning& tuning);

/// The best number of elements for a thread to hold of columns that are `length` long, `most` at most; and the width of
/// its vectors where they could be `vec`.
int held_of_columns(int64_t length, int64_t most);
int vector_of_columns(int held, int vec);
/// Width of vectors for many columns of exactly `length` halves that stay as they are stored, `vec` at most; 1 where
/// others are as good.
int vector_of_stored_columns(const SoftmaxShape& shape, int vec);

}  // namespace kiln::cuda
