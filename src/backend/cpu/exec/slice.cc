/// A slice in any mode. Inputs: x, fill element or absent. Parameters: a start an axis of x, then a stride an axis.
/// Payload: mode.
#include "ops/slice.h"

#include "backend/cpu/exec/checks.h"
#include "backend/cpu/exec/copy_step.h"
#include "backend/cpu/exec/lanes.h"

namespace kiln::cpu {
namespace {

class Planner final : public CopyPlanner {
 public:
  Planner(int bytes, SliceMode mode, const Format& format, bool has_fill)
      : bytes_(bytes), mode_(mode), format_(format), has_fill_(has_fill) {}
  Result<Copy> plan(const StepShapes& shapes) const override {
    const Extents &x = shapes.inputs[0], &y = shapes.outputs[0];
    const size_t rank = x.size();
    TRY(require(y.size() == rank && shapes.params.size() == 2 * rank, "a slice of rank ", rank, " has ",
                shapes.params.size(), " parameters"));
    if (shapes.inputs.size() > 1 && has_fill_)
      TRY(require(volume(shapes.inputs[1]) == 1, "a slice is filled with ", shapes.inputs[1],
                  "; one element is needed"));
    const std::span<const int64_t> starts = shapes.params.first(rank), strides = shapes.params.subspan(rank);
    for (size_t axis = 0; axis < rank; ++axis) {
      int64_t last = 0;
      TRY(require(!__builtin_mul_overflow(y[axis] - 1, strides[axis], &last) &&
                      !__builtin_add_overflow(last, starts[axis], &last),
                  "a slice from ", starts[axis], " by ", strides[axis], " is longer than numbers"));
      TRY(require(mode_ == SliceMode::kFill || x[axis] > 0 || y[axis] == 0, "a slice of ", y, " from ", x,
                  ", which has nothing"));
      TRY(require(mode_ != SliceMode::kStrictBounds || y[axis] == 0 ||
                      (starts[axis] >= 0 && starts[axis] < x[axis] && last >= 0 && last < x[axis]),
                  "a slice from ", starts[axis], " to ", last, " of axis ", axis, " leaves its extent ", x[axis]));
    }
    return plan_slice(bytes_, mode_, in_memory_order(format_, x), in_memory_order(format_, y),
                      in_memory_order(format_, starts), in_memory_order(format_, strides));
  }

 private:
  int bytes_;
  SliceMode mode_;
  Format format_;
  bool has_fill_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_slice(const LoadArguments& arguments) {
  const StepTensor& x = arguments.spec.inputs[0];
  const int64_t mode = TRY(arguments.spec.payload.get_int("mode"));
  TRY(require(mode >= 0 && mode <= static_cast<int64_t>(SliceMode::kReflect), "no slice mode has the number ", mode));
  TRY(require_alike(arguments.spec.outputs[0], x, "a slice's output"));
  const bool has_fill = arguments.spec.inputs.size() > 1 && arguments.spec.inputs[1].present;
  TRY(require(!has_fill || arguments.spec.inputs[1].dtype == x.dtype, "a slice of ", x.dtype,
              " is filled with another type"));
  return make_copy_loader(arguments, std::make_unique<Planner>(TRY(element_bytes(x.dtype)),
                                                               static_cast<SliceMode>(mode), x.format, has_fill));
}

}  // namespace kiln::cpu
