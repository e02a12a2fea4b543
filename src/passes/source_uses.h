/// Finds the sources of weights whose elements a rewrite took in.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "passes/pass.h"

namespace kiln::passes {

/// How often what the outputs need reads constants of each source.
class SourceUses {
 public:
  /// Fixes sources that decide shapes.
  SourceUses(const ir::Graph& graph, PassContext& cx);
  /// Counts again. Fixes sources that are read less often than before: their elements went into attributes, into
  /// constants without an origin, or into the choice of a rewrite. So a pass that does none of it has nothing to say.
  /// A pass that looks at elements and keeps their reader has to `fix` their sources itself.
  void recount(const ir::Graph& graph, std::string_view rewrite, PassContext& cx);
  /// Counts again after what merges equal nodes or folds, and notes itself what it does to sources.
  void skip(const ir::Graph& graph, PassContext& cx) { *this = SourceUses(graph, cx); }

 private:
  std::map<std::string, int64_t, std::less<>> count_;
};

}  // namespace kiln::passes
