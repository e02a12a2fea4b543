// Convolution on sm_90a of pictures with few channels in and out, channels last, stride 1, one group: a block keeps
// the weights in shared memory, and the copy engine brings tiles of pixels with all that their windows see, once. A
// tap's pixels are the tile moved: rows of 8 pixels of 128 bytes, swizzled by their address, wherever they begin. Sums
// are bm (64 or 128) out channels by pixels, 8 wide and bn / 8 high. One warp feeds; two groups of four warps take
// tiles by turns, so that one multiplies while the other writes. The prelude has wgmma().
#include "conv/columns.cuh"
#include "conv/joined.cuh"

namespace kiln {

constexpr int kGroups = 2, kThreads = 128 * (kGroups + 1), kStep = 128 / sizeof(Element);
constexpr int kHigh = kTile.bn / 8, kWideIn = 8 + kTile.kernel_w - 1, kHighIn = kHigh + kTile.kernel_h - 1;
constexpr int kPixelBytes = kWideIn * kHighIn * 128, kStageBytes = (kPixelBytes + 1023) / 1024 * 1024;
constexpr int kTaps = kTile.kernel_h * kTile.kernel_w, kTapBytes = kTile.bm * 128, kRows = kTile.bm / 64;

/// A tile of results by its first pixel.
struct Place {
  int image, y, x;
  __device__ Place(const ConvArguments& args, int index) {
    const int wide = (args.window.out[2] + 7) / 8, high = (args.window.out[1] + kHigh - 1) / kHigh;
    x = index % wide * 8;
    y = index / wide % high * kHigh;
    image = index / wide / high;
  }
};
__device__ __forceinline__ int num_tiles(const ConvArguments& args) {
  return (args.window.out[2] + 7) / 8 * ((args.window.out[1] + kHigh - 1) / kHigh) * args.images;
}

/// Groups of eight lines of 128 swizzled bytes, `apart` bytes from group to group.
__device__ __forceinline__ unsigned long long rows_descriptor(unsigned address, unsigned apart) {
  return static_cast<unsigned long long>((address & 0x3FFFF) >> 4) | 1ull << 16 |
         static_cast<unsigned long long>(apart >> 4) << 32 | 1ull << 62;
}

using Sums = float[kRows][kTile.bn / 8][4];

/// Adds the taps of kStep channels.
__device__ __forceinline__ void multiply(Sums& sums, unsigned weights, unsigned pixels, bool first) {
  begin_wgmma();
#pragma unroll
  for (int tap = 0; tap < kTaps; ++tap)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int row = 0; row < kRows; ++row)
        wgmma(sums[row], tile_descriptor(weights + tap * kTapBytes + row * 64 * 128) + 2 * j,
              rows_descriptor(pixels + (tap / kTile.kernel_w * kWideIn + tap % kTile.kernel_w) * 128, kWideIn * 128) +
                  2 * j,
              !first || (tap | j) != 0);
  commit_wgmma();
  wait_wgmma<0>();
#pragma unroll
  for (int row = 0; row < kRows; ++row) settle<Element>(sums[row]);
}

/// Where weights, stages of pixels, and barriers lie: stages', and one for the weights.
struct Shared {
  unsigned weights, pixels, full, empty, kept;
};

__device__ __forceinline__ void begin_barriers(const Shared& shared) {
  for (int i = 0; i < kTile.stages; ++i) {
    init_barrier(shared.full + 8 * i, 1);
    init_barrier(shared.empty + 8 * i, 4 * kGroups);
  }
  init_barrier(shared.kept, 1);
  publish_barriers();
}

/// Every warp calls it for every stage, also for the other group's. A barrier only tells a phase from the one before,
/// so the feeding warp must never be two phases ahead of any other.
__device__ __forceinline__ void hand_back(const Shared& shared, int stage) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) arrive(shared.empty + 8 * stage);
}

