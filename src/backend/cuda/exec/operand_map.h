/// Tensor maps, which kernels' copy engine (TMA) reads through.
#pragma once

#include "backend/cuda/device/driver.h"
#include "backend/cuda/kernels/gemm/hopper.h"

namespace kiln::cuda {

/// A tensor map of memory that may lie elsewhere at every run.
class OperandMap {
 public:
  Status encode(const Driver& driver, const MapPlan& plan, const void* address);
  void* argument() { return &map_; }

 private:
  TensorMap map_{};
  const void* address_ = nullptr;
};

}  // namespace kiln::cuda
