#include "kiln/diff/report.h"

#include <algorithm>

namespace kiln::diff {

int64_t Report::num_compared() const { return std::ranges::count(tensors, std::string(), &TensorDiff::skipped); }

int64_t Report::num_not_finite() const {
  return std::ranges::count_if(tensors, [](const TensorDiff& diff) { return diff.runs_not_finite > 0; });
}

const TensorDiff* Report::first_outside() const {
  const auto found = std::ranges::find(tensors, false, &TensorDiff::within);
  return found == tensors.end() ? nullptr : &*found;
}

std::vector<const TensorDiff*> Report::faulty() const {
  std::vector<const TensorDiff*> result;
  for (const TensorDiff& tensor : tensors)
    if (!tensor.own_within) result.push_back(&tensor);
  return result;
}

}  // namespace kiln::diff
