#include "steps/loop.h"

#include <algorithm>

#include "steps/define.h"
#include "steps/if.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Loop>();

namespace kiln::steps {

Status Loop::check(const StepTypes& types) const {
  const auto is_direction = [](int d) { return d == 1 || d == -1; };
  TRY(require(std::ranges::all_of(scans, is_direction) && std::ranges::all_of(stacks, is_direction),
              "a direction is neither 1 nor -1"));
  TRY(require(carried >= 0 && carried <= std::ssize(types.inputs), carried, " values are carried"));
  TRY(require(first_captured() <= types.inputs.size(), "a loop with ", carried, " carried and ", scans.size(),
              " scanned values has ", types.inputs.size(), " inputs"));
  TRY(require(types.outputs.size() == static_cast<size_t>(carried) + stacks.size(), "a loop with ", carried,
              " carried and ", stacks.size(), " stacked values has ", types.outputs.size(), " outputs"));
  TRY(require(types.num_params <= 1, "a loop has ", types.num_params, " parameters"));
  TRY(check_single(types, 0, is_index, "count"));
  TRY(check_single(
      types, 1, [](DType t) { return t == DType::kBool; }, "condition"));
  for (size_t i = kFirstCarried; i < types.inputs.size(); ++i)
    TRY(require(types.inputs[i].present, "input ", i, " is not there"));
  for (size_t c = 0; c < static_cast<size_t>(carried); ++c) {
    const StepTensor &before = types.inputs[kFirstCarried + c], &after = types.outputs[c];
    TRY(require(before.dtype == after.dtype && before.rank == after.rank, "carried value ", c, " is ", before.dtype,
                " of rank ", before.rank, " and becomes ", after.dtype, " of rank ", after.rank));
  }
  for (size_t k = 0; k < scans.size(); ++k)
    TRY(require(types.inputs[first_scanned() + k].rank > 0, "scanned value ", k, " has no axis"));
  for (size_t k = 0; k < stacks.size(); ++k)
    TRY(require(types.outputs[static_cast<size_t>(carried) + k].rank > 0, "stacked value ", k, " has no axis"));
  return check_decided(decided, types);
}

}  // namespace kiln::steps
