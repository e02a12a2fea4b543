/// Inputs one after the other along an axis, all in one format. Payload: axis, by its position in memory.
#include "backend/cuda/exec/move_step.h"

namespace kiln::cuda {
namespace {

class Planner final : public MovePlanner {
 public:
  Planner(int axis, const Format& format) : axis_(axis), format_(format) {}
  Result<std::vector<StridedCopy>> plan(const StepShapes& shapes) const override {
    const auto along = static_cast<size_t>(format_.axis_at(axis_));
    std::vector<Extents> inputs;
    Extents sum;
    for (const Extents& input : shapes.inputs) {
      TRY(require(input.size() == shapes.outputs[0].size(), "an input of ", input, " in a concatenation to ",
                  shapes.outputs[0]));
      Extents rest = input;
      rest[along] += sum.empty() ? 0 : sum[along];
      if (!sum.empty()) {
        sum[along] = rest[along];
        TRY(require_extents(rest, sum, "an input of a concatenation, with those in front,"));
      }
      sum = std::move(rest);
      inputs.push_back(in_memory_order(format_, input));
    }
    TRY(require_extents(shapes.outputs[0], sum, "a concatenation's output"));
    return concatenation_copies(inputs, axis_);
  }

 private:
  int axis_;
  Format format_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_concatenation(const LoadArguments& arguments) {
  const StepTensor& y = arguments.spec.outputs[0];
  const int axis = TRY(normalize_axis(TRY(arguments.spec.payload.get_int("axis")), y.rank));
  TRY(require(!arguments.spec.inputs.empty(), "a concatenation of nothing"));
  return make_move_loader(arguments, TRY(element_bytes(y.dtype)), std::make_unique<Planner>(axis, y.format));
}

}  // namespace kiln::cuda
