// A first layer on sm_90a: a convolution of pictures with few channels, as they come (channels first or last), one
// group. A block keeps the weights and turns the rows that some rows of the result need into pixels of 16 / stride
// bytes in shared memory. There the window of the next result begins 16 bytes behind the last one's, so that without a
// swizzle the pixels as they lie are the product's right operand: its lines overlap, and nothing is copied per tap.
// Sums are out channels by pixels. Rows of taps are padded to 32 bytes; a padded tap has weight zero, but it is
// multiplied: a NaN or an infinity reaches one window further than it should. With two terms there are two filters,
// whose sum the weights are: both are multiplied with the same pixels. A tile is bm (64 or 128) out channels of bn
// pixels of a row. With `pairs` the weights' rows are those of byte_columns.cuh. The prelude has wgmma().
#include "conv/byte_columns.cuh"
#include "conv/columns.cuh"

namespace kiln {

constexpr int kGroups = 2, kLoaders = 256, kThreads = 128 * kGroups + kLoaders;
constexpr int kPixelBytes = 16 / kTile.stride, kMostChannels = kPixelBytes / sizeof(Element);
constexpr int kSteps = (kTile.kernel_w * kPixelBytes + 31) / 32;  ///< of 32 bytes of k, a row of taps
constexpr int kWide =
    (kTile.bn * kTile.parts * kTile.stride + kSteps * 32 / kPixelBytes + 1) / 2 * 2;  ///< pixels of a row
constexpr int kPitch = kWide * kPixelBytes, kHigh = (kTile.lines - 1) * kTile.stride + kTile.kernel_h,
              kStageBytes = kHigh * kPitch;
constexpr int kTermBytes = kTile.kernel_h * kSteps * 32 * kTile.bm, kWeightBytes = kTile.terms * kTermBytes;
constexpr int kRows = kTile.bm / 64, kBlocks = kTile.bn / 8;
constexpr int kPieces = kTile.lines * kTile.parts, kOfWord = 4 / sizeof(Element);
static_assert(sizeof(Element) <= 2 && kTile.channels <= kMostChannels && (kTile.stride == 1 || kTile.stride == 2) &&
              kTile.bn % kChunk == 0 && kTile.vec <= 8);

/// Matrices of 8 lines of 16 bytes, one behind the other: from one to the next along k, and along the lines.
__device__ __forceinline__ unsigned long long plain_descriptor(unsigned address, unsigned along_k,
                                                               unsigned along_lines) {
  return static_cast<unsigned long long>((address & 0x3FFFF) >> 4) |
         static_cast<unsigned long long>(along_k >> 4) << 16 | static_cast<unsigned long long>(along_lines >> 4) << 32;
}

/// Some lines of results of an image, and parts * bn pixels of each.
struct Turn {
  int image, y, x;
  __device__ Turn(const ConvArguments& args, int index) {
    const int wide = (args.window.out[2] + kTile.bn * kTile.parts - 1) / (kTile.bn * kTile.parts);
    const int high = (args.window.out[1] + kTile.lines - 1) / kTile.lines;
    x = index % wide * (kTile.bn * kTile.parts);
    y = index / wide % high * kTile.lines;
    image = index / wide / high;
  }
};
__device__ __forceinline__ int num_turns(const ConvArguments& args) {
  return (args.window.out[2] + kTile.bn * kTile.parts - 1) / (kTile.bn * kTile.parts) *
         ((args.window.out[1] + kTile.lines - 1) / kTile.lines) * args.images;
}

/// Brings a turn's pixels: two neighbours a thread, zeros outside the picture and beyond its channels. All loads of a
/// round are on their way before the first is waited for.
__device__ __forceinline__ void load_pixels(const ConvArguments& args, const Turn& turn, unsigned stage) {
  const Window& w = args.window;
  const Strides& s = args.x_strides;
  const int y0 = turn.y * kTile.stride - w.pad[1], x0 = turn.x * kTile.stride - w.pad[2];
  const Element* image = args.x + turn.image * s.n;
  constexpr int kPairs = kWide / 2, kAll = kHigh * kPairs,
                kAtOnce = kTile.channels <= 3   ? 6
                          : kTile.channels == 4 ? 4
                                                : 2;
  for (int first = threadIdx.x; first < kAll; first += kLoaders * kAtOnce) {
    Element loaded[kAtOnce][2][kTile.channels];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int index = first + i * kLoaders, y = y0 + index / kPairs, x = x0 + index % kPairs * 2;
      const Element* row = image + min(max(y, 0), w.in[1] - 1) * s.at[1];
#pragma unroll
      for (int p = 0; p < 2; ++p) {
        const Element* from = row + min(max(x + p, 0), w.in[2] - 1) * s.at[2];
#pragma unroll
        for (int c = 0; c < kTile.channels; ++c) loaded[i][p][c] = from[c * s.channel];
      }
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int index = first + i * kLoaders, y = y0 + index / kPairs, x = x0 + index % kPairs * 2;
      if (index >= kAll) break;
      const bool inside = static_cast<unsigned>(y) < static_cast<unsigned>(w.in[1]);
      unsigned words[2][kPixelBytes / 4] = {};
#pragma unroll
      for (int p = 0; p < 2; ++p)
        if (inside && static_cast<unsigned>(x + p) < static_cast<unsigned>(w.in[2]))
#pragma unroll
          for (int c = 0; c < kTile.channels; ++c)
            words[p][c / kOfWord] |= bits_of(loaded[i][p][c]) << c % kOfWord * (32 / kOfWord);
      const unsigned to = stage + index / kPairs * kPitch + index % kPairs * 2 * kPixelBytes;
#pragma unroll
      for (int j = 0; j < kPixelBytes / 8; ++j) {
        const unsigned* four = &words[0][0] + 4 * j;
        store_shared_4(to + j * 16, four[0], four[1], four[2], four[3]);
      }
    }
  }
}

