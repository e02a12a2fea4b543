#include "steps/copy.h"

#include "backend/cuda/exec/move_step.h"
#include "backend/cuda/kernels/move/reformat.h"

namespace kiln::cuda {
namespace {

class Planner final : public MovePlanner {
 public:
  Planner(const StepTensor& from, const StepTensor& to) : from_(from), to_(to) {}
  Result<std::vector<StridedCopy>> plan(const StepShapes& shapes) const override {
    if (bits_of(from_.dtype) < 8) {  // packed elements move as bytes where the order stays
      const Extents bytes{size_bytes(from_.dtype, from_.format.storage_volume(shapes.inputs[0]))};
      return std::vector{reformat_copy(bytes, {}, {})};
    }
    return reformat_copies(shapes.inputs[0], from_.format, to_.format);
  }

 private:
  StepTensor from_, to_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Copy&, const LoadArguments& arguments) {
  const StepTensor &from = arguments.spec.inputs[0], &to = arguments.spec.outputs[0];
  TRY(check_reformat(from.rank, from.format, to.format));
  TRY(require(!arguments.constants[0] || !from.format.is_blocked(), "a constant is linear, not ", from.format));
  return make_move_loader(arguments, std::make_unique<Planner>(from, to));
}

}  // namespace kiln::cuda
