#include "backend/cuda/kernels/excite/excite.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {
namespace {

constexpr int64_t kThreads = ExciteKernel::kThreads, kStep = 8, kMostBlocks = 16;

int64_t vector_of(DType type) { return 16 / bytes_of(type); }

/// Shared memory that ExciteBlock lays out, without a stage.
int64_t shared_bytes_of(const ExciteKernel& k) {
  const int64_t weights = 2 * k.hidden * k.slice() * bytes_of(k.weights);
  const int64_t floats = 2 * k.blocks * k.slice() + k.slice() + kThreads * vector_of(k.dtype) +
                         ceil_div(k.blocks * k.hidden, 4) * 4 + ceil_div(k.hidden, 4) * 4;
  return weights + floats * 4;
}

}  // namespace

int64_t ExciteKernel::slice() const { return ceil_div(ceil_div(channels, blocks), kStep) * kStep; }

Status validate(const ExciteKernel& k) {
  TRY(require(is_kernel_float(k.dtype), "no kernel squeezes and excites ", k.dtype));
  TRY(require(k.weights == k.dtype || k.weights == DType::kF32, "no kernel squeezes and excites ", k.dtype, " by ",
              k.weights));
  const int64_t vector = vector_of(k.dtype);
  TRY(require(k.channels > 0 && k.channels % kStep == 0 && k.channels / vector <= kThreads,
              "squeeze and excitation of ", k.channels, " channels; its kernel takes multiples of ", kStep, " up to ",
              kThreads * vector));
  TRY(require(k.hidden >= 1 && k.hidden <= k.channels, "squeeze and excitation of ", k.channels,
              " channels cannot have ", k.hidden, " hidden ones"));
  return require(k.blocks >= 1 && k.blocks <= kMostBlocks && std::has_single_bit(static_cast<uint64_t>(k.blocks)),
                 "squeeze and excitation cannot have clusters of ", k.blocks, " blocks");
}

Bytes pack_excite_weights(const ExciteKernel& k, std::span<const std::byte> w1, std::span<const std::byte> w2) {
  const auto size = static_cast<size_t>(bytes_of(k.weights));
  const int64_t slice = k.slice();
  Bytes packed(static_cast<size_t>(2 * k.blocks * k.hidden * slice) * size);
  const auto put = [&](int64_t to, std::span<const std::byte> from, int64_t at) {
    std::memcpy(packed.data() + static_cast<size_t>(to) * size, from.data() + static_cast<size_t>(at) * size, size);
  };
  for (int64_t c = 0; c < k.channels; ++c)
    for (int64_t h = 0; h < k.hidden; ++h) {
      const int64_t block = c / slice, first = (2 * block * k.hidden + h) * slice + c % slice;
      put(first, w1, h * k.channels + c);
      put(first + k.hidden * slice, w2, c * k.hidden + h);
    }
  return packed;
}

Result<ExciteLaunch> excite_launch(const ExciteKernel& k, int64_t images, int64_t pixels, int64_t most_shared_bytes) {
  constexpr int64_t kMost = int64_t{1} << 30;
  ExciteLaunch launch;
  ExciteArgument& a = launch.argument;
  TRY(require(pixels < kMost / k.channels && images < kMost / k.blocks, "squeeze and excitation of ", images,
              " images of ", pixels, " pixels; its kernel counts to 2^30"));
  a.pixels = static_cast<int32_t>(pixels);
  a.channels = static_cast<int32_t>(k.channels);
  a.hidden = static_cast<int32_t>(k.hidden);
  a.slice = static_cast<int32_t>(k.slice());
  a.pixels_of_block = static_cast<int32_t>(ceil_div(pixels, k.blocks));
  a.share = 1.0f / static_cast<float>(pixels);
  const int64_t vectors = k.channels / vector_of(k.dtype);
  a.rows = static_cast<int32_t>(kThreads / vectors);
  a.by_vectors = divisor_of(vectors);
  a.by_quads = divisor_of(k.channels / 4);
  a.by_slice = divisor_of(k.slice());
  launch.shape.block[0] = static_cast<uint32_t>(kThreads);
  launch.shape.grid[0] = pixels > 0 ? grid_blocks(images * k.blocks) : 0;
  launch.shape.cluster = static_cast<uint32_t>(k.blocks);
  launch.shape.pdl = true;
  const int64_t least = shared_bytes_of(k), staged = least + a.pixels_of_block * k.channels * bytes_of(k.dtype);
  TRY(require(least <= most_shared_bytes, "squeeze and excitation of ", k.channels, " channels through ", k.hidden,
              " takes ", least, " bytes of shared memory; there are ", most_shared_bytes));
  a.staged = staged <= most_shared_bytes;
  launch.shape.shared_bytes = static_cast<uint32_t>(a.staged ? staged : least);
  return launch;
}

}  // namespace kiln::cuda
