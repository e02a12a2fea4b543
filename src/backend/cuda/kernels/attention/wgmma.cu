// softmax(q k^T * scale + mask) v on sm_90a: one thread feeds the copy engine, groups of four warps have 64 queries
// each; the scores of the next keys are multiplied while the weights of these are, and weighed meanwhile. Defines:
// DEPTH (64 or 128: channels of a head, rounded up), GROUPS, KEYS (a stage), STAGES, and those of arguments.cuh. The
// prelude has wgmma() for KEYS columns, and wgmma_values() for DEPTH.
#include "attention/arguments.cuh"
#include "gemm/hopper.cuh"

namespace kiln {

constexpr int kThreads = 128 * (GROUPS + 1), kQueries = 64 * GROUPS, kBlocksK = KEYS / 8, kBlocksD = DEPTH / 8;
constexpr int kPanels = DEPTH / 64;  ///< a line of 128 bytes holds 64 channels; deeper heads lie in panels of lines
constexpr int kBytesQ = kQueries * DEPTH * 2, kBytesKeys = KEYS * DEPTH * 2;

/// Shared memory: q, then a ring each of keys and values.
struct Ring {
  unsigned full, empty, data;
  __device__ unsigned at(int i) const { return data + i % STAGES * kBytesKeys; }
  __device__ unsigned full_at(int i) const { return full + 8 * (i % STAGES); }
  __device__ unsigned empty_at(int i) const { return empty + 8 * (i % STAGES); }
  __device__ unsigned parity(int i) const { return i / STAGES & 1; }
};

__device__ __forceinline__ void copy_panels(unsigned to, const TensorMap* map, unsigned barrier, int rows, int row,
                                            int head, int batch) {
#pragma unroll
  for (int panel = 0; panel < kPanels; ++panel)
    copy_box_4d(to + panel * rows * 128, map, barrier, panel * 64, row, head, batch);
}

/// Values lie with their channels along a line: columns of the product are contiguous, not k.
__device__ __forceinline__ unsigned long long values_descriptor(unsigned address) {
  constexpr unsigned long long kNextPanel = KEYS * 128 / 16, kNextKeys = 1024 / 16;
  return static_cast<unsigned long long>((address & 0x3FFFF) >> 4) | kNextPanel << 16 | kNextKeys << 32 | 1ull << 62;
}

__device__ __forceinline__ void multiply_keys(float (&scores)[kBlocksK][4], unsigned q, unsigned k) {
#pragma unroll
  for (int step = 0; step < DEPTH / 16; ++step) {
    const int panel = step / 4;
    wgmma(scores, tile_descriptor(q + panel * kQueries * 128) + step % 4 * 2,
          tile_descriptor(k + panel * KEYS * 128) + step % 4 * 2, step != 0);
  }
  commit_wgmma();
}
__device__ __forceinline__ void multiply_values(float (&sums)[kBlocksD][4], const unsigned (&weights)[KEYS / 16][4],
                                                unsigned v) {
#pragma unroll
  for (int step = 0; step < KEYS / 16; ++step) wgmma_values(sums, weights[step], values_descriptor(v) + step * 128, 1);
  commit_wgmma();
}

/// Scores become weights, of the thread's two rows; `factor` is what earlier sums shrink by.
__device__ __forceinline__ void weigh(const AttentionArguments& args, float (&scores)[kBlocksK][4], float (&factor)[2],
                                      RunningSoftmax<2>& softmax, const ELEMENT* mask, int row0, int key0) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = row0 + r * 8 + lane / 4;
    float largest = kHidden, total = 0;
#pragma unroll
    for (int j = 0; j < kBlocksK; ++j) {
      float &x = scores[j][r * 2], &y = scores[j][r * 2 + 1];
      finish_scores(args, x, y, mask + row * args.mask_strides.row, row, key0 + j * 8 + lane % 4 * 2);
      largest = fmaxf(largest, fmaxf(x, y));
    }
    factor[r] = softmax.raise(r, largest);
    const float base = softmax.base(r);
#pragma unroll
    for (int j = 0; j < kBlocksK; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        float& x = scores[j][r * 2 + e];
        x = power_of_two(x - base);
        total += x;
      }
    softmax.total[r] += total;
  }
}

/// What a product left of two blocks of keys is the left operand of the next.
__device__ __forceinline__ void pack(unsigned (&weights)[KEYS / 16][4], const float (&scores)[kBlocksK][4]) {
#pragma unroll
  for (int step = 0; step < KEYS / 16; ++step)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float(&block)[4] = scores[step * 2 + j / 2];
      weights[step][j] = pack2<ELEMENT>(block[j % 2 * 2], block[j % 2 * 2 + 1]);
    }
}

