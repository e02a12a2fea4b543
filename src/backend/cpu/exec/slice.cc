#include "steps/slice.h"

#include "backend/cpu/exec/copy_step.h"
#include "steps/lane_extents.h"

namespace kiln::cpu {
namespace {

class Planner final : public CopyPlanner {
 public:
  Planner(int bytes, SliceMode mode, const Format& format) : bytes_(bytes), mode_(mode), format_(format) {}
  Result<Copy> plan(const StepShapes& shapes) const override {
    const Extents &x = shapes.inputs[0], &y = shapes.outputs[0];
    const size_t rank = x.size();
    const std::span<const int64_t> starts = shapes.params.first(rank), strides = shapes.params.subspan(rank);
    return plan_slice(bytes_, mode_, in_memory_order(format_, x), in_memory_order(format_, y),
                      in_memory_order(format_, starts), in_memory_order(format_, strides));
  }

 private:
  int bytes_;
  SliceMode mode_;
  Format format_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Slice& step, const LoadArguments& arguments) {
  const StepTensor& x = arguments.spec.inputs[0];
  return make_copy_loader(arguments, std::make_unique<Planner>(TRY(element_bytes(x.dtype)), step.mode, x.format));
}

}  // namespace kiln::cpu
