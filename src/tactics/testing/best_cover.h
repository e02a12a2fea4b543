/// The cheapest cover of a small graph by trying them all.
#pragma once

#include "tactics/cover.h"
#include "tactics/testing/fake_backend.h"

namespace kiln::testing {

/// Summed times of the table, reformats and overheads of the best cover there is. For graphs of some ten nodes.
double best_cover_us(const ir::Graph& graph, FakeBackend& backend);
/// The same sum of a cover that was found.
double cover_us(const ir::Graph& graph, const FakeBackend& backend, const Cover& cover);

}  // namespace kiln::testing
