// Sums of out channels by pixels, on their way to bytes of channels last. They become bytes in the registers, so that a
// quarter of their size goes through shared memory. Rows of each 16 are channels {0, 2, 4, ... 14, 1, 3, ... 15}: a
// thread has neighbours of each pixel, and writes them as one element of transposed matrices.
#pragma once
#include "conv/arguments.cuh"
#include "ptx/hopper.cuh"

namespace kiln {

/// What a thread's channels read, of its pair in each 64 channels; nothing is read for each result.
template <int kRows>
struct PairEpilogue {
  Epilogue::Channels<2> channels[kRows];
  Epilogue::Scalars scalars;
  __device__ __forceinline__ explicit PairEpilogue(const ConvArguments& args) {
    static_assert(Epilogue::Whole<16>::kBytes == 0);
    scalars.fetch(args.epilogue);
    const int first = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4 * 2;
#pragma unroll
    for (int row = 0; row < kRows; ++row)
      if (row * 64 + first < args.out_channels) channels[row].fetch(args.epilogue, row * 64 + first);
  }
};

/// Bytes of kPixels pixels; the padding keeps a matrix' lines in different banks.
template <int kRows, int kPixels>
struct BytePixels {
  static constexpr int kPitch = kRows * 64 + 16;
  alignas(16) unsigned char at[kPixels * kPitch];
};

/// Finishes a group's kRows times 64 out channels of kPixels pixels. `place(i, index)` sets where pixel i lies in y,
/// and returns false if it lies outside.
template <int kRows, int kPixels, class Place>
__device__ __forceinline__ void write_byte_columns(const ConvArguments& args, const PairEpilogue<kRows>& epilogue,
                                                   const float (&sums)[kRows][kPixels / 8][4],
                                                   BytePixels<kRows, kPixels>& pixels, int group, const Place& place) {
  static_assert(sizeof(Result) == 1 && kPixels % 16 == 0, "pairs of matrices");
  constexpr int kPitch = BytePixels<kRows, kPixels>::kPitch, kVectors = kRows * 4;
  const int thread = threadIdx.x % 128, lane = thread % 32;
  const unsigned to = shared_address(pixels.at) + lane % 16 * kPitch + thread / 32 * 16;
  sync_threads<128>(1 + group);  // all have read the last ones
#pragma unroll
  for (int row = 0; row < kRows; ++row)
#pragma unroll
    for (int j = 0; j < kPixels / 8; j += 2) {
      unsigned words[2];
#pragma unroll
      for (int b = 0; b < 2; ++b) {
        float x[2][2];  // of two pixels
#pragma unroll
        for (int pixel = 0; pixel < 2; ++pixel) {
          x[pixel][0] = sums[row][j + b][pixel], x[pixel][1] = sums[row][j + b][2 + pixel];
          Epilogue::apply(x[pixel], Epilogue::Whole<2>(), epilogue.channels[row], epilogue.scalars);
        }
        words[b] = pack4<Result>(x[0][0], x[0][1], x[1][0], x[1][1]);
      }
      store_matrices_transposed(to + j * 8 * kPitch + row * 64, words);
    }
  sync_threads<128>(1 + group);
#pragma unroll
  for (int i = thread; i < kPixels * kVectors; i += 128) {
    const int pixel = i / kVectors, channel = i % kVectors * 16;
    long long index;
    if (channel >= args.out_channels || !place(pixel, index)) continue;
    const uint4 bytes = *reinterpret_cast<const uint4*>(pixels.at + pixel * kPitch + channel);
    store_global_4(reinterpret_cast<unsigned*>(args.y + index + channel), bytes.x, bytes.y, bytes.z, bytes.w);
  }
}

}  // namespace kiln