using Sums = float[kRows][kBlocks][4];

/// The sums of bn pixels whose first window begins at `pixels`.
__device__ __forceinline__ void multiply(Sums& sums, unsigned weights, unsigned pixels) {
  begin_wgmma();
#pragma unroll
  for (int term = 0; term < kTile.terms; ++term)
#pragma unroll
    for (int y = 0; y < kTile.kernel_h; ++y)
#pragma unroll
      for (int k = 0; k < kSteps; ++k)
#pragma unroll
        for (int row = 0; row < kRows; ++row)
          wgmma(sums[row],
                plain_descriptor(weights + term * kTermBytes + (y * kSteps + k) * 32 * kTile.bm + row * 1024,
                                 16 * kTile.bm, 128),
                plain_descriptor(pixels + y * kPitch + k * 32, 16, 128), (term | y | k) != 0);
  commit_wgmma();
  wait_wgmma<0>();
#pragma unroll
  for (int row = 0; row < kRows; ++row) settle<Element, kTile.narrow_sums>(sums[row]);
}

/// Finishes a group's pieces, by way of what lies `behind` the stages.
template <bool kPairs, class ForEachPiece>
__device__ __forceinline__ void finish_pieces(const ConvArguments& args, unsigned char* behind, int group,
                                              const ForEachPiece& for_each_piece) {
  if constexpr (kPairs) {
    auto& pixels = reinterpret_cast<BytePixels<kRows, kTile.bn>*>(behind)[group];
    const PairEpilogue<kRows> epilogue(args);
    for_each_piece([&](const Sums& sums, const auto& place) {
      write_byte_columns<kRows, kTile.bn>(args, epilogue, sums, pixels, group, place);
    });
  } else {
    __shared__ ColumnEpilogue<kTile.bm> ends[kGroups];
    ends[group].template load<128>(args.epilogue, args.out_channels, 0, threadIdx.x % 128);
    wait_group(group);
    const Epilogue epilogue = ends[group].get(args.epilogue, 0);
    auto& chunks = reinterpret_cast<Chunk(*)[2]>(behind)[group];
    for_each_piece([&](const Sums& sums, const auto& place) {
      write_columns<kRows, kTile.bn>(args, epilogue, sums, chunks, group, place);
    });
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 1) conv_stem(const __grid_constant__ ConvArguments args) {
  extern __shared__ __align__(128) unsigned char raw[];
  __shared__ alignas(8) unsigned long long barriers[2 * kTile.stages];
  const unsigned weights = shared_address(raw), stages = weights + kWeightBytes;
  const unsigned full = shared_address(barriers), empty = full + 8 * kTile.stages;
  for (int i = threadIdx.x * 16; i < kWeightBytes; i += kThreads * 16)
    *reinterpret_cast<uint4*>(raw + i) = *reinterpret_cast<const uint4*>(reinterpret_cast<const char*>(args.w) + i);
  see_copies();
  if (threadIdx.x == 0) {
    for (int i = 0; i < kTile.stages; ++i) {
      init_barrier(full + 8 * i, kLoaders);
      init_barrier(empty + 8 * i, kGroups);
    }
    publish_barriers();
  }
  __syncthreads();
  pdl_launch();
  pdl_wait();
  const int turns = num_turns(args);
  int stage = 0;
  if (threadIdx.x < kLoaders) {
    leave_registers<88>();
    unsigned parity = 1;
    for (int t = blockIdx.x; t < turns; t += gridDim.x) {
      wait_barrier(empty + 8 * stage, parity);
      load_pixels(args, Turn(args, t), stages + stage * kStageBytes);
      see_copies();
      arrive(full + 8 * stage);
      if (++stage == kTile.stages) stage = 0, parity ^= 1;
    }
  } else {
    take_registers<168>();
    const int group = (threadIdx.x - kLoaders) / 128;
    // Multiplies piece after piece, and has `end(sums, place)` finish each.
    const auto for_each_piece = [&](const auto& end) {
      unsigned parity = 0;
      int first = group;  // of a turn's pieces of rows: groups take them by turns, over all of the block's
      for (int t = blockIdx.x; t < turns; t += gridDim.x) {
        const Turn turn(args, t);
        wait_barrier(full + 8 * stage, parity);
        const auto leave = [&] {
          if (threadIdx.x % 128 == 0) arrive(empty + 8 * stage);
        };
        if (first >= kPieces) leave();
        for (int piece = first; piece < kPieces; piece += kGroups) {
          const int line = piece / kTile.parts, x = piece % kTile.parts * kTile.bn;
          const bool inside = turn.y + line < args.window.out[1] && turn.x + x < args.window.out[2];
          Sums sums;
          if (inside) multiply(sums, weights, stages + stage * kStageBytes + line * kTile.stride * kPitch + x * 16);
          if (piece + kGroups >= kPieces) leave();
          if (!inside) continue;
          const Strides& s = args.y_strides;
          const long long at = args.y_first + turn.image * s.n + (turn.y + line) * s.at[1];
          end(sums, [&](int i, long long& index) {
            index = at + (turn.x + x + i) * s.at[2];
            return turn.x + x + i < args.window.out[2];
          });
        }
        first = (first + kGroups - kPieces % kGroups) % kGroups;
        if (++stage == kTile.stages) stage = 0, parity ^= 1;
      }
    };
    finish_pieces<kTile.pairs>(args, raw + kWeightBytes + kTile.stages * kStageBytes, group, for_each_piece);
  }
}

}  // namespace kiln
