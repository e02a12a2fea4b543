#include "steps/copy.h"

#include "backend/cpu/exec/copy_step.h"

namespace kiln::cpu {
namespace {

class Planner final : public CopyPlanner {
 public:
  Planner(const StepTensor& from, const StepTensor& to) : from_(from), to_(to) {}
  Result<Copy> plan(const StepShapes& shapes) const override {
    if (bits_of(from_.dtype) < 8) {  // packed elements move as bytes where the order stays
      const Extents bytes{size_bytes(from_.dtype, from_.format.storage_volume(shapes.inputs[0]))};
      return plan_reformat(1, bytes, {}, {});
    }
    TRY(require(
        !from_.format.is_blocked() || !to_.format.is_blocked() ||
            (from_.format.block() == to_.format.block() && from_.format.block_axis() == to_.format.block_axis()),
        "a copy from ", from_.format, " to ", to_.format, ", which blocks otherwise"));
    return plan_reformat(TRY(element_bytes(from_.dtype)), shapes.inputs[0], from_.format, to_.format);
  }

 private:
  StepTensor from_, to_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Copy&, const LoadArguments& arguments) {
  const StepTensor &from = arguments.spec.inputs[0], &to = arguments.spec.outputs[0];
  TRY(require(!arguments.constants[0] || !from.format.is_blocked(), "a constant, which is dense, has format ",
              from.format));
  return make_copy_loader(arguments, std::make_unique<Planner>(from, to));
}

}  // namespace kiln::cpu
