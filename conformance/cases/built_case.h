/// A case of an op as a network of one node.
#pragma once

#include <vector>

#include "ir/graph.h"
#include "ops/testing/case.h"
#include "tensor/host_tensor.h"

namespace kiln {

struct Built {
  ir::Graph graph;
  std::vector<HostTensor> all, network_inputs;
  std::vector<const HostTensor*> by_input;
};
/// Inputs that the host reads, and those that a case says are, become constants.
Result<Built> build_case(const Case& c);

}  // namespace kiln
