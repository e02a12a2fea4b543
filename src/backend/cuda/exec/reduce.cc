/// Reductions along neighbouring axes. Payload: first and last axis by position in memory, average, columns (whether
/// the axes are not the innermost), vec (elements of a load), staged (whether there is a kernel for many rows by way of
/// shared memory).
#include "backend/cuda/kernels/lanes/reduce.h"

#include "backend/cuda/exec/step.h"

namespace kiln::cuda {
namespace {

struct Attributes {
  size_t first = 0, last = 0;
  bool average = false, columns = false, staged = false;
  int vec = 1;
  StepTensor x;
};

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
  LoadedReduce(const LoadArguments& arguments, const Attributes& a, StepInputs inputs, StepCode code)
      : num_sms_(arguments.device.properties().num_multiprocessors),
        a_(a),
        inputs_(std::move(inputs)),
        code_(std::move(code)) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const LaneExtents e = lane_extents(in_memory_order(a_.x.format, shapes.inputs[0]), a_.first, a_.last);
    TRY(require(a_.columns || e.inner == 1, "a reduction of rows meets ", e.inner, " columns"));
    const ReduceShape shape{e.outer, e.length, e.inner};
    TRY(require_count(shapes.outputs[0], e.outer * e.inner, "a reduction's result"));
    const int element = bits_of(a_.x.dtype) / 8;
    int64_t align = int64_t{a_.vec} * element;
    Way vectors;
    std::optional<ReduceLaunch> staged;
    if (a_.staged) staged = reduce_staged_launch(shape, element, a_.average, num_sms_);
    if (staged) {
      vectors = TRY(way_of({*staged}));
      align = kStageAlign;
    } else if (a_.vec > 1 && (a_.columns ? e.inner : e.length) % a_.vec == 0) {
      vectors = TRY(way_of(launches(shape, a_.vec)));
    }
    return std::make_unique<BoundReduce>(inputs_, align, reduce_workspace_bytes(num_sms_), std::move(vectors),
                                         TRY(way_of(launches(shape, 1))));
  }

 private:
  std::vector<ReduceLaunch> launches(const ReduceShape& shape, int vec) const {
    return reduce_launches(shape, a_.columns, vec, a_.average, num_sms_);
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
  Attributes a_;
  StepInputs inputs_;
  StepCode code_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_reduce(const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  TRY(require_one_type(spec));
  Attributes a;
  a.x = spec.inputs[0];
  TRY(element_bytes(a.x.dtype));
  a.first = static_cast<size_t>(TRY(normalize_axis(TRY(spec.payload.get_int("first")), a.x.rank)));
  a.last = static_cast<size_t>(TRY(normalize_axis(TRY(spec.payload.get_int("last")), a.x.rank)));
  TRY(require(a.first <= a.last, "axes ", a.first, " to ", a.last, " are not in order"));
  a.average = TRY(spec.payload.get_bool("average"));
  a.columns = TRY(spec.payload.get_bool("columns"));
  a.staged = TRY(spec.payload.get_bool("staged"));
  const int64_t vec = TRY(spec.payload.get_int("vec"));
  TRY(require(vec == 1 || vec == 2 || vec == 4 || vec == 8, "a reduction loads ", vec, " elements at once"));
  a.vec = static_cast<int>(vec);
  StepCode code = TRY(StepCode::load(arguments));
  return std::make_unique<LoadedReduce>(arguments, a, TRY(StepInputs::upload(arguments)), std::move(code));
}

}  // namespace kiln::cuda
