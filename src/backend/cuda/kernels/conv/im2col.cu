// Convolution on sm_90a as a product without a copy of its input, channels last, one group, pictures: the copy engine
// gathers the pixels of a tap (im2col), whose channels fill lines of 128 or 64 bytes, and brings the weights; groups of
// four warps multiply. Blocks stay and take tile after tile; with splits the blocks of a cluster share one tile's k
// instead and end a share of its columns each. With `lanes` the weights' rows come interleaved, and sums become results
// without shared memory (lanes.cuh). With `shuffle` it is a deconvolution whose kernel is its stride: columns are its
// taps, and a tap's channels. The prelude has wgmma().
#include "conv/joined.cuh"
#include "conv/work.cuh"
#include "gemm/column_epilogue.cuh"
#include "gemm/exchange.cuh"
#include "gemm/lanes.cuh"
#include "gemm/slab.cuh"
#include "gemm/stage.cuh"

namespace kiln {

constexpr int kGroups = kTile.bm >= 128 ? 2 : 1, kMultipliers = 128 * kGroups, kThreads = kMultipliers + 128;
constexpr int kRows = kTile.bm / kGroups / 64;                    ///< times 64: of a group of warps
constexpr int kStep = kTile.bk, kLine = kStep * sizeof(Element);  ///< of k a stage: elements and bytes
constexpr int kBytesA = kTile.bm * kLine, kBytesB = kTile.bn * kLine, kBlocks = kTile.bn / 8;
constexpr int kPart = kTile.bn < 32 ? kTile.bn : 32;  ///< columns of a slab
static_assert(kTile.splits == 1 || kRows == 1, "blocks that share k exchange 64 rows a group of warps");
using Exchanged = Exchange<kTile.splits, kBlocks, kMultipliers>;

/// A step of k: a tap and a line of its channels.
struct Step {
  int tap, channel, x, y;
  __device__ Step(const ConvArguments& args, int index) {
    const int chunks = (args.in_channels + kStep - 1) / kStep;
    tap = index / chunks;
    channel = index % chunks * kStep;
    x = tap % args.window.kernel[2];
    y = tap / args.window.kernel[2];
  }
  __device__ void advance(const ConvArguments& args) {
    if ((channel += kStep) < args.in_channels) return;
    channel = 0;
    ++tap;
    if (++x < args.window.kernel[2]) return;
    x = 0;
    ++y;
  }
};

__device__ __forceinline__ int num_steps(const ConvArguments& args) {
  const int chunks = (args.in_channels + kStep - 1) / kStep;
  return args.window.kernel[1] * args.window.kernel[2] * chunks;
}

/// Where stages and their barriers lie in shared memory.
struct Ring {
  unsigned shared, full, empty;
  __device__ unsigned a(int stage) const { return shared + stage * (kBytesA + kBytesB); }
  __device__ unsigned b(int stage) const { return a(stage) + kBytesA; }
};

/// A stage's pixels: those of a tile from `first` on, moved by the step's tap.
struct Pixels {
  int n, x, y;
  __device__ Pixels(const ConvArguments& args, int first) {
    const Window& w = args.window;
    const Pixel pixel(w, first);
    n = pixel.n;
    x = pixel.at[2] * w.stride[2] - w.pad[2];
    y = pixel.at[1] * w.stride[1] - w.pad[1];
  }
  __device__ __forceinline__ void copy(const Ring& ring, const TensorMap* map, const Window& w, int stage,
                                       const Step& step, int channel) const {
    copy_pixels(ring.a(stage), map, ring.full + 8 * stage, channel, x, y, n, step.x * w.dilation[2],
                step.y * w.dilation[1]);
  }
};

/// One thread's work. Weights are constants: those of the first stages need not wait for the kernel in front.
__device__ __forceinline__ void feed(const MapsOfX& maps, const TensorMap* map_w, const ConvArguments& args,
                                     const Work& work, const Ring& ring) {
  Stage stage(1);
  const auto copy_weights = [&](int at, const Step& step, TilePlace place) {
    expect_bytes(ring.full + 8 * at, kBytesA + kBytesB);
    const unsigned full = ring.full + 8 * at;
    if constexpr (kTile.lanes)  // whose map has the taps' channels side by side
      copy_interleaved(ring.b(at), map_w, full, step.tap * args.in_channels + step.channel, place.n * kTile.bn / kSpan);
    else
      copy_box(ring.b(at), map_w, full, step.channel, step.tap, place.n * kTile.bn);
  };
  int ahead = min(kTile.stages, work.last - work.first), begun = ahead;
  Step early(args, work.first);
  for (int i = 0; i < ahead; ++i, early.advance(args))
    copy_weights(i, early, tile_place(blockIdx.x / kTile.splits, work.tiles_m, work.tiles_n));
  pdl_wait();
  work.for_each_tile([&](TilePlace place) {
    const Pixels pixels(args, place.m * kTile.bm);
    Step step(args, work.first);
    for (int k = work.first; k < work.last; ++k, stage.advance(), step.advance(args), --begun) {
      if (begun <= 0) {
        wait_barrier(ring.empty + 8 * stage.at, stage.parity);
        copy_weights(stage.at, step, place);
      }
      const MapsOfX::Place from = maps.of(args, step.channel);
      pixels.copy(ring, from.map, args.window, stage.at, step, from.channel);
    }
  });
}

__device__ __forceinline__ void wait_group(int group) { sync_threads<128>(1 + group); }

using Sums = float[kRows][kBlocks][4];

/// The sums of one tile. The stage multiplied last is released when the next has been issued.
__device__ __forceinline__ void multiply_tile(Sums& sums, int steps, Stage& stage, const Ring& ring, int group) {
  int before = -1;
  for (int k = 0; k < steps; ++k, stage.advance()) {
    wait_barrier(ring.full + 8 * stage.at, stage.parity);
    const unsigned long long da = tile_descriptor<kLine>(ring.a(stage.at) + group * kRows * 64 * kLine),
                             db = tile_descriptor<kLine>(ring.b(stage.at));
    begin_wgmma();
#pragma unroll
    for (int j = 0; j < kLine / 32; ++j)
#pragma unroll
      for (int row = 0; row < kRows; ++row)
        wgmma(sums[row], da + row * (64 * kLine / 16) + 2 * j, db + 2 * j, (k | j) != 0);
    commit_wgmma();
    wait_wgmma<1>();
    if (before >= 0 && threadIdx.x % 128 == 0) arrive(ring.empty + 8 * before);
    before = stage.at;
  }
  wait_wgmma<0>();
#pragma unroll
  for (int row = 0; row < kRows; ++row) settle<Element, kTile.narrow_sums>(sums[row]);
  if (before >= 0 && threadIdx.x % 128 == 0) arrive(ring.empty + 8 * before);
}

/// Where a vector of a row of sums lies in y, and its channel.
struct Target {
  long long index;
  int channel;
  __device__ __forceinline__ Target(const ConvArguments& args, int pixel, int column) {
    if constexpr (kTile.shuffle) {
      const int tap = column / args.tap_columns;
      channel = column % args.tap_columns;
      index = args.y_first + Pixel(args.window, pixel).offset(args.y_strides) + tap / args.taps_w * args.tap_y +
              tap % args.taps_w * args.tap_x + channel;
    } else {
      channel = column;
      index = args.y_first + column +
              (args.y_pixel ? pixel * args.y_pixel : Pixel(args.window, pixel).offset(args.y_strides));
    }
  }
};

/// Finishes 16 rows of kColumns sums of a warp from (row, column) on. Vectors are written in batches of kBatch, so that
/// the warp waits for the epilogue's loads once a batch.
template <int kColumns, int kSlab>
__device__ __forceinline__ void write(const ConvArguments& args, const Epilogue& epilogue,
                                      const float (&sums)[kColumns / 8][4], Slab<kSlab>& slab, int row, int column) {
  constexpr int kParts = kColumns / kSlab, kBatch = kParts % 2 == 0 ? 2 : 1;
  constexpr int kVectors = kSlab / kTile.vec, kEach = (16 * kVectors + 31) / 32;
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int part = 0; part < kParts; part += kBatch) {
    float x[kBatch][kEach][kTile.vec];
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      slab.fill(reinterpret_cast<const float(&)[kSlab / 8][4]>(sums[(part + b) * (kSlab / 8)]));
#pragma unroll
      for (int e = 0; e < kEach; ++e) {
        const int i = e * 32 + lane;
        slab.read(x[b][e], i / kVectors % 16, i % kVectors * kTile.vec);
      }
    }
    long long at[kBatch][kEach];
#pragma unroll
    for (int b = 0; b < kBatch; ++b)
#pragma unroll
      for (int e = 0; e < kEach; ++e) {
        const int i = e * 32 + lane, pixel = row + i / kVectors,
                  first = column + (part + b) * kSlab + i % kVectors * kTile.vec;
        at[b][e] = -1;
        if (i >= 16 * kVectors || pixel >= args.pixels || first >= args.out_channels) continue;
        const Target target(args, pixel, first);
        epilogue.apply(x[b][e], target.index, target.channel);
        at[b][e] = target.index;
      }
#pragma unroll
    for (int b = 0; b < kBatch; ++b)
#pragma unroll
      for (int e = 0; e < kEach; ++e)
        if (at[b][e] >= 0) store_vector(args.y + at[b][e], x[b][e]);
  }
}

