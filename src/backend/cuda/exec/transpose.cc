#include "steps/transpose.h"

#include "backend/cuda/exec/move_step.h"

namespace kiln::cuda {
namespace {

class Planner final : public MovePlanner {
 public:
  explicit Planner(std::vector<int64_t> perm) : perm_(std::move(perm)) {}
  Result<std::vector<StridedCopy>> plan(const StepShapes& shapes) const override {
    return std::vector{transpose_copy(shapes.inputs[0], perm_)};
  }

 private:
  std::vector<int64_t> perm_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Transpose& step, const LoadArguments& arguments) {
  return make_move_loader(arguments, std::make_unique<Planner>(step.perm));
}

}  // namespace kiln::cuda
