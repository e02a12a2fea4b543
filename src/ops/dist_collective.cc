#include "ops/dist_collective.h"

#include "ops/define.h"

namespace kiln {
template const OpInfo& op_info<ops::DistCollective>();

namespace ops {

Status DistCollective::infer(InferContext& cx) const {
  const bool moves = kind == CollectiveKind::kAllGather || kind == CollectiveKind::kBroadcast;
  TRY(cx.require(moves == (reduction == ReduceKind::kNone), "operation ", kind, " has reduction ", reduction,
                 moves ? "; it moves elements, none is needed" : "; another one is needed"));
  const bool has_root = kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kReduce;
  TRY(cx.require(!has_root || root == 0, "root is rank ", root, "; Kiln runs on one rank, 0"));
  for (const int64_t rank : ranks)
    TRY(cx.require(rank == 0, "rank ", rank, " is to take part; Kiln runs on one rank, 0"));
  TRY(cx.require(ranks.size() <= 1, "rank 0 takes part ", ranks.size(), " times"));
  return cx.set_output(0, TRY(cx.input_type(0)));
}

Status DistCollective::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  const MutableView y = TRY(cx.output(0));
  for (int64_t i = 0; i < x.volume(); ++i) y.copy_element(i, x, i);
  return {};
}

}  // namespace ops
}  // namespace kiln
