/// The context of passes, and the pipeline that runs them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "ir/graph.h"

namespace kiln::passes {

struct PassContext {
  Log& log;
  bool strongly_typed = false;  ///< every tensor is rounded to its type: casts that change values stay
  bool refittable = false;      ///< sources are replaced by any others: nothing is decided by their elements
  bool is_body = false;         ///< no run need come to it: what fails there is an error of the run, not of the build
  int64_t fold_budget_bytes = int64_t{256} << 20;  ///< how much larger than its inputs folding may make a constant
  /// Whether the backend multiplies a contraction's bytes where both operands are dequantized; absent: it does not.
  std::function<bool(const ir::Graph&, ir::NodeId contraction)> multiplies_bytes;
  bool multiplies_in_kind = false;  ///< whether the backend has kernels for products of f64, i32 and i64
  std::set<std::string> warned;     ///< what the log has been told: passes run more than once
  FixedSources fixed_sources;
  /// Called after each pass with its name: `kiln dump --after`, tests that verify.
  Status (*after)(void* user, std::string_view pass, const ir::Graph& graph) = nullptr;
  void* after_user = nullptr;
};

using Pass = Status (*)(ir::Graph&, PassContext&);
struct NamedPass {
  std::string_view name;
  Pass run;
  bool accounts = false;  ///< it says itself what it does to sources (source_uses.h)
};
/// The passes in their order: pipeline.cc reads as a table of contents.
std::span<const NamedPass> pipeline();
/// Runs the pipeline; the error names the pass. Times go to the verbose log.
Status run_pipeline(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