/// A group's work where lanes hold vectors: its share of tile after tile. `held` is the thread's place of LaneEnd. A
/// template, so that other kernels need not have it.
template <class Arguments>
__device__ __forceinline__ void take_tiles_by_lanes(const Arguments& args, const Work& work, const Ring& ring,
                                                    ColumnEpilogue<kTile.bn>& held_columns, unsigned held, int group) {
  pdl_wait();  // for the epilogue's operands
  const int tiles = work.tiles_m * work.tiles_n, lane = threadIdx.x % 32;
  const int own_column = lane % 4 * kTile.vec, own_row = group * kRows * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4;
  const auto place_of = [&](int t) -> LanePlace {
    if (t >= tiles) return {0, args.pixels, 0};
    const TilePlace place = tile_place(t, work.tiles_m, work.tiles_n);
    const int row = place.m * kTile.bm + own_row, column = place.n * kTile.bn + own_column;
    return {args.y_first + row * args.y_pixel + column, row, column};
  };
  LaneEnd<kRows, kMultipliers> end(args.epilogue, args.y_pixel, args.pixels, args.out_channels, held);
  Stage stage(0);
  int columns_of = -1;
  LanePlace at = place_of(blockIdx.x);
  end.begin(args.epilogue, at);
  for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
    const LanePlace next = place_of(t + gridDim.x);
    const int column = at.column - own_column;
    if (column != columns_of) {
      wait_group(group);  // all warps have ended their last tile
      held_columns.load<128>(args.epilogue, args.out_channels, columns_of = column, threadIdx.x % 128);
      wait_group(group);
    }
    Sums sums;
    multiply_tile(sums, work.last, stage, ring, group);
    if (t + gridDim.x >= tiles) pdl_launch();
    end.write(held_columns.get(args.epilogue, column), args.y, sums, at, next);
    at = next;
  }
}

