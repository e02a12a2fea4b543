/// Inputs one after the other along an axis, all in one format. Payload: axis, by its position in memory.
#include "backend/cpu/exec/checks.h"
#include "backend/cpu/exec/copy_step.h"
#include "backend/cpu/exec/lanes.h"

namespace kiln::cpu {
namespace {

class Planner final : public CopyPlanner {
 public:
  Planner(int bytes, int axis, const Format& format) : bytes_(bytes), axis_(axis), format_(format) {}
  Result<Copy> plan(const StepShapes& shapes) const override {
    const auto along = static_cast<size_t>(format_.axis_at(axis_));
    std::vector<Extents> inputs;
    Extents sum = shapes.outputs[0];
    sum[along] = 0;
    for (const Extents& input : shapes.inputs) {
      TRY(require(input.size() == sum.size() && !__builtin_add_overflow(sum[along], input[along], &sum[along]),
                  "a concatenation of ", input));
      Extents rest = input;
      rest[along] = sum[along];
      TRY(require_extents(rest, sum, "an input of a concatenation, with those in front,"));
      inputs.push_back(in_memory_order(format_, input));
    }
    TRY(require_extents(shapes.outputs[0], sum, "a concatenation's output"));
    return plan_concatenation(bytes_, inputs, axis_);
  }

 private:
  int bytes_, axis_;
  Format format_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_concatenation(const LoadArguments& arguments) {
  const StepTensor& y = arguments.spec.outputs[0];
  for (const StepTensor& x : arguments.spec.inputs) TRY(require_alike(x, y, "an input of a concatenation"));
  const int axis = TRY(normalize_axis(TRY(arguments.spec.payload.get_int("axis")), y.rank));
  return make_copy_loader(arguments, std::make_unique<Planner>(TRY(element_bytes(y.dtype)), axis, y.format));
}

}  // namespace kiln::cpu
