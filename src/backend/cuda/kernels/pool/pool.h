/// Maximum and average pooling, channels first or last: kernels/pool/pool.cuh.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "backend/cuda/device/kernel_source.h"
#include "backend/cuda/device/module.h"
#include "backend/cuda/kernels/conv/conv.h"
#include "backend/cuda/kernels/nest/walk.h"
#include "tensor/dtype.h"

namespace kiln::cuda {

enum class PoolKind : uint8_t { kMax, kAverage, kBlend };

bool can_pool(PoolKind kind, DType type);
/// The kernels pool_<vec>, and pool_1 for what is not aligned or has no whole vectors. `window`: of pictures; few taps
/// have kernels of their own, also, with `lines`, for columns that lie together.
KernelSource pool_source(DType type, PoolKind kind, int vec, std::span<const int64_t> window = {}, bool lines = false);
/// Whether there are.
bool has_window_kernels(DType type, PoolKind kind, std::span<const int64_t> window);
inline constexpr std::string_view kPoolLinesEntry = "pool_lines";
std::string pool_entry(int vec);

struct PoolShape {
  int64_t n = 1, channels = 1;
  ConvWindow window;
  int32_t pad_after[3] = {0, 0, 0};
  ConvStrides x, y;  ///< of channels: 1 where they are last
  bool excludes_padding = true;
  float blend = 0;
};

/// What kernels take: kernels/pool/pool.cuh declares it, byte for byte.
struct PoolArgument {
  const void* x = nullptr;
  void* y = nullptr;
  WalkArgument walk;
  int64_t x_image = 0, y_image = 0;
  int64_t x_at[3] = {}, y_at[3] = {};
  int32_t in[3] = {}, kernel[3] = {}, stride[3] = {}, dilation[3] = {}, pad[3] = {}, pad_after[3] = {};
  int32_t excludes_padding = 1;
  float blend = 0;
  int32_t rows = 0;
};
struct PoolLaunch {
  LaunchShape shape;
  PoolArgument argument;
};
/// Vectors are of channels and divide them; they need the channels last. Fails for 2^31 outputs.
Result<PoolLaunch> pool_launch(const PoolShape& shape, int vec);
/// Of kPoolLinesEntry; none where columns do not lie together, windows are not dense or lie outside of x, or outputs
/// are few.
Result<std::optional<PoolLaunch>> pool_lines_launch(const PoolShape& shape, int num_sms);

}  // namespace kiln::cuda
