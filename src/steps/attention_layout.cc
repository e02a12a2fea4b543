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

Result<AttentionLayout> AttentionLayout::parse(std::span<const int64_t> params, const std::array<int64_t, 5>& volumes) {
  TRY(require(params.size() == kNumParams, "an attention step has ", params.size(), " parameters; it takes ",
              kNumParams));
  AttentionLayout a;
  size_t next = 0;
  for (int64_t* extent : {&a.batch, &a.heads, &a.queries, &a.keys, &a.depth, &a.value_depth}) {
    *extent = params[next++];
    TRY(require(*extent >= 0 && *extent < kMostExtent, "an extent of attention is ", *extent,
                "; kernels count to 2^30"));
  }
  for (AttentionOperand* operand : {&a.q, &a.k, &a.v, &a.mask, &a.out}) {
    operand->offset = params[next++];
    for (int64_t& stride : operand->strides) stride = params[next++];
  }
  a.kv_heads = params[next];
  TRY(require(
      a.kv_heads >= 0 && a.kv_heads <= a.heads && (a.heads == 0 || (a.kv_heads > 0 && a.heads % a.kv_heads == 0)),
      a.heads, " heads of attention cannot share ", a.kv_heads));
  struct Operand {
    const char* name;
    const AttentionOperand* operand;
    int64_t heads, rows, columns, volume;
  };
  for (const Operand& each : {Operand{"q", &a.q, a.heads, a.queries, a.depth, volumes[0]},
                              Operand{"k", &a.k, a.kv_heads, a.keys, a.depth, volumes[1]},
                              Operand{"v", &a.v, a.kv_heads, a.keys, a.value_depth, volumes[2]},
                              Operand{"the mask", &a.mask, a.heads, a.queries, a.keys, volumes[3]},
                              Operand{"the result", &a.out, a.heads, a.queries, a.value_depth, volumes[4]}}) {
    if (each.volume < 0) continue;
    TRY(require(lies_within(*each.operand, {a.batch, each.heads, each.rows, each.columns}, each.volume), each.name,
                " of attention lies outside of its ", each.volume, " elements"));
  }
  TRY(require(a.q.strides[3] == 1 && a.out.strides[3] == 1 && (volumes[3] < 0 || a.mask.strides[3] == 1),
              "the channels of q and the result, and the keys of the mask, are neighbours"));
  return a;
}

}  // namespace kiln
