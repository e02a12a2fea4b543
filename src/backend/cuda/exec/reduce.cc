#include "steps/reduce.h"

#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/lanes/reduce.h"

namespace kiln::cuda {
namespace {

/// One or two launches.
struct Way {
  std::vector<ReduceLaunch> launches;
  std::vector<Function> functions;
};

class BoundReduce final : public BoundStep {
 public:
  BoundReduce(const StepInputs& inputs, int64_t align, int64_t workspace_bytes, Way vectors, Way elements)
      : inputs_(inputs),
        align_(align),
        workspace_bytes_(workspace_bytes),
        vectors_(std::move(vectors)),
        elements_(std::move(elements)) {}
  int64_t workspace_bytes() const override { return workspace_bytes_; }
  Status run(const RunArguments& arguments) override {
    const void* x = inputs_.at(0, arguments);
    Way& way = !vectors_.launches.empty() && is_aligned(x, align_) ? vectors_ : elements_;
    for (size_t i = 0; i < way.launches.size(); ++i) {
      const bool is_last = i + 1 == way.launches.size();
      ReduceArgument& argument = way.launches[i].argument;
      argument.x = i == 0 ? x : arguments.workspace;
      argument.y = is_last ? arguments.outputs[0] : arguments.workspace;
      void* pointers[] = {&argument};
      TRY(launch(*arguments.stream, way.functions[i], way.launches[i].shape, pointers));
    }
    return {};
  }

 private:
  const StepInputs& inputs_;
  int64_t align_, workspace_bytes_;
  Way vectors_, elements_;
};

class LoadedReduce final : public LoadedStep {
 public:
  LoadedReduce(const LoadArguments& arguments, const steps::Reduce& step, const ReduceTuning& tuning, StepInputs inputs,
               StepCode code)
      : num_sms_(arguments.device.properties().num_multiprocessors),
        step_(step),
        tuning_(tuning),
        x_(arguments.spec.inputs[0]),
        inputs_(std::move(inputs)),
        code_(std::move(code)) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const LaneExtents e = step_.lanes(x_.format, shapes.inputs[0]);
    TRY(require(tuning_.columns || e.inner == 1, "the kernel reduces rows; this tensor has ", e.inner,
                " columns behind the reduced axes"));
    const ReduceShape shape{e.outer, e.length, e.inner};
    const int element = bits_of(x_.dtype) / 8;
    int64_t align = int64_t{tuning_.vec} * element;
    Way vectors;
    std::optional<ReduceLaunch> staged;
    if (tuning_.staged) staged = reduce_staged_launch(shape, element, step_.averages(), num_sms_);
    if (staged) {
      vectors = TRY(way_of({*staged}));
      align = kStageAlign;
    } else if (tuning_.vec > 1 && (tuning_.columns ? e.inner : e.length) % tuning_.vec == 0) {
      vectors = TRY(way_of(launches(shape, tuning_.vec)));
    }
    return std::make_unique<BoundReduce>(inputs_, align, reduce_workspace_bytes(num_sms_), std::move(vectors),
                                         TRY(way_of(launches(shape, 1))));
  }

 private:
  std::vector<ReduceLaunch> launches(const ReduceShape& shape, int vec) const {
    return reduce_launches(shape, tuning_.columns, vec, step_.averages(), num_sms_);
  }
  Result<Way> way_of(std::vector<ReduceLaunch> launches) const {
    Way way{std::move(launches), {}};
    for (const ReduceLaunch& launch : way.launches) {
      way.functions.push_back(TRY(code_.function(launch.entry)));
      TRY(way.functions.back().check(launch.shape));
    }
    return way;
  }

  int num_sms_;
  steps::Reduce step_;
  ReduceTuning tuning_;
  StepTensor x_;
  StepInputs inputs_;
  StepCode code_;
};

class BoundReduceAxes final : public BoundStep {
 public:
  BoundReduceAxes(const StepInputs& inputs, const Function& function, const AxesLaunch& launch)
      : inputs_(inputs), function_(function), launch_(launch) {}
  Status run(const RunArguments& arguments) override {
    launch_.argument.x = inputs_.at(0, arguments);
    launch_.argument.y = arguments.outputs[0];
    void* pointers[] = {&launch_.argument};
    return launch(*arguments.stream, function_, launch_.shape, pointers);
  }

 private:
  const StepInputs& inputs_;
  const Function& function_;
  AxesLaunch launch_;
};

/// Axes that are no neighbours.
class LoadedReduceAxes final : public LoadedStep {
 public:
  LoadedReduceAxes(const steps::Reduce& step, const StepTensor& x, StepInputs inputs, StepCode code,
                   const Function& function)
      : step_(step), x_(x), inputs_(std::move(inputs)), code_(std::move(code)), function_(function) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const Extents x = in_memory_order(x_.format, shapes.inputs[0]);
    const AxesLaunch launch = TRY(reduce_axes_launch(x, step_.axes, step_.averages()));
    TRY(function_.check(launch.shape));
    return std::make_unique<BoundReduceAxes>(inputs_, function_, launch);
  }

 private:
  steps::Reduce step_;
  StepTensor x_;
  StepInputs inputs_;
  StepCode code_;
  Function function_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Reduce& step, const LoadArguments& arguments) {
  TRY(require_one_type(arguments.spec));
  StepCode code = TRY(StepCode::load(arguments));
  StepInputs inputs = TRY(StepInputs::upload(arguments));
  if (!step.are_neighbours()) {
    const Function function = TRY(code.function("reduce_axes"));
    return std::make_unique<LoadedReduceAxes>(step, arguments.spec.inputs[0], std::move(inputs), std::move(code),
                                              function);
  }
  const ReduceTuning tuning = TRY(from_record<ReduceTuning>(arguments.spec.tuning));
  return std::make_unique<LoadedReduce>(arguments, step, tuning, std::move(inputs), std::move(code));
}

}  // namespace kiln::cuda
