#include "plan/programs.h"

#include <algorithm>

namespace kiln::plan {

void for_each_program(const sym::Guard& guard, VisitProgram visit) { visit(guard.lhs), visit(guard.rhs); }

void for_each_program(const IoTensor& io, VisitProgram visit) {
  std::ranges::for_each(io.extents, visit);
  std::ranges::for_each(io.values, visit);
}

void for_each_program(const Block& block, VisitProgram visit) {
  for (const KnownSize& size : block.known_sizes) visit(size.value);
  for (const Tensor& tensor : block.tensors) {
    std::ranges::for_each(tensor.extents, visit);
    visit(tensor.offset);
  }
  for (const Step& step : block.steps) {
    std::ranges::for_each(step.params, visit);
    for (const Alternative& other : step.alternatives) std::ranges::for_each(other.params, visit);
    for (const DecidedSize& size : step.sizes) visit(size.most);
  }
}

void for_each_program(const Body& body, VisitProgram visit) {
  for (const auto* ios : {&body.inputs, &body.outputs})
    for (const IoTensor& io : *ios) for_each_program(io, visit);
  for (const sym::Guard& guard : body.guards) for_each_program(guard, visit);
  for_each_program(static_cast<const Block&>(body), visit);
}

}  // namespace kiln::plan
