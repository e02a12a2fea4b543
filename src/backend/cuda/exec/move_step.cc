#include "backend/cuda/exec/move_step.h"

#include <algorithm>

namespace kiln::cuda {
namespace {

class BoundMove final : public BoundStep {
 public:
  BoundMove(const StepInputs& inputs, Move move) : inputs_(inputs), move_(std::move(move)), sources_(inputs.size()) {}
  Status run(const RunArguments& arguments) override {
    for (size_t i = 0; i < sources_.size(); ++i) sources_[i] = inputs_.at(i, arguments);
    return move_.run(*arguments.stream, sources_.data(), arguments.outputs[0]);
  }

 private:
  const StepInputs& inputs_;
  Move move_;
  std::vector<const void*> sources_;
};

class LoadedMove final : public LoadedStep {
 public:
  LoadedMove(const LoadArguments& arguments, int element_bytes, std::unique_ptr<MovePlanner> planner, StepInputs inputs,
             StepCode code)
      : num_sms_(arguments.device.properties().num_multiprocessors),
        element_bytes_(element_bytes),
        planner_(std::move(planner)),
        inputs_(std::move(inputs)),
        code_(std::move(code)),
        functions_(code_.module()) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const std::vector<StridedCopy> copies = TRY(planner_->plan(shapes));
    return std::make_unique<BoundMove>(inputs_, TRY(Move::plan(functions_, element_bytes_, copies, num_sms_)));
  }

 private:
  int num_sms_, element_bytes_;
  std::unique_ptr<MovePlanner> planner_;
  StepInputs inputs_;
  StepCode code_;
  MoveFunctions functions_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> make_move_loader(const LoadArguments& arguments,
                                                     std::unique_ptr<MovePlanner> planner) {
  StepCode code = TRY(StepCode::load(arguments));
  const int bytes = std::max(bits_of(arguments.spec.outputs[0].dtype) / 8, 1);
  return std::make_unique<LoadedMove>(arguments, bytes, std::move(planner), TRY(StepInputs::upload(arguments)),
                                      std::move(code));
}

}  // namespace kiln::cuda
