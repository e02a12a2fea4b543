// softmax(q k^T * scale + mask) v on sm_90a. One thread feeds the copy engine; groups of four warps have 64 queries
// each. The tensor cores multiply the scores of the next keys together with the weights of these, and the softmax runs
// meanwhile. Blocks take tile after tile, so that the next tile's keys arrive while the last one is written. Heads are
// 64 or 128 deep. The prelude has wgmma() for a stage's keys as columns, and wgmma_values() for the depth.
#include "attention/scores.cuh"
#include "ptx/hopper.cuh"

namespace kiln {

constexpr int kGroups = kTile.warps / 4, kThreads = 128 * (kGroups + 1), kQueries = 64 * kGroups,
              kBlocksK = kTile.keys / 8, kBlocksD = kTile.depth / 8;
constexpr int kPanels =
    kTile.depth / 64;  ///< a line of 128 bytes holds 64 channels; deeper heads lie in panels of lines
constexpr int kBytesQ = kQueries * kTile.depth * 2, kBytesKeys = kTile.keys * kTile.depth * 2;

/// Shared memory: q, then a ring each of keys and values.
struct Ring {
  unsigned full, empty, data;
  __device__ unsigned at(int i) const { return data + i % kTile.stages * kBytesKeys; }
  __device__ unsigned full_at(int i) const { return full + 8 * (i % kTile.stages); }
  __device__ unsigned empty_at(int i) const { return empty + 8 * (i % kTile.stages); }
  __device__ unsigned parity(int i) const { return i / kTile.stages & 1; }
};
struct Rings {
  Ring keys, values;
  unsigned q, q_full, q_empty;
};

__device__ __forceinline__ void copy_panels(unsigned to, const TensorMap* map, unsigned barrier, int rows, int row,
                                            int head, int batch) {
#pragma unroll
  for (int panel = 0; panel < kPanels; ++panel)
    copy_box_4d(to + panel * rows * 128, map, barrier, panel * 64, row, head, batch);
}

/// Values lie with their channels along a line: columns of the product are contiguous, not k.
__device__ __forceinline__ unsigned long long values_descriptor(unsigned address) {
  constexpr unsigned long long kNextPanel = kTile.keys * 128 / 16, kNextKeys = 1024 / 16;
  return static_cast<unsigned long long>((address & 0x3FFFF) >> 4) | kNextPanel << 16 | kNextKeys << 32 | 1ull << 62;
}

__device__ __forceinline__ void multiply_keys(float (&scores)[kBlocksK][4], unsigned q, unsigned k) {
#pragma unroll
  for (int step = 0; step < kTile.depth / 16; ++step) {
    const int panel = step / 4;
    wgmma(scores, tile_descriptor(q + panel * kQueries * 128) + step % 4 * 2,
          tile_descriptor(k + panel * kTile.keys * 128) + step % 4 * 2, step != 0);
  }
  commit_wgmma();
}
__device__ __forceinline__ void multiply_values(float (&sums)[kBlocksD][4],
                                                const unsigned (&weights)[kTile.keys / 16][4], unsigned v) {
#pragma unroll
  for (int step = 0; step < kTile.keys / 16; ++step)
    wgmma_values(sums, weights[step], values_descriptor(v) + step * 128, 1);
  commit_wgmma();
}

/// Groups take turns at the tensor cores, so that one computes its softmax while others multiply.
__device__ __forceinline__ void await_turn(int group) {
  if constexpr (kTile.turns) sync_threads<256>(group + 1);
}
__device__ __forceinline__ void pass_turn(int group) {
  if constexpr (kTile.turns) arrive_threads<256>((group + 1) % kGroups + 1);
}

/// A tile by a group; `at` counts the steps of the tiles before.
__device__ __forceinline__ void attend(const AttentionArguments& args, const Rings& rings, const AttentionTile& tile,
                                       int group, int at, const Element* mask, Result* out) {
  const Ring &keys = rings.keys, &values = rings.values;
  const int row0 = tile.first + group * 64 + threadIdx.x % 128 / 32 * 16,
            end = at + (tile.keys + kTile.keys - 1) / kTile.keys;
  const bool speaks = threadIdx.x % 128 == 0;
  const unsigned q = rings.q + group * 64 * 128;
  const float scale = args.scale * kLog2e;
  float sums[kBlocksD][4] = {}, scores[kBlocksK][4], factor[2];
  unsigned weights[kTile.keys / 16][4];
  RunningSoftmax softmax;
  MaskWords<kBlocksK> words;
  const auto load_mask = [&](int key) {
    if constexpr (kTile.has_mask) words.load(args, mask, row0, key);
  };
  const auto weigh = [&](int key) {
    if constexpr (kTile.has_mask) words.add(scores, args.scale);
    hide(args, scores, row0, key);
    softmax.weigh(scores, factor, scale);
  };
  await_turn(group);
  wait_barrier(keys.full_at(at), keys.parity(at));
  begin_wgmma();
  multiply_keys(scores, q, keys.at(at));
  pass_turn(group);
  load_mask(0);
  wait_wgmma<0>();
  settle<Element>(scores);
  if (speaks) arrive(keys.empty_at(at));
  if (speaks && at + 1 == end) arrive(rings.q_empty);
  weigh(0);
  pack(weights, scores);
  int key = kTile.keys;
  for (++at; at < end; ++at, key += kTile.keys) {
    wait_barrier(keys.full_at(at), keys.parity(at));
    await_turn(group);
    begin_wgmma();
    multiply_keys(scores, q, keys.at(at));
    wait_barrier(values.full_at(at - 1), values.parity(at - 1));
    begin_wgmma();  // the weights are registers that were just written
    multiply_values(sums, weights, values.at(at - 1));
    pass_turn(group);
    load_mask(key);
    wait_wgmma<1>();
    settle<Element>(scores);
    if (speaks) arrive(keys.empty_at(at));
    if (speaks && at + 1 == end) arrive(rings.q_empty);
    weigh(key);
    wait_wgmma<0>();
    settle<Element>(sums);
    if (speaks) arrive(values.empty_at(at - 1));
    rescale(sums, factor);
    pack(weights, scores);
  }
  wait_barrier(values.full_at(at - 1), values.parity(at - 1));
  begin_wgmma();
  multiply_values(sums, weights, values.at(at - 1));
  wait_wgmma<0>();
  settle<Element>(sums);
  if (speaks) arrive(values.empty_at(at - 1));
  store_rows(args, sums, softmax, out, row0);
}

/// Feeds all tiles of the block.
__device__ __forceinline__ void feed(const AttentionArguments& args, const Rings& rings, int tiles,
                                     const TensorMap* map_q, const TensorMap* map_k, const TensorMap* map_v) {
  // A stride of 0 repeats; such an axis has extent 1 in the map.
  const auto index = [](int index, long long stride) { return stride ? index : 0; };
  const Ring &keys = rings.keys, &values = rings.values;
  unsigned parity = 1;
  for (int at = 0, i = blockIdx.x; i < tiles; i += gridDim.x, parity ^= 1) {
    const AttentionTile tile = attention_tile<kQueries>(args, i);
    const int kv_head = tile.head / (args.heads / args.kv_heads);
    wait_barrier(rings.q_empty, parity);
    expect_bytes(rings.q_full, kBytesQ);
    copy_panels(rings.q, map_q, rings.q_full, kQueries, tile.first, index(tile.head, args.q_strides.head),
                index(tile.batch, args.q_strides.batch));
    for (int key = 0; key < tile.keys; key += kTile.keys, ++at) {
      wait_barrier(keys.empty_at(at), keys.parity(at) ^ 1);
      expect_bytes(keys.full_at(at), kBytesKeys);
      copy_panels(keys.at(at), map_k, keys.full_at(at), kTile.keys, key, index(kv_head, args.k_strides.head),
                  index(tile.batch, args.k_strides.batch));
      wait_barrier(values.empty_at(at), values.parity(at) ^ 1);
      expect_bytes(values.full_at(at), kBytesKeys);
      copy_panels(values.at(at), map_v, values.full_at(at), kTile.keys, key, index(kv_head, args.v_strides.head),
                  index(tile.batch, args.v_strides.batch));
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    attention_wgmma(const __grid_constant__ TensorMap map_q, const __grid_constant__ TensorMap map_k,
                    const __grid_constant__ TensorMap map_v, const __grid_constant__ AttentionArguments args) {
  extern __shared__ __align__(1024) unsigned char raw[];
  __shared__ alignas(8) unsigned long long barriers[4 * kTile.stages + 2];
  const unsigned q = (shared_address(raw) + 1023) & ~1023u, first = shared_address(barriers);
  const Rings rings{{first, first + 8 * kTile.stages, q + kBytesQ},
                    {first + 16 * kTile.stages, first + 24 * kTile.stages, q + kBytesQ + kTile.stages * kBytesKeys},
                    q,
                    first + 32 * kTile.stages,
                    first + 32 * kTile.stages + 8};
  if (threadIdx.x == 0) {
    prefetch_map(&map_q);
    prefetch_map(&map_k);
    prefetch_map(&map_v);
    for (int i = 0; i < kTile.stages; ++i) {
      init_barrier(rings.keys.full_at(i), 1);
      init_barrier(rings.values.full_at(i), 1);
      init_barrier(rings.keys.empty_at(i), kGroups);
      init_barrier(rings.values.empty_at(i), kGroups);
    }
    init_barrier(rings.q_full, 1);
    init_barrier(rings.q_empty, kGroups);
    publish_barriers();
  }
  __syncthreads();
  pdl_wait();
  const int tiles = (args.queries + kQueries - 1) / kQueries * args.heads * args.batch;
  if (threadIdx.x < 128) {
    leave_registers<kGroups == 2 ? 24 : 32>();
    if (threadIdx.x == 0) feed(args, rings, tiles, &map_q, &map_k, &map_v);
  } else {
    take_registers<kGroups == 2 ? 240 : 160>();
    const int group = threadIdx.x / 128 - 1;
    unsigned parity = 0;
    if (group == kGroups - 1) pass_turn(group);  // the first group begins
    for (int at = 0, i = blockIdx.x; i < tiles; i += gridDim.x, parity ^= 1) {
      const AttentionTile tile = attention_tile<kQueries>(args, i);
      wait_barrier(rings.q_full, parity);
      attend(args, rings, tile, group, at,
             args.mask + tile.batch * args.mask_strides.batch + tile.head * args.mask_strides.head,
             args.out + tile.batch * args.out_strides.batch + tile.head * args.out_strides.head);
      at += (tile.keys + kTile.keys - 1) / kTile.keys;
    }
    if (group == 0) await_turn(group);  // leaves the barriers as they were
    pdl_launch();
  }
}

}  // namespace kiln
