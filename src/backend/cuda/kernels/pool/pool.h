/// Maximum and average pooling, channels first or last: kernels/pool/pool.cuh.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "backend/cuda/device/module.h"
#include "backend/cuda/kernels/conv/conv.h"
#include "backend/cuda/kernels/nest/walk.h"
#include "backend/cuda/kernels/pool/arguments.h"
#include "base/field.h"
#include "tensor/dtype.h"

namespace kiln::cuda {

enum class PoolKind : uint8_t { kMax, kAverage, kBlend };

/// The choices that a kernel of pool/pieces.cuh is compiled for.
struct PoolPieces {
  int64_t window[2] = {1, 1}, strides[2] = {1, 1}, left = 0;  ///< rows, columns; columns in front of x
  int vec = 1, out = 1, rows = 1;                             ///< columns of a load and of a thread, its rows

  std::string entry() const;
};
/// Pieces of pictures, loaded by `vec` columns, which divide a row; none for other windows than small dense ones of
/// floats.
std::optional<PoolPieces> pool_pieces(DType type, PoolKind kind, std::span<const int64_t> window,
                                      std::span<const int64_t> strides, std::span<const int64_t> dilations,
                                      int64_t left, int vec);

/// Averages of windows that are taller than their steps, channels last: pool/tall.cuh.
struct PoolTall {
  static constexpr int64_t kRows = 2;    ///< of a thread
  int64_t window[2] = {1, 1}, down = 1;  ///< rows of a step

  std::string entry() const;
};
/// None for other windows than small dense ones of floats that share rows.
std::optional<PoolTall> pool_tall(DType type, PoolKind kind, std::span<const int64_t> window,
                                  std::span<const int64_t> strides, std::span<const int64_t> dilations);

/// Whether windows, of pictures, have kernels of their own.
bool has_window_kernels(DType type, PoolKind kind, std::span<const int64_t> window);
inline constexpr std::string_view kPoolLinesEntry = "pool_lines";
std::string pool_entry(int vec);  ///< for loads of so many channels; 1: for what is not aligned, too

struct PoolPiecesTuning {
  int64_t left = 0;  ///< columns in front of x
  int vec = 1;       ///< columns of a load

  static void reflect(auto& self, auto f) { f("left", self.left), f("vec", self.vec); }
};
/// The kernels of a step. Behind `vec`, at most one is there.
struct PoolTuning {
  int vec = 1;                             ///< channels of a load
  bool lines = false;                      ///< one for columns that lie together
  bool tall = false;                       ///< the one for tall windows
  std::optional<PoolPiecesTuning> pieces;  ///< the one for pieces of rows

  static void reflect(auto& self, auto f) {
    f("vec", self.vec), f("lines", self.lines), f("tall", self.tall), f("pieces", self.pieces);
  }
  Status check() const;
};

struct PoolShape {
  int64_t n = 1, channels = 1;
  ConvWindow window;
  int32_t pad_after[3] = {0, 0, 0};
  ConvStrides x, y;  ///< of channels: 1 where they are last
  bool excludes_padding = true;
  float blend = 0;
};

struct PoolLaunch {
  LaunchShape shape;
  PoolArgument argument;
};
/// Vectors are of channels and divide them; they need the channels last. Fails for 2^31 outputs.
Result<PoolLaunch> pool_launch(const PoolShape& shape, int vec);
/// A launch of kPoolLinesEntry; none where columns do not lie together, windows are not dense or lie outside of x, or
/// outputs are few.
Result<std::optional<PoolLaunch>> pool_lines_launch(const PoolShape& shape, int num_sms);
/// None where columns do not lie together, windows or loads are others or lie outside of x.
Result<std::optional<PoolLaunch>> pool_pieces_launch(const PoolShape& shape, const PoolPieces& pieces);
/// None where channels have no whole vectors, or windows are others or lie outside of x.
Result<std::optional<PoolLaunch>> pool_tall_launch(const PoolShape& shape, const PoolTall& tall, DType type);
/// Whether threads of it are many.
bool is_large_tall(DType type, std::span<const int64_t> out, int num_sms);

}  // namespace kiln::cuda
