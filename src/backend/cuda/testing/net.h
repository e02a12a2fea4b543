/// Small networks for tests of tactics.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "backend/cuda/testing/variants.h"

namespace kiln::cuda {

/// A graph in the making, with the tensors that its inputs get.
class Net {
 public:
  explicit Net(DType type) : type_(type) {}
  ir::ValueId input(const Extents& extents, double scale = 1) {
    inputs.push_back(random_tensor(type_, extents, ++seed_, scale));
    return graph.add_input(str("x", seed_), tensor_type(type_, extents));
  }
  ir::ValueId constant(const Extents& extents, double scale = 1) {
    return graph.add_constant(random_tensor(type_, extents, ++seed_, scale));
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
  uint64_t seed_ = 0;
};

}  // namespace kiln::cuda
