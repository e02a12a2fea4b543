#include "steps/attention_layout.h"

namespace kiln {
namespace {

__extension__ typedef __int128 Int128;

constexpr int64_t kMostExtent = int64_t{1} << 30;  // kernels count to it

/// Whether every element lies in [0, volume). No overflow: extents are below 2^30.
bool lies_within(const AttentionOperand& operand, const std::array<int64_t, 4>& extents, int64_t volume) {
  Int128 least = operand.offset, most = operand.offset;
  for (size_t axis = 0; axis < 4; ++axis) {
    if (extents[axis] == 0) return true;
    const Int128 reach = static_cast<Int128>(extents[axis] - 1) * operand.strides[axis];
    (reach < 0 ? least : most) += reach;
  }
  return least >= 0 && most < volume;
}

}  // namespace

AttentionLayout AttentionLayout::of(std::span<const int64_t> params) {
  AttentionLayout a;
  size_t next = 0;
  for (int64_t* extent : {&a.batch, &a.heads, &a.queries, &a.keys, &a.depth, &a.value_depth}) *extent = params[next++];
  const auto read = [&](AttentionOperand& operand) {
    operand.offset = params[next++];
    for (int64_t& stride : operand.strides) stride = params[next++];
  };
  for (AttentionOperand* operand : {&a.q, &a.k, &a.v, &a.mask, &a.out}) read(*operand);
  a.kv_heads = params[next++];
  if (params.size() < kNumJoinedParams) return a;
  a.first_keys = params[next++];
  read(a.more_k);
  read(a.more_v);
  return a;
}

Status AttentionLayout::check(const std::array<int64_t, 7>& volumes) const {
  for (const int64_t extent : {batch, heads, queries, keys, depth, value_depth})
    TRY(require(extent >= 0 && extent < kMostExtent, "an extent of attention is ", extent, "; kernels count to 2^30"));
  TRY(require(kv_heads >= 0 && kv_heads <= heads && (heads == 0 || (kv_heads > 0 && heads % kv_heads == 0)), heads,
              " heads of attention cannot share ", kv_heads));
  const bool is_joined = first_keys >= 0;
  TRY(require(first_keys >= -1 && first_keys <= keys, "attention of ", keys, " keys has ", first_keys,
              " of them in its first tensor"));
  const int64_t first = is_joined ? first_keys : keys, more = is_joined ? keys - first_keys : 0;
  struct Operand {
    const char* name;
    const AttentionOperand& operand;
    int64_t heads, rows, columns, volume;
  };
  for (const Operand& each :
       {Operand{"q", q, heads, queries, depth, volumes[0]}, Operand{"k", k, kv_heads, first, depth, volumes[1]},
        Operand{"v", v, kv_heads, first, value_depth, volumes[2]},
        Operand{"the mask", mask, heads, queries, keys, volumes[3]},
        Operand{"the result", out, heads, queries, value_depth, volumes[4]},
        Operand{"what follows k", more_k, kv_heads, more, depth, is_joined ? volumes[5] : -1},
        Operand{"what follows v", more_v, kv_heads, more, value_depth, is_joined ? volumes[6] : -1}}) {
    if (each.volume < 0) continue;
    TRY(require(lies_within(each.operand, {batch, each.heads, each.rows, each.columns}, each.volume), each.name,
                " of attention lies outside of its ", each.volume, " elements"));
  }
  return require(q.strides[3] == 1 && out.strides[3] == 1 && (volumes[3] < 0 || mask.strides[3] == 1),
                 "the channels of q and the result, and the keys of the mask, are neighbours");
}

}  // namespace kiln
