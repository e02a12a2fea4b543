/// A row-major tensor broadcast to the output's extents.
#include <algorithm>
#include <span>

#include "backend/cuda/exec/move_step.h"

namespace kiln::cuda {
namespace {

class Planner final : public MovePlanner {
 public:
  Result<std::vector<StridedCopy>> plan(const StepShapes& shapes) const override {
    const Extents &from = shapes.inputs[0], &to = shapes.outputs[0];
    TRY(require(from.size() <= to.size() && std::ranges::equal(from, std::span(to).last(from.size()),
                                                               [](int64_t e, int64_t t) { return e == 1 || e == t; }),
                from, " does not expand to ", to));
    return std::vector{expand_copy(shapes.inputs[0], shapes.outputs[0])};
  }
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_expand(const LoadArguments& arguments) {
  return make_move_loader(arguments, TRY(element_bytes(arguments.spec.inputs[0].dtype)), std::make_unique<Planner>());
}

}  // namespace kiln::cuda
