/// Makes the tensors and steps of a plan's block from a cover.
#pragma once

#include <map>

#include "base/function_ref.h"
#include "builder/sources.h"
#include "plan/plan.h"
#include "tactics/cover.h"

namespace kiln {

/// What profiles share, as it is filled.
struct PlanTables {
  SourceTable& weights;
  WeightTable& binaries;
  FixedSources& fixed;  ///< gains the sources whose elements went into a step
  /// Adds a body of a node to the plan; its index.
  FunctionRef<Result<int>(const ir::Node& node, size_t body)> add_body;
};

/// Fills `block.tensors`, `.steps` and `.arena_bytes`. `graph` is the one that was covered. Steps may run on as many
/// auxiliary streams.
Status emit_block(const ir::Graph& graph, const Cover& cover, const Backend& backend, const CoverOptions& options,
                  int most_aux_streams, PlanTables tables, plan::Block& block);

}  // namespace kiln
