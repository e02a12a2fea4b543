/// Runs a graph on the host, an op at a time, by every op's reference: what the network means.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace kiln::ir {

/// Sees values as a run makes them.
class ValueSink {
 public:
  virtual ~ValueSink() = default;
  /// Called for each output of each node, in the order of the run. `graph` is the one that was given, or a body in it,
  /// of which each iteration calls anew. An error ends the run with that error.
  virtual Status made(const Graph& graph, ValueId value, const HostTensor& tensor) = 0;
};

/// The graph's outputs by every op's reference. Symbols are bound to the extents (and, of shape tensors, the elements)
/// of the inputs; broken assumptions are errors. A value's memory goes with its last use. `sink` may be null.
Result<std::vector<HostTensor>> interpret(const Graph& graph, const std::vector<HostTensor>& inputs,
                                          ValueSink* sink = nullptr);

}  // namespace kiln::ir
