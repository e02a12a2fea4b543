/// A tensor copied from its format to another, or to other memory.
#include "backend/cpu/exec/copy_step.h"

namespace kiln::cpu {
namespace {

class Planner final : public CopyPlanner {
 public:
  Planner(const StepTensor& from, const StepTensor& to) : from_(from), to_(to) {}
  Result<Copy> plan(const StepShapes& shapes) const override {
    if (bits_of(from_.dtype) < 8) {  // packed elements move as bytes where the order stays
      TRY(require(from_.format == to_.format, "a tensor of ", from_.dtype, " cannot be reordered from ", from_.format,
                  " to ", to_.format));
      const Extents bytes{size_bytes(from_.dtype, volume(shapes.inputs[0]))};
      return plan_reformat(1, bytes, {}, {});
    }
    return plan_reformat(TRY(element_bytes(from_.dtype)), shapes.inputs[0], from_.format, to_.format);
  }

 private:
  StepTensor from_, to_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_copy(const LoadArguments& arguments) {
  return make_copy_loader(arguments, std::make_unique<Planner>(arguments.spec.inputs[0], arguments.spec.outputs[0]));
}

}  // namespace kiln::cpu