__device__ __forceinline__ void attend(const AttentionArguments& args, const Ring& keys, const Ring& values, unsigned q,
                                       const ELEMENT* mask, ELEMENT* out, int row0) {
  const int steps = (args.keys + KEYS - 1) / KEYS, lane = threadIdx.x % 32;
  const bool speaks = threadIdx.x % 128 == 0;
  float sums[kBlocksD][4], scores[kBlocksK][4], factor[2];
  unsigned weights[KEYS / 16][4];
#pragma unroll
  for (int j = 0; j < kBlocksD; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i) sums[j][i] = 0;
  RunningSoftmax<2> softmax;
  wait_barrier(keys.full_at(0), 0);
  begin_wgmma();
  multiply_keys(scores, q, keys.at(0));
  wait_wgmma<0>();
  settle(scores);
  if (speaks) arrive(keys.empty_at(0));
  weigh(args, scores, factor, softmax, mask, row0, 0);
  pack(weights, scores);
  for (int step = 1; step < steps; ++step) {
    wait_barrier(keys.full_at(step), keys.parity(step));
    begin_wgmma();
    multiply_keys(scores, q, keys.at(step));
    wait_barrier(values.full_at(step - 1), values.parity(step - 1));
    begin_wgmma();  // the weights are registers that were just written
    multiply_values(sums, weights, values.at(step - 1));
    wait_wgmma<1>();
    settle(scores);
    if (speaks) arrive(keys.empty_at(step));
    weigh(args, scores, factor, softmax, mask, row0, step * KEYS);
    wait_wgmma<0>();
    settle(sums);
    if (speaks) arrive(values.empty_at(step - 1));
#pragma unroll
    for (int j = 0; j < kBlocksD; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i) sums[j][i] *= factor[i / 2];
    pack(weights, scores);
  }
  wait_barrier(values.full_at(steps - 1), values.parity(steps - 1));
  begin_wgmma();
  multiply_values(sums, weights, values.at(steps - 1));
  wait_wgmma<0>();
  settle(sums);
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = row0 + r * 8 + lane / 4;
    const float sum = softmax.sum(r);
    if (row >= args.queries) continue;
    ELEMENT* line = out + row * args.out_strides.row;
#pragma unroll
    for (int j = 0; j < kBlocksD; ++j) {
      const int column = j * 8 + lane % 4 * 2;
      if (column < args.value_depth)
        *reinterpret_cast<unsigned*>(line + column) =
            pack2<ELEMENT>(normalized(sums[j][r * 2], sum), normalized(sums[j][r * 2 + 1], sum));
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    attention_wgmma(const __grid_constant__ TensorMap map_q, const __grid_constant__ TensorMap map_k,
                    const __grid_constant__ TensorMap map_v, const __grid_constant__ AttentionArguments args) {
  extern __shared__ __align__(1024) unsigned char raw[];
  __shared__ alignas(8) unsigned long long barriers[4 * STAGES + 1];
  const unsigned q = (shared_address(raw) + 1023) & ~1023u, first = shared_address(barriers),
                 q_full = first + 32 * STAGES;
  const Ring keys{first, first + 8 * STAGES, q + kBytesQ};
  const Ring values{first + 16 * STAGES, first + 24 * STAGES, q + kBytesQ + STAGES * kBytesKeys};
  if (threadIdx.x == 0) {
    prefetch_map(&map_q);
    prefetch_map(&map_k);
    prefetch_map(&map_v);
    for (int i = 0; i < STAGES; ++i) {
      init_barrier(keys.full_at(i), 1);
      init_barrier(values.full_at(i), 1);
      init_barrier(keys.empty_at(i), GROUPS);
      init_barrier(values.empty_at(i), GROUPS);
    }
    init_barrier(q_full, 1);
    publish_barriers();
  }
  __syncthreads();
  pdl_wait();
  const int tiles = (args.queries + kQueries - 1) / kQueries;
  const int tile = blockIdx.x % tiles, head = blockIdx.x / tiles % args.heads, batch = blockIdx.x / tiles / args.heads;
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(GROUPS == 2 ? 24 : 32));
    if (threadIdx.x == 0) {
      // A stride of 0 repeats; such an axis has extent 1 in the map.
      const auto at = [](int index, long long stride) { return stride ? index : 0; };
      const int kv_head = head / (args.heads / args.kv_heads), steps = (args.keys + KEYS - 1) / KEYS;
      expect_bytes(q_full, kBytesQ);
      copy_panels(q, &map_q, q_full, kQueries, tile * kQueries, at(head, args.q_strides.head),
                  at(batch, args.q_strides.batch));
      for (int i = 0; i < steps; ++i) {
        wait_barrier(keys.empty_at(i), keys.parity(i) ^ 1);
        expect_bytes(keys.full_at(i), kBytesKeys);
        copy_panels(keys.at(i), &map_k, keys.full_at(i), KEYS, i * KEYS, at(kv_head, args.k_strides.head),
                    at(batch, args.k_strides.batch));
        wait_barrier(values.empty_at(i), values.parity(i) ^ 1);
        expect_bytes(values.full_at(i), kBytesKeys);
        copy_panels(values.at(i), &map_v, values.full_at(i), KEYS, i * KEYS, at(kv_head, args.v_strides.head),
                    at(batch, args.v_strides.batch));
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(GROUPS == 2 ? 240 : 160));
    const int group = threadIdx.x / 128 - 1, row0 = tile * kQueries + group * 64 + threadIdx.x % 128 / 32 * 16;
    wait_barrier(q_full, 0);
    attend(args, keys, values, q + group * 64 * 128,
           args.mask + batch * args.mask_strides.batch + head * args.mask_strides.head,
           args.out + batch * args.out_strides.batch + head * args.out_strides.head, row0);
    pdl_launch();
  }
}

}  // namespace kiln
