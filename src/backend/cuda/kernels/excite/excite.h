/// Squeeze and excitation in one kernel: kernels/excite/excite.cuh.
#pragma once

#include <span>

#include "backend/cuda/device/module.h"
#include "backend/cuda/kernels/excite/arguments.h"
#include "backend/cuda/kernels/nest/walk.h"
#include "base/record.h"
#include "tensor/dtype.h"

namespace kiln::cuda {

struct ExciteTuning {
  int64_t blocks = 1;  ///< of a cluster, an image's; a power of two

  static void reflect(auto& self, auto f) { f("blocks", self.blocks); }
};
/// The choices that decide the kernel's code, and how its weights are packed.
struct ExciteKernel {
  DType dtype = DType::kF16, weights = DType::kF16;  ///< of x and y; of both weights: the same or FP32
  int64_t channels = 8, hidden = 1;
  int64_t blocks = 1;  ///< ExciteTuning's

  static constexpr int64_t kThreads = 512;
  int64_t slice() const;  ///< channels of a block between the mean and the gates
};
/// Whether kernels exist: whole vectors of channels, no more of them than threads.
Status validate(const ExciteKernel& kernel);

inline constexpr const char* kExciteEntry = "squeeze_excite";

/// w1 [hidden, channels] and w2 [channels, hidden] of the kernel's type of weights, as its blocks read them.
Bytes pack_excite_weights(const ExciteKernel& kernel, std::span<const std::byte> w1, std::span<const std::byte> w2);

struct ExciteLaunch {
  LaunchShape shape;
  ExciteArgument argument;
};
/// Fails for more elements than the kernel counts, and for weights that exceed shared memory.
Result<ExciteLaunch> excite_launch(const ExciteKernel& kernel, int64_t images, int64_t pixels,
                                   int64_t most_shared_bytes);

}  // namespace kiln::cuda
