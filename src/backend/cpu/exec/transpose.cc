/// A transpose of a row-major tensor. Payload: perm.
#include "ops/transpose.h"
#include "backend/cpu/exec/checks.h"
#include "backend/cpu/exec/copy_step.h"

namespace kiln::cpu {
namespace {

class Planner final : public CopyPlanner {
 public:
  Planner(int bytes, std::vector<int64_t> perm) : bytes_(bytes), perm_(std::move(perm)) {}
  Result<Copy> plan(const StepShapes& shapes) const override {
    Extents moved;
    for (const int64_t axis : perm_) moved.push_back(shapes.inputs[0][static_cast<size_t>(axis)]);
    TRY(require_extents(shapes.outputs[0], moved, "a transpose's output"));
    return plan_transpose(bytes_, shapes.inputs[0], perm_);
  }

 private:
  int bytes_;
  std::vector<int64_t> perm_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_transpose(const LoadArguments& arguments) {
  const StepTensor& x = arguments.spec.inputs[0];
  std::vector<int64_t> perm = TRY(arguments.spec.payload.get_ints("perm"));
  TRY(require_alike({arguments.spec.outputs[0].dtype, x.format, x.rank}, x, "a transpose's output"));
  TRY(require_permutation(perm, x.rank));
  return make_copy_loader(arguments, std::make_unique<Planner>(TRY(element_bytes(x.dtype)), std::move(perm)));
}

}  // namespace kiln::cpu