/// A group's work: its share of tile after tile.
__device__ __forceinline__ void take_tiles(const ConvArguments& args, const Work& work, const Ring& ring,
                                           ColumnEpilogue<kTile.bn>& end, Slab<kPart>& slab, int group) {
  pdl_wait();  // for the epilogue's operands; the feeding thread itself waits before it reads what is multiplied
  Stage stage(0);
  int left = (work.tiles_m * work.tiles_n - blockIdx.x + gridDim.x - 1) / gridDim.x;
  work.for_each_tile([&](TilePlace place) {
    Sums sums;
    if constexpr (!kTile.shuffle) {
      wait_group(group);  // all warps have finished their last tile
      end.load<128>(args.epilogue, args.out_channels, place.n * kTile.bn, threadIdx.x % 128);
    }
    multiply_tile(sums, work.last, stage, ring, group);
    if (--left == 0) pdl_launch();
    const auto write_rows = [&](const Epilogue& epilogue) {
#pragma unroll
      for (int row = 0; row < kRows; ++row)
        write<kTile.bn>(args, epilogue, sums[row], slab,
                        place.m * kTile.bm + (group * kRows + row) * 64 + threadIdx.x % 128 / 32 * 16,
                        place.n * kTile.bn);
    };
    if constexpr (kTile.shuffle) {
      write_rows(args.epilogue);
    } else {
      wait_group(group);
      write_rows(end.get(args.epilogue, place.n * kTile.bn));
    }
  });
}

