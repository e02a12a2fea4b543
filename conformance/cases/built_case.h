/// A case of an op as a network of one node.
#pragma once

#include <vector>

#include "builder/build.h"
#include "ir/graph.h"
#include "ops/testing/case.h"
#include "tensor/host_tensor.h"

namespace kiln {

struct Built {
  ir::Graph graph;
  std::vector<HostTensor> all, network_inputs;
  std::vector<const HostTensor*> by_input;
};
/// Inputs that the host reads, and those that a case says are, become constants. Other inputs of f64, and outputs, are
/// the same bits as i64 to the network, and casts of bits stand between them and the node.
Result<Built> build_case(const Case& c);

/// Builds a case like build_case, but every extent of an input is a symbol of its own that may be 1, as far as the op
/// takes it: what has to be equal, or broadcasts, only a run knows. Sets the profile.
struct DynamicCase {
  Built built;
  ProfileRequest profile;
  int num_symbols = 0;
};
Result<DynamicCase> build_dynamic_case(const Case& c);

}  // namespace kiln
