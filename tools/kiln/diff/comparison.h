/// Compares two sides tensor by tensor.
#pragma once

#include "kiln/diff/report.h"

namespace kiln::diff {

struct CompareOptions {
  std::optional<Tolerance> tolerance;  ///< nothing: by the coarser side's precision. Integers and booleans must agree
  bool isolate = false;                ///< run a once more with b's tensors for its own, so that errors stay apart
  int64_t most_iterations = 100;       ///< of a tensor in a loop, those that are compared
  int64_t most_kept_bytes = int64_t{4} << 30;  ///< of b's tensors
};

/// Runs b, then a, and compares what a shows with what b has of the same. Fails where a run does, and where no tensor
/// of a has one of b to be compared with.
Result<Report> compare_sides(Side& a, const std::vector<HostTensor>& inputs_a, Side& b,
                             const std::vector<HostTensor>& inputs_b, const CompareOptions& options);

}  // namespace kiln::diff
