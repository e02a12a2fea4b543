/// Weights in the formats of the tensors that read them.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "plan/plan.h"

namespace kiln::runtime {

/// A plan has its weights row-major, and each once; steps read them in formats of their own. Borrows the plan.
class OrderedWeights {
 public:
  explicit OrderedWeights(const plan::Plan& plan) : plan_(plan) {}

  /// Copies what some step wants in another order than the plan has it. Called once, first.
  Status order();
  /// The elements of a tensor that is a weight, as memory in the tensor's format has them.
  const HostTensor& at(const plan::Tensor& tensor) const;

 private:
  const plan::Plan& plan_;
  std::map<std::pair<int, std::string>, HostTensor> ordered_;  // by weight and format
};

}  // namespace kiln::runtime
