#include "steps/transpose.h"

#include "backend/cpu/exec/copy_step.h"

namespace kiln::cpu {
namespace {

class Planner final : public CopyPlanner {
 public:
  Planner(int bytes, std::vector<int64_t> perm) : bytes_(bytes), perm_(std::move(perm)) {}
  Result<Copy> plan(const StepShapes& shapes) const override { return plan_transpose(bytes_, shapes.inputs[0], perm_); }

 private:
  int bytes_;
  std::vector<int64_t> perm_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Transpose& step, const LoadArguments& arguments) {
  const int bytes = TRY(element_bytes(arguments.spec.inputs[0].dtype));
  return make_copy_loader(arguments, std::make_unique<Planner>(bytes, step.perm));
}

}  // namespace kiln::cpu
