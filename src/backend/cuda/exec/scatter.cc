#include "steps/scatter.h"

#include "backend/cuda/exec/index_fault.h"
#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/lanes/tile.h"
#include "backend/cuda/kernels/scatter/scatter.h"

namespace kiln::cuda {
namespace {

struct Kernels {
  ScatterLaunch launch;
  Function copy, claim, write;
};

class BoundScatter final : public BoundStep {
 public:
  BoundScatter(const StepInputs& inputs, std::vector<Kernels> ways, IndexFault fault)
      : inputs_(inputs), ways_(std::move(ways)), fault_(std::move(fault)) {}
  int64_t workspace_bytes() const override { return ways_.back().launch.workspace_bytes(); }
  Status run(const RunArguments& arguments) override {
    const void *data = inputs_.at(0, arguments), *updates = inputs_.at(2, arguments);
    void* y = arguments.outputs[0];
    size_t i = 0;
    const auto fits = [&](const ScatterLaunch& l) {
      return is_aligned(data, l.copy_bytes) && is_aligned(updates, l.row_bytes) &&
             is_aligned(y, std::max(l.copy_bytes, l.row_bytes));
    };
    while (i + 1 < ways_.size() && !fits(ways_[i].launch)) ++i;
    Kernels& way = ways_[i];
    ScatterArgument& argument = way.launch.argument;
    argument.data = data;
    argument.indices = inputs_.at(1, arguments);
    argument.updates = updates;
    argument.y = y;
    argument.owners = reinterpret_cast<int32_t*>(arguments.workspace);
    int64_t* fault = fault_.address();
    void* pointers[] = {&argument, &fault, nullptr};
    TRY(launch(*arguments.stream, way.copy, way.launch.shapes[0], pointers));
    TRY(launch(*arguments.stream, way.claim, way.launch.shapes[1], pointers));
    return launch(*arguments.stream, way.write, way.launch.shapes[2], pointers);
  }
  bool has_check() const override { return true; }
  Status check() override { return fault_.check(); }

 private:
  const StepInputs& inputs_;
  std::vector<Kernels> ways_;  ///< the widest units first; the last one takes any address
  IndexFault fault_;
};

class LoadedScatter final : public LoadedStep {
 public:
  LoadedScatter(const ops::Scatter& op, CudaDevice& device, int element_bytes, StepInputs inputs, StepCode code,
                Function claim)
      : device_(device),
        op_(op),
        element_bytes_(element_bytes),
        inputs_(std::move(inputs)),
        code_(std::move(code)),
        claim_(std::move(claim)) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    std::vector<Kernels> ways;
    for (const int most : {16, element_bytes_}) {
      const ScatterLaunch launch = TRY(scatter_launch(op_, element_bytes_, most, shapes.inputs[0], shapes.inputs[1]));
      const auto copy = code_.function(scatter_copy_entry(launch.copy_bytes)),
                 write = code_.function(scatter_write_entry(launch.row_bytes));
      if (!copy || !write) continue;
      for (const Function* function : {&*copy, &claim_, &*write})
        for (const LaunchShape& shape : launch.shapes) TRY(function->check(shape));
      ways.push_back({launch, *copy, claim_, *write});
    }
    TRY(require(
        !ways.empty() && std::max(ways.back().launch.copy_bytes, ways.back().launch.row_bytes) == element_bytes_,
        "a scatter's code has no kernels for elements of ", element_bytes_, " bytes"));
    return std::make_unique<BoundScatter>(inputs_, std::move(ways),
                                          TRY(IndexFault::create(device_, shapes.inputs[0], "its update is left out")));
  }

 private:
  CudaDevice& device_;
  ops::Scatter op_;
  int element_bytes_;
  StepInputs inputs_;
  StepCode code_;
  Function claim_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Scatter& step, const LoadArguments& arguments) {
  const int bytes = TRY(element_bytes(arguments.spec.inputs[0].dtype));
  StepCode code = TRY(StepCode::load(arguments));
  Function claim = TRY(code.function(kScatterClaimEntry));
  return std::make_unique<LoadedScatter>(step.op, arguments.device, bytes, TRY(StepInputs::upload(arguments)),
                                         std::move(code), std::move(claim));
}

}  // namespace kiln::cuda
