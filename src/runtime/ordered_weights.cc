#include "runtime/ordered_weights.h"

#include "tensor/memory_order.h"

namespace kiln::runtime {

namespace {

/// The weight that has the elements of this one.
int stored(const plan::Plan& plan, int weight) {
  const int same = plan.weights[static_cast<size_t>(weight)].same_as;
  return same >= 0 ? same : weight;
}

}  // namespace

Status OrderedWeights::order() {
  for (const plan::Block* block : plan::blocks_of(plan_))
    for (const plan::Tensor& t : block->tensors) {
      if (t.place != plan::Place::kWeight || t.format.is_linear()) continue;
      HostTensor& ordered = ordered_[{stored(plan_, t.index), t.format.text()}];
      if (!ordered.owner()) ordered = TRY(in_memory_order(t.format, plan_.weights[static_cast<size_t>(t.index)].value));
    }
  return {};
}

const HostTensor& OrderedWeights::at(const plan::Tensor& tensor) const {
  CHECK(tensor.place == plan::Place::kWeight);
  if (tensor.format.is_linear()) return plan_.weights[static_cast<size_t>(tensor.index)].value;
  return ordered_.at({stored(plan_, tensor.index), tensor.format.text()});
}

}  // namespace kiln::runtime
