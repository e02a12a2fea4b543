/// Inputs one after the other along an axis, all in one format. Payload: axis, by its position in memory.
#include "backend/cuda/exec/move_step.h"

namespace kiln::cuda {
namespace {

class Planner final : public MovePlanner {
 public:
  Planner(int axis, const Format& format) : axis_(axis), format_(format) {}
  Result<std::vector<StridedCopy>> plan(const StepShapes& shapes) const override {
    std::vector<Extents> inputs;
    for (const Extents& input : shapes.inputs) inputs.push_back(in_memory_order(format_, input));
    return concatenation_copies(inputs, axis_);
  }

 private:
  int axis_;
  Format format_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_concatenation(const LoadArguments& arguments) {
  const StepTensor& y = arguments.spec.outputs.at(0);
  const int axis = TRY(normalize_axis(TRY(arguments.spec.payload.get_int("axis")), y.rank));
  return make_move_loader(arguments, TRY(element_bytes(y.dtype)), std::make_unique<Planner>(axis, y.format));
}

}  // namespace kiln::cuda
