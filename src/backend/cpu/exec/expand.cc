/// A row-major tensor broadcast to the output's extents.
#include <algorithm>

#include "backend/cpu/exec/checks.h"
#include "backend/cpu/exec/copy_step.h"

namespace kiln::cpu {
namespace {

class Planner final : public CopyPlanner {
 public:
  explicit Planner(int bytes) : bytes_(bytes) {}
  Result<Copy> plan(const StepShapes& shapes) const override {
    const Extents &x = shapes.inputs[0], &y = shapes.outputs[0];
    const auto fits = [](int64_t from, int64_t to) { return from == 1 || from == to; };
    TRY(require(x.size() <= y.size() && std::equal(x.rbegin(), x.rend(), y.rbegin(), fits), x, " does not expand to ",
                y));
    return plan_expand(bytes_, shapes.inputs[0], shapes.outputs[0]);
  }

 private:
  int bytes_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_expand(const LoadArguments& arguments) {
  TRY(require_alike(arguments.spec.outputs[0], arguments.spec.inputs[0], "an expansion's output"));
  return make_copy_loader(arguments, std::make_unique<Planner>(TRY(element_bytes(arguments.spec.inputs[0].dtype))));
}

}  // namespace kiln::cpu
