/// Small networks for tests of tactics.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "backend/cuda/testing/variants.h"

namespace kiln::cuda {

/// A graph in the making, with the tensors that its inputs get.
class Net {
 public:
  enum class Inputs : uint8_t { kRandom, kNone };
  explicit Net(DType type, Inputs given = Inputs::kRandom) : type_(type), given_(given) {}
  ir::ValueId input(const Extents& extents, double scale = 1) {
    ++seed_;
    if (given_ == Inputs::kRandom) inputs.push_back(random_tensor(type_, extents, seed_, scale));
    return graph.add_input(str("x", seed_), tensor_type(type_, extents));
  }
  ir::ValueId constant(const Extents& extents, double scale = 1) { return constant(type_, extents, scale); }
  ir::ValueId constant(DType type, const Extents& extents, double scale = 1) {
    return graph.add_constant(random_tensor(type, extents, ++seed_, scale));
  }
  ir::ValueId add(Op op, std::initializer_list<ir::ValueId> from) {
    auto made = graph.add_one(std::move(op), from);
    EXPECT_TRUE(made) << made.error().message;
    return *made;
  }
  void finish(ir::ValueId result) { graph.mark_output(result, "y"); }

  ir::Graph graph;
  std::vector<HostTensor> inputs;

 private:
  DType type_;
  Inputs given_;
  uint64_t seed_ = 0;
};

}  // namespace kiln::cuda
