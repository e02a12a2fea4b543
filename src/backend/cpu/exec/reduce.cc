/// Reductions along neighbouring axes. Payload: kind, first and last axis by position in memory, average.
#include "backend/cpu/kernels/lanes/reduce.h"

#include "backend/cpu/exec/executor.h"
#include "steps/lane_extents.h"

namespace kiln::cpu {
namespace {

struct Attributes {
  Reduction kind = Reduction::kSum;
  size_t first = 0, last = 0;
  bool average = false;
  DType in = DType::kF32, out = DType::kF32;
  Format format;  ///< of the input
};

class BoundReduce final : public BoundStep {
 public:
  BoundReduce(Team& team, const Attributes& a, const ReduceShape& shape) : team_(team), a_(a), shape_(shape) {}
  Status run(const RunArguments& arguments) override {
    reduce(team_, a_.kind, shape_, a_.in, arguments.inputs[0], a_.out, arguments.outputs[0],
           a_.average ? shape_.length : 1);
    return {};
  }

 private:
  Team& team_;
  Attributes a_;
  ReduceShape shape_;
};

class LoadedReduce final : public LoadedStep {
 public:
  LoadedReduce(Team& team, const Attributes& a) : team_(team), a_(a) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const LaneExtents e = lane_extents(in_memory_order(a_.format, shapes.inputs[0]), a_.first, a_.last);
    TRY(require(volume(shapes.outputs[0]) == e.outer * e.inner, "a reduction of ", shapes.inputs[0], " makes ",
                shapes.outputs[0]));
    return std::make_unique<BoundReduce>(team_, a_, ReduceShape{e.outer, e.length, e.inner});
  }

 private:
  Team& team_;
  Attributes a_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_reduce(const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  Attributes a;
  const int64_t kind = TRY(spec.payload.get_int("kind"));
  TRY(require(kind >= 0 && kind <= static_cast<int64_t>(Reduction::kMin), "no reduction has the number ", kind));
  a.kind = static_cast<Reduction>(kind);
  a.first = static_cast<size_t>(TRY(normalize_axis(TRY(spec.payload.get_int("first")), spec.inputs[0].rank)));
  a.last = static_cast<size_t>(TRY(normalize_axis(TRY(spec.payload.get_int("last")), spec.inputs[0].rank)));
  TRY(require(a.first <= a.last, "axes ", a.first, " to ", a.last, " are not in order"));
  a.average = TRY(spec.payload.get_bool("average"));
  a.in = spec.inputs[0].dtype;
  a.format = spec.inputs[0].format;
  a.out = spec.outputs[0].dtype;
  TRY(require(can_reduce(a.in, a.out), "a reduction from ", a.in, " to ", a.out));
  return std::make_unique<LoadedReduce>(arguments.team, a);
}

}  // namespace kiln::cpu
