/// Normalisation over the innermost axes, or over planes and groups of channels. Inputs: x, scale or absent, bias or
/// absent. Payload: rows (whether the innermost `axes` axes are normalised), axes, groups, epsilon; tile, of the kernel
/// that has rows in registers, or in its place vec (elements of a load) and held (whether there are kernels that hold
/// large groups in clusters) and slices (or slices of pixels).
#include "backend/cuda/kernels/lanes/normalize.h"

#include <algorithm>

#include "backend/cuda/exec/operand_map.h"
#include "backend/cuda/exec/step.h"

namespace kiln::cuda {
namespace {

struct Attributes {
  bool rows = false;
  size_t axes = 1;
  int64_t groups = 1;
  float epsilon = 0;
  StepTensor x;
  bool has[3] = {};  ///< by input
  std::optional<RowTile> tile;
  int vec = 1;
  bool held = false, slices = false;
};

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
      n.parts = arguments.workspace;
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
  LoadedNormalization(const LoadArguments& arguments, Attributes a, StepInputs inputs, StepCode code)
      : room_(group_room(arguments.device.properties())),
        a_(std::move(a)),
        inputs_(std::move(inputs)),
        code_(std::move(code)) {
    room_.holds = a_.held;
    room_.slices = a_.slices;
  }

  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const Extents& x = shapes.inputs[0];
    TRY(require_extents(shapes.outputs[0], x, "a normalisation's output"));
    const int64_t coefficients = a_.rows ? volume(std::span(x).last(a_.axes)) : x[1];
    for (const size_t i : {1, 2})
      if (a_.has[i]) TRY(require_count(shapes.inputs[i], coefficients, "a coefficient of a normalisation"));
    NormalizationShape shape;
    shape.rows = a_.rows;
    shape.channels_last = !a_.x.format.is_linear();
    shape.epsilon = a_.epsilon;
    if (a_.rows) {
      const LaneExtents e = lane_extents(x, x.size() - a_.axes, x.size() - 1);
      shape.n = e.outer;
      shape.length = e.length;
    } else {
      shape.n = x[0];
      shape.channels = x[1];
      shape.plane = volume(std::span(x).subspan(2));
      shape.groups = a_.groups;
      TRY(require(x[1] % a_.groups == 0, x[1], " channels in ", a_.groups, " groups"));
    }
    const int element = bits_of(a_.x.dtype) / 8, vec = a_.tile ? a_.tile->vec : a_.vec;
    const auto launches = [&](int width) { return normalization_launches(shape, width, element, !a_.tile, room_); };
    std::vector<Kernel> vectors;
    if (a_.tile && a_.tile->holds(shape.length))
      vectors = TRY(bound_to_code({TRY(normalization_rows_launch(shape, *a_.tile))}));
    else if (!a_.tile && vec > 1 && shape.vector(element) % vec == 0)
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
  Attributes a_;
  StepInputs inputs_;
  StepCode code_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_normalization(const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  TRY(require_one_type(spec));
  Attributes a;
  a.x = spec.inputs[0];
  for (size_t i = 0; i < 3; ++i) a.has[i] = spec.inputs[i].present;
  TRY(element_bytes(a.x.dtype));
  a.rows = TRY(spec.payload.get_bool("rows"));
  const int64_t axes = TRY(spec.payload.get_int("axes"));
  TRY(require(axes >= 1 && axes <= a.x.rank && (a.rows || a.x.rank >= 2), "a normalisation of ", axes,
              " axes of a tensor of rank ", a.x.rank));
  a.axes = static_cast<size_t>(axes);
  a.groups = TRY(spec.payload.get_int("groups"));
  TRY(require(a.groups >= 1 && a.groups < int64_t{1} << 31, "a normalisation has ", a.groups, " groups"));
  a.epsilon = static_cast<float>(TRY(spec.payload.get_double("epsilon")));
  if (spec.payload.find("tile")) a.tile = TRY(from_record<RowTile>(TRY(spec.payload.get_record("tile"))));
  if (!a.tile) {
    const int64_t vec = TRY(spec.payload.get_int("vec"));
    TRY(require(vec == 1 || vec == 2 || vec == 4 || vec == 8, "a normalisation loads ", vec, " elements at once"));
    a.vec = static_cast<int>(vec);
    a.held = TRY(spec.payload.get_bool("held"));
    a.slices = TRY(spec.payload.get_bool("slices"));
  }
  StepCode code = TRY(StepCode::load(arguments));
  return std::make_unique<LoadedNormalization>(arguments, std::move(a), TRY(StepInputs::upload(arguments)),
                                               std::move(code));
}

}  // namespace kiln::cuda