/// One thread's work: the weights once, then tile after tile.
__device__ __forceinline__ void feed(const MapsOfX& maps, const TensorMap* map_w, const ConvArguments& args,
                                     const Shared& shared) {
  const int chunks_k = (args.in_channels + kStep - 1) / kStep, tiles = num_tiles(args);
  expect_bytes(shared.kept, chunks_k * kTaps * kTapBytes);
  for (int k = 0; k < chunks_k; ++k)
    for (int tap = 0; tap < kTaps; ++tap)
      copy_box(shared.weights + (k * kTaps + tap) * kTapBytes, map_w, shared.kept, k * kStep, tap, 0);
  pdl_wait();
  int stage = 0;
  unsigned parity = 1;
  for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
    const Place place(args, t);
    for (int k = 0; k < chunks_k; ++k) {
      wait_barrier(shared.empty + 8 * stage, parity);
      expect_bytes(shared.full + 8 * stage, kPixelBytes);
      const MapsOfX::Place from = maps.of(args, k * kStep);
      copy_box_4d(shared.pixels + stage * kStageBytes, from.map, shared.full + 8 * stage, from.channel,
                  place.x - args.window.pad[2], place.y - args.window.pad[1], place.image);
      if (++stage == kTile.stages) stage = 0, parity ^= 1;
    }
  }
}

__device__ __forceinline__ void run(const MapsOfX& maps, const TensorMap* map_w, const ConvArguments& args) {
  extern __shared__ __align__(1024) unsigned char raw[];
  __shared__ alignas(8) unsigned long long barriers[2 * kTile.stages + 1];
  __shared__ ColumnEpilogue<kTile.bm> ends[kGroups];
  const int chunks_k = (args.in_channels + kStep - 1) / kStep, tiles = num_tiles(args);
  const unsigned weights = (shared_address(raw) + 1023) & ~1023u, full = shared_address(barriers);
  const Shared shared{weights, weights + chunks_k * kTaps * kTapBytes, full, full + 8 * kTile.stages,
                      full + 16 * kTile.stages};
  auto* chunks =
      reinterpret_cast<Chunk(*)[2]>(raw + (shared.pixels + kTile.stages * kStageBytes - shared_address(raw)));
  if (threadIdx.x == 0) {
    prefetch_map(maps.front);
    prefetch_map(map_w);
    begin_barriers(shared);
  }
  __syncthreads();
  if (threadIdx.x < 128) {
    leave_registers<40>();
    if (threadIdx.x == 0) feed(maps, map_w, args, shared);
  } else {
    take_registers<232>();
    const int group = threadIdx.x / 128 - 1;
    int stage = 0;
    unsigned parity = 0;
    const auto advance = [&] {
      if (++stage == kTile.stages) stage = 0, parity ^= 1;
    };
    pdl_wait();
    ends[group].load<128>(args.epilogue, args.out_channels, 0, threadIdx.x % 128);
    wait_group(group);
    const Epilogue epilogue = ends[group].get(args.epilogue, 0);
    wait_barrier(shared.kept, 0);
    int turn = 0;
    for (int t = blockIdx.x; t < tiles; t += gridDim.x, ++turn) {
      if (turn % kGroups != group) {  // the other group's
        for (int k = 0; k < chunks_k; ++k, advance()) {
          wait_barrier(shared.full + 8 * stage, parity);
          hand_back(shared, stage);
        }
        continue;
      }
      const Place place(args, t);
      Sums sums;
      for (int k = 0; k < chunks_k; ++k, advance()) {
        wait_barrier(shared.full + 8 * stage, parity);
        multiply(sums, weights + k * kTaps * kTapBytes, shared.pixels + stage * kStageBytes, k == 0);
        hand_back(shared, stage);
      }
      if (t + 2 * gridDim.x >= tiles) pdl_launch();
      const Strides& s = args.y_strides;
      const long long at = args.y_first + place.image * s.n + place.y * s.at[1] + place.x * s.at[2];
      write_columns<kRows, kTile.bn>(args, epilogue, sums, chunks[group], group, [&](int i, long long& index) {
        index = at + i / 8 * s.at[1] + i % 8 * s.at[2];
        return place.y + i / 8 < args.window.out[1] && place.x + i % 8 < args.window.out[2];
      });
    }
  }
}

}  // namespace kiln
