/// Ops whose step says all: what both backends claim of them runs on the CPU with nothing to choose.
#include "backend/cpu/tactics/attention.h"
#include "backend/cpu/tactics/registry.h"
#include "steps/grid_sample.h"
#include "steps/non_max_suppression.h"
#include "steps/non_zero.h"
#include "steps/read_values.h"
#include "steps/roi_align.h"
#include "steps/unique.h"
#include "tactics/cumulative.h"
#include "tactics/fill.h"
#include "tactics/movement/concatenation.h"
#include "tactics/movement/expand.h"
#include "tactics/movement/gather.h"
#include "tactics/movement/scatter.h"
#include "tactics/movement/slice.h"
#include "tactics/movement/transpose.h"
#include "tactics/plugin.h"
#include "tactics/softmax.h"
#include "tactics/top_k.h"
#include "tactics/whole_node.h"

// A line an op:
// clang-format off

namespace kiln::cpu {

template <> TacticList tactics_of<ops::Concatenation>() { return list_of<PlainTactic<ConcatenationOfViewsRegions>, PlainTactic<ConcatenationRegions>>(); }
template <> TacticList tactics_of<ops::Cumulative>() { return list_of<PlainTactic<CumulativeRegions>>(); }
template <> TacticList tactics_of<ops::DimValues>() { return list_of<PlainTactic<ValuesRegions>>(); }
template <> TacticList tactics_of<ops::Expand>() { return list_of<PlainTactic<ExpandRegions>>(); }
template <> TacticList tactics_of<ops::Gather>() { return list_of<PlainTactic<GatherRegions>>(); }
template <> TacticList tactics_of<ops::GridSample>() { return list_of<PlainTactic<WholeNode<ops::GridSample, steps::GridSample>>>(); }
template <> TacticList tactics_of<ops::NonMaxSuppression>() { return list_of<PlainTactic<WholeNode<ops::NonMaxSuppression, steps::NonMaxSuppression>>>(); }
template <> TacticList tactics_of<ops::NonZero>() { return list_of<PlainTactic<WholeNode<ops::NonZero, steps::NonZero>>>(); }
template <> TacticList tactics_of<ops::Plugin>() { return list_of<PlainTactic<PluginTactic>>(); }
template <> TacticList tactics_of<ops::ReadValues>() { return list_of<PlainTactic<WholeNode<ops::ReadValues, steps::ReadValues>>>(); }
template <> TacticList tactics_of<ops::RoiAlign>() { return list_of<PlainTactic<WholeNode<ops::RoiAlign, steps::RoiAlign>>>(); }
template <> TacticList tactics_of<ops::Scatter>() { return list_of<PlainTactic<ScatterRegions>>(); }
template <> TacticList tactics_of<ops::Slice>() { return list_of<PlainTactic<SliceRegions>>(); }
template <> TacticList tactics_of<ops::Softmax>() { return list_of<PlainTactic<SoftmaxRegions>>(); }
template <> TacticList tactics_of<ops::TopK>() { return list_of<PlainTactic<TopKRegions>>(); }
template <> TacticList tactics_of<ops::Transpose>() {
  static const Tactic* const kList[] = {&attention_tactic(), &the<PlainTactic<TransposeRegions>>()};
  return kList;
}
template <> TacticList tactics_of<ops::Unique>() { return list_of<PlainTactic<WholeNode<ops::Unique, steps::Unique>>>(); }

}  // namespace kiln::cpu
