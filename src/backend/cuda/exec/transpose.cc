/// A transpose of a row-major tensor. Payload: perm.
#include "ops/transpose.h"

#include "backend/cuda/exec/move_step.h"

namespace kiln::cuda {
namespace {

class Planner final : public MovePlanner {
 public:
  explicit Planner(std::vector<int64_t> perm) : perm_(std::move(perm)) {}
  Result<std::vector<StridedCopy>> plan(const StepShapes& shapes) const override {
    Extents moved;
    for (const int64_t axis : perm_) moved.push_back(shapes.inputs[0][static_cast<size_t>(axis)]);
    TRY(require_extents(shapes.outputs[0], moved, "a transpose's output"));
    return std::vector{transpose_copy(shapes.inputs[0], perm_)};
  }

 private:
  std::vector<int64_t> perm_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_transpose(const LoadArguments& arguments) {
  const StepTensor& x = arguments.spec.inputs[0];
  std::vector<int64_t> perm = TRY(arguments.spec.payload.get_ints("perm"));
  TRY(require_permutation(perm, x.rank));
  return make_move_loader(arguments, TRY(element_bytes(x.dtype)), std::make_unique<Planner>(std::move(perm)));
}

}  // namespace kiln::cuda
