#include "steps/normalization.h"

#include <algorithm>

#include "backend/cuda/exec/operand_map.h"
#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/lanes/normalize.h"

namespace kiln::cuda {
namespace {

struct Kernel {
  NormalizationLaunch launch;
  Function function;
  OperandMap map;
};

class BoundNormalization final : public BoundStep {
 public:
  BoundNormalization(const StepInputs& inputs, int64_t workspace_bytes, int64_t align, std::vector<Kernel> vectors,
                     std::vector<Kernel> elements)
      : inputs_(inputs),
        workspace_bytes_(workspace_bytes),
        align_(align),
        vectors_(std::move(vectors)),
        elements_(std::move(elements)) {}
  int64_t workspace_bytes() const override { return workspace_bytes_; }
  Status run(const RunArguments& arguments) override {
    const void* tensors[] = {inputs_.at(0, arguments), inputs_.at(1, arguments), inputs_.at(2, arguments),
                             arguments.outputs[0]};
    const bool constant = (!tensors[1] || inputs_.is_constant(1)) && (!tensors[2] || inputs_.is_constant(2));
    bool aligned = !vectors_.empty();
    for (const void* tensor : tensors) aligned = aligned && is_aligned(tensor, align_);
    for (Kernel& kernel : aligned ? vectors_ : elements_) {
      NormalizationArgument& n = kernel.launch.argument;
      n.x = tensors[0];
      n.scale = tensors[1];
      n.bias = tensors[2];
      n.y = arguments.outputs[0];
      n.parts = reinterpret_cast<float*>(arguments.workspace);
      n.constant = constant;
      void* pointers[] = {&n, nullptr};
      if (const auto& plan = kernel.launch.map) {
        TRY(kernel.map.encode(kernel.function.device().driver(), *plan, n.x));
        pointers[0] = kernel.map.argument(), pointers[1] = &n;
      }
      TRY(launch(*arguments.stream, kernel.function, kernel.launch.shape, pointers));
    }
    return {};
  }

 private:
  const StepInputs& inputs_;
  int64_t workspace_bytes_, align_;
  std::vector<Kernel> vectors_, elements_;
};

class LoadedNormalization final : public LoadedStep {
 public:
  LoadedNormalization(const LoadArguments& arguments, const steps::Normalization& step,
                      const NormalizationTuning& tuning, StepInputs inputs, StepCode code)
      : room_(group_room(arguments.device.properties())),
        step_(step),
        tuning_(tuning),
        x_(arguments.spec.inputs[0]),
        inputs_(std::move(inputs)),
        code_(std::move(code)) {
    room_.holds = tuning.held;
    room_.slices = tuning.slices;
  }

  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const Extents& x = shapes.inputs[0];
    NormalizationShape shape;
    shape.rows = step_.rows;
    shape.channels_last = !x_.format.is_linear();
    shape.epsilon = static_cast<float>(step_.epsilon);
    if (step_.rows) {
      const LaneExtents e = step_.lanes(x);
      shape.n = e.outer;
      shape.length = e.length;
    } else {
      shape.n = x[0];
      shape.channels = x[1];
      shape.plane = volume(std::span(x).subspan(2));
      shape.groups = step_.groups;
    }
    const int element = bits_of(x_.dtype) / 8, vec = tuning_.tile ? tuning_.tile->vec : tuning_.vec;
    const auto launches = [&](int width) {
      return normalization_launches(shape, width, element, !tuning_.tile, room_);
    };
    std::vector<Kernel> vectors;
    if (tuning_.tile && tuning_.tile->holds(shape.length))
      vectors = TRY(bound_to_code({TRY(normalization_rows_launch(shape, *tuning_.tile))}));
    else if (!tuning_.tile && vec > 1 && shape.vector(element) % vec == 0)
      vectors = TRY(bound_to_code(TRY(launches(vec))));
    const bool whole = std::ranges::any_of(vectors, [](const Kernel& kernel) { return kernel.launch.map.has_value(); });
    return std::make_unique<BoundNormalization>(
        inputs_, normalization_workspace_bytes(room_.num_sms, shape.channels_last),
        whole ? 16 : std::min(16, vec * element), std::move(vectors), TRY(bound_to_code(TRY(launches(1)))));
  }

 private:
  Result<std::vector<Kernel>> bound_to_code(std::vector<NormalizationLaunch> launches) const {
    std::vector<Kernel> kernels;
    for (NormalizationLaunch& launch : launches) {
      const Function function = TRY(code_.function(launch.entry));
      TRY(function.check(launch.shape));
      if (launch.map) {
        const int64_t most = std::max<int64_t>(TRY(function.max_active_blocks(launch.shape)), launch.shape.cluster);
        launch.shape.grid[0] = static_cast<uint32_t>(std::min<int64_t>(launch.shape.grid[0], most));
      }
      kernels.push_back({std::move(launch), function, {}});
    }
    return kernels;
  }

  GroupRoom room_;
  steps::Normalization step_;
  NormalizationTuning tuning_;
  StepTensor x_;
  StepInputs inputs_;
  StepCode code_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Normalization& step, const LoadArguments& arguments) {
  TRY(require_one_type(arguments.spec));
  const NormalizationTuning tuning = TRY(from_record<NormalizationTuning>(arguments.spec.tuning));
  StepCode code = TRY(StepCode::load(arguments));
  return std::make_unique<LoadedNormalization>(arguments, step, tuning, TRY(StepInputs::upload(arguments)),
                                               std::move(code));
}

}  // namespace kiln::cuda
