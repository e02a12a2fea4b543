/// The operands of `kiln diff`: plans and ONNX files, and the inputs that both take.
#pragma once

#include "cli/shapes.h"
#include "ir/graph.h"
#include "kiln/diff/side.h"
#include "plan/plan.h"

namespace kiln::diff {

/// A plan or, where that is null, a graph.
struct Network {
  std::string path;
  std::shared_ptr<const plan::Plan> plan;
  ir::Graph graph;

  std::vector<Input> inputs() const;
};

/// Reads a plan, or an ONNX file where the file's first bytes are not a plan's.
Result<Network> open_network(const std::string& path);

/// The inputs of a run, by the first network's order.
struct RunInputs {
  std::vector<Extents> extents;
  std::vector<Extents> values;       ///< of shape tensors; else empty
  int profile_a = 0, profile_b = 0;  ///< of the plans, that take these
};

/// Shapes that both networks take: those given, else the optimum of a profile. Fails where inputs differ in names or
/// ranks, or have no shape in common. Throws cli::Failure at a name in `given` that no input has.
Result<RunInputs> choose_inputs(const Network& a, const Network& b, const cli::NamedExtents& given);

/// Tensors for both networks with the same numbers: from files (`name:file`, raw elements of a's type) or made up,
/// floats in [-1, 1), integers 0 or 1, the same for the same seed.
struct InputTensors {
  std::vector<HostTensor> a, b;  ///< in the order, and of the types, of each network
  std::string description;
};
Result<InputTensors> make_inputs(const Network& a, const Network& b, const RunInputs& chosen,
                                 const cli::NamedTexts& files, uint64_t seed);

}  // namespace kiln::diff
