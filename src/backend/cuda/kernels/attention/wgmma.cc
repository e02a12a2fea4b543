// attention/wgmma.cu: sm_90a, channels in whole 16 bytes. `warps` counts those that multiply.
#include "backend/cuda/kernels/attention/family.h"

namespace kiln::cuda {
namespace {

bool takes(DType element, int64_t rows) { return element != DType::kF32 && takes_fragments(element, rows); }
int64_t shared_bytes(const AttentionKernel& k) { return staged_bytes(k) + kStageAlignment; }

/// An axis of stride 0 repeats: it has one index in the map.
MapPlan map_of_heads(DType type, const HeadStrides& s, int64_t depth, int64_t rows, int64_t heads, int64_t batch,
                     int64_t box_rows) {
  MapPlan map;
  map.type = map_type(type);
  map.rank = 4;
  const int64_t extents[] = {depth, rows, s.head ? heads : 1, s.batch ? batch : 1}, steps[] = {s.row, s.head, s.batch};
  for (size_t i = 0; i < 4; ++i) map.extents[i] = static_cast<uint64_t>(extents[i]);
  for (size_t i = 0; i < 3; ++i)
    if (steps[i]) map.strides_bytes[i] = static_cast<uint64_t>(steps[i] * 2);
  map.box[0] = kLineBytes / 2;
  map.box[1] = static_cast<uint32_t>(box_rows);
  return map;
}

Status plan_maps(const AttentionKernel& kernel, const AttentionArguments& a, int64_t multiprocessors,
                 AttentionLaunch& launch) {
  TRY(require(a.keys > 0 && a.depth > 0 && a.value_depth > 0, "tensor maps need keys and channels; there are ", a.keys,
              " keys"));
  LaunchShape& shape = launch.shape;
  shape.block[0] += 128;  // the warps that feed the copy engine
  // Blocks take tile after tile.
  shape.grid[0] = static_cast<uint32_t>(std::min<int64_t>(shape.grid[0], multiprocessors));
  launch.maps[0] = map_of_heads(kernel.element, a.q_strides, a.depth, a.queries, a.heads, a.batch, kernel.queries());
  launch.maps[1] = map_of_heads(kernel.element, a.k_strides, a.depth, a.keys, a.kv_heads, a.batch, kernel.keys);
  launch.maps[2] = map_of_heads(kernel.element, a.v_strides, a.value_depth, a.keys, a.kv_heads, a.batch, kernel.keys);
  return {};
}

}  // namespace

const AttentionFamily kAttentionWgmma{.name = "wgmma",
                                      .entry = "attention_wgmma",
                                      .takes = takes,
                                      .queries = queries_of_warps,
                                      .shared_bytes = shared_bytes,
                                      .plan_maps = plan_maps};

}  // namespace kiln::cuda