__device__ __forceinline__ void run(const MapsOfX& maps, const TensorMap* map_w, const ConvArguments& args) {
  extern __shared__ __align__(1024) unsigned char raw[];
  __shared__ alignas(8) unsigned long long barriers[2 * kTile.stages];
  const unsigned shared = (shared_address(raw) + 1023) & ~1023u;
  unsigned char* behind = raw + (shared - shared_address(raw)) + kTile.stages * (kBytesA + kBytesB);
  const Ring ring{shared, shared_address(barriers), shared_address(barriers) + 8 * kTile.stages};
  if (threadIdx.x == 0) {
    prefetch_map(maps.front);
    prefetch_map(map_w);
    for (int i = 0; i < kTile.stages; ++i) {
      init_barrier(ring.full + 8 * i, 1);
      init_barrier(ring.empty + 8 * i, kGroups);
    }
    publish_barriers();
  }
  __syncthreads();
  const Work work(args, kTile.splits == 1 ? 0 : cluster_rank());
  const int thread = static_cast<int>(threadIdx.x) - 128, group = thread / 128, warp = thread / 32;
  if constexpr (kTile.splits == 1) {
    __shared__ ColumnEpilogue<kTile.bn> ends[kGroups];
    if (threadIdx.x < 128) {
      leave_registers<kGroups == 2 ? 40 : 56>();
      if (threadIdx.x == 0) feed(maps, map_w, args, work, ring);
    } else {
      take_registers<kGroups == 2 ? 232 : 240>();
      if constexpr (kTile.lanes)
        take_tiles_by_lanes(args, work, ring, ends[group], shared_address(behind) + thread * 16, group);
      else
        take_tiles(args, work, ring, ends[group], reinterpret_cast<Slab<kPart>*>(behind)[warp], group);
    }
  } else {
    pdl_launch();  // few blocks run, so the next kernel's blocks find room
    Sums sums;
    float own[Exchanged::kOwn][4];
    if (threadIdx.x < 128) {
      if (threadIdx.x == 0) feed(maps, map_w, args, work, ring);
      __syncwarp();
    } else {
      pdl_wait();
      Stage stage(0);
      multiply_tile(sums, work.last - work.first, stage, ring, group);
    }
    auto& received = *reinterpret_cast<Exchanged::Received*>(behind);
    Exchanged::run(sums[0], own, received, work.rank, thread < 0 ? kMultipliers : thread);
    if (thread < 0) return;
    constexpr int kColumns = Exchanged::kOwn * 8;
    auto& slab = reinterpret_cast<Slab<kColumns>*>(behind + sizeof(Exchanged::Received))[warp];
    work.for_each_tile([&](TilePlace place) {
      write<kColumns>(args, args.epilogue, own, slab, place.m * kTile.bm + warp * 16,
                      place.n * kTile.bn + work.rank * kColumns);
    });
  }
}

}  // namespace kiln
