/// What is left of a loop when a part of its body runs in front of it.
#pragma once

#include <memory>
#include <vector>

#include "ir/graph.h"
#include "ops/loop.h"

namespace kiln::passes {

/// The part of a loop that runs in front of it.
struct PartOfLoop {
  ir::ValueId result = ir::ValueId::kNone;  ///< of the body: what the rest reads of the part, a slice in each iteration
  int direction = 1;                        ///< in which iterations read these slices
  std::vector<size_t> outputs;  ///< of the loop: carried values and stacked ones that the part gives, in order
};

struct RestOfLoop {
  ops::Loop op;  ///< its last scanned input is the one of the results
  std::shared_ptr<ir::Graph> body;
};

/// The loop without the part. `body` is the loop's, or a copy of it that computes the same. Fails where the rest reads
/// what the part carries.
Result<RestOfLoop> rest_of_loop(const ops::Loop& loop, const ir::Graph& body, const PartOfLoop& part);

}  // namespace kiln::passes
