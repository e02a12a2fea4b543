#include "steps/normalization.h"

#include <algorithm>

#include "backend/cuda/exec/operand_map.h"
#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/lanes/normalize.h"
#include "steps/quantized_result.h"

namespace kiln::cuda {
namespace {

struct MappedKernel : Kernel<NormalizationLaunch> {
  OperandMap map = {};
};
using MappedKernels = std::vector<MappedKernel>;

/// How a step's results are written.
struct Results {
  bool floats = true, bytes = false;
  steps::ResultScale scale = {};
};

Status run_normalization(const StepInputs& inputs, const Results& results, MappedKernels& vectors,
                         MappedKernels& elements, int64_t align, const RunArguments& run) {
  void* const y = results.floats ? run.outputs[0] : nullptr;
  void* const q = results.bytes ? run.outputs[results.floats ? 1 : 0] : nullptr;
  const void* tensors[] = {inputs.at(0, run), inputs.at(1, run), inputs.at(2, run), y, q};
  const bool constant = (!tensors[1] || inputs.is_constant(1)) && (!tensors[2] || inputs.is_constant(2));
  bool aligned = !vectors.empty();
  for (const void* tensor : tensors) aligned = aligned && is_aligned(tensor, align);
  for (MappedKernel& kernel : aligned ? vectors : elements) {
    NormalizationArgument& n = kernel.launch.argument;
    n.x = tensors[0];
    n.scale = tensors[1];
    n.bias = tensors[2];
    n.y = y;
    n.q = q;
    n.q_inverse = results.scale.inverse;
    n.q_zero = results.scale.zero;
    n.parts = reinterpret_cast<float*>(run.workspace);
    n.constant = constant;
    void* pointers[] = {&n, nullptr};
    if (const auto& plan = kernel.launch.map) {
      TRY(kernel.map.encode(kernel.function.device().driver(), *plan, n.x));
      pointers[0] = kernel.map.argument(), pointers[1] = &n;
    }
    TRY(launch(*run.stream, kernel.function, kernel.launch.shape, pointers));
  }
  return {};
}

Result<MappedKernels> bound_to_code(const StepCode& code, std::vector<NormalizationLaunch> launches) {
  MappedKernels kernels;
  for (NormalizationLaunch& launch : launches) {
    auto& [plan, function] = static_cast<Kernel<NormalizationLaunch>&>(
        kernels.emplace_back(MappedKernel{TRY(code.kernel(std::move(launch)))}));
    if (!plan.map) continue;
    const int64_t most = std::max<int64_t>(TRY(function.max_active_blocks(plan.shape)), plan.shape.cluster);
    plan.shape.grid[0] = static_cast<uint32_t>(std::min<int64_t>(plan.shape.grid[0], most));
  }
  return kernels;
}

NormalizationShape shape_of(const steps::Normalization& step, const Format& format, const Extents& x) {
  NormalizationShape shape;
  shape.rows = step.rows;
  shape.channels_last = !format.is_linear();
  shape.epsilon = static_cast<float>(step.epsilon);
  shape.centered = step.centered;
  if (step.rows) {
    const LaneExtents e = step.lanes(x);
    shape.n = e.outer;
    shape.length = e.length;
  } else {
    shape.n = x[0];
    shape.channels = x[1];
    shape.plane = volume(std::span(x).subspan(2));
    shape.groups = step.groups;
  }
  return shape;
}

/// Fails unless x, the coefficients and the floats that are written are of one type.
Status check_types(const StepTypes& types, const Results& results) {
  StepTypes floats = types;
  floats.inputs.resize(steps::Normalization::kInputs);
  if (results.bytes) floats.outputs = {types.inputs[0]};
  return require_one_type(floats);
}

Result<Results> results_of(const LoadArguments& arguments, const NormalizationTuning& tuning) {
  Results results;
  results.bytes = steps::is_quantized(arguments.spec);
  if (!results.bytes) return results;
  TRY(require(tuning.tile && tuning.tile->team == 0, "only kernels that have rows in registers quantize them"));
  results.floats = arguments.spec.outputs.size() > 1;
  results.scale = TRY(steps::result_scale(arguments.spec, arguments.constants));
  return results;
}

}  // namespace

LoadResult load(const steps::Normalization& step, const LoadArguments& arguments) {
  const NormalizationTuning tuning = TRY(from_record<NormalizationTuning>(arguments.spec.tuning));
  const Results results = TRY(results_of(arguments, tuning));
  TRY(check_types(arguments.spec, results));
  StepCode code = TRY(StepCode::load(arguments));
  StepInputs inputs = TRY(StepInputs::upload(arguments));
  GroupRoom room = group_room(arguments.device.properties());
  room.holds = tuning.held;
  room.slices = tuning.slices;
  return loaded_step([step, results, tuning, room, x = arguments.spec.inputs[0], code = std::move(code),
                      inputs = std::move(inputs)](const StepShapes& shapes) -> BindResult {
    const NormalizationShape shape = shape_of(step, x.format, shapes.inputs[0]);
    const int element = bits_of(x.dtype) / 8, vec = tuning.tile ? tuning.tile->vec : tuning.vec;
    const auto kernels = [&](int width) -> Result<MappedKernels> {
      return bound_to_code(code, TRY(normalization_launches(shape, width, element, !tuning.tile, room)));
    };
    MappedKernels vectors, elements = TRY(kernels(1));
    if (tuning.tile && tuning.tile->holds(shape.length))
      vectors = TRY(bound_to_code(code, {TRY(normalization_rows_launch(shape, *tuning.tile))}));
    else if (!tuning.tile && vec > 1 && shape.vector(element) % vec == 0)
      vectors = TRY(kernels(vec));
    const bool whole = std::ranges::any_of(vectors, [](const auto& kernel) { return kernel.launch.map.has_value(); });
    const int64_t align = whole ? 16 : std::min(16, vec * element);
    const auto run = [&inputs, results, vectors, elements, align](const RunArguments& run) mutable {
      return run_normalization(inputs, results, vectors, elements, align, run);
    };
    return bound_step(run, normalization_workspace_bytes(room.num_sms, shape.channels_last));
  });
}

}  // namespace kiln::cuda
