#include "backend/cpu/exec/copy_step.h"

namespace kiln::cpu {
namespace {

alignas(64) constexpr std::byte kZeros[64] = {};

class BoundCopyStep final : public BoundStep {
 public:
  BoundCopyStep(Team& team, Copy copy, int num_inputs)
      : team_(team),
        copy_(std::move(copy)),
        sources_(static_cast<size_t>(num_inputs) + 1, kZeros),
        num_inputs_(num_inputs) {}
  Status run(const RunArguments& arguments) override {
    for (int i = 0; i < num_inputs_; ++i)
      sources_[static_cast<size_t>(i)] = arguments.inputs[i] ? arguments.inputs[i] : kZeros;
    run_copy(team_, copy_, sources_.data(), arguments.outputs[0]);
    return {};
  }

 private:
  Team& team_;
  Copy copy_;
  std::vector<const void*> sources_;
  int num_inputs_;
};

class LoadedCopyStep final : public LoadedStep {
 public:
  LoadedCopyStep(Team& team, std::unique_ptr<CopyPlanner> planner, int num_inputs)
      : team_(team), planner_(std::move(planner)), num_inputs_(num_inputs) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    return make_copy_step(team_, TRY(planner_->plan(shapes)), num_inputs_);
  }

 private:
  Team& team_;
  std::unique_ptr<CopyPlanner> planner_;
  int num_inputs_;
};

}  // namespace

std::unique_ptr<BoundStep> make_copy_step(Team& team, Copy copy, int num_inputs) {
  return std::make_unique<BoundCopyStep>(team, std::move(copy), num_inputs);
}

std::unique_ptr<LoadedStep> make_copy_loader(const LoadArguments& arguments, std::unique_ptr<CopyPlanner> planner) {
  return std::make_unique<LoadedCopyStep>(arguments.team, std::move(planner),
                                          static_cast<int>(arguments.spec.inputs.size()));
}

}  // namespace kiln::cpu
