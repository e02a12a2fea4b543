#include "steps/nest.h"

#include <algorithm>

#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/nest/nest.h"

namespace kiln::cuda {
namespace {

struct Variant {
  NestVariant variant;
  Function function;
};
struct Way {
  Function function;
  NestLaunch launch;
};

Result<std::vector<Way>> ways_of(const std::vector<Variant>& variants, const steps::Nest& step, const StepSpec& spec,
                                 const StepShapes& shapes, int num_sms) {
  std::vector<NestTensor> tensors;
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    tensors.push_back({spec.inputs[i].format, shapes.inputs[i], std::nullopt});
    const auto view = step.view_of(i, shapes.outputs[0].size(), shapes.params);
    if (view) std::ranges::copy(view->strides, tensors.back().view.emplace(AxisStrides{}).begin());
  }
  for (size_t i = 0; i < spec.outputs.size(); ++i)
    tensors.push_back({spec.outputs[i].format, shapes.outputs[i], std::nullopt});
  const MergedAxes axes = TRY(nest_axes(tensors, spec.inputs.size()));
  std::vector<Way> ways;
  for (const auto& [variant, function] : variants) {
    if (!suits(variant, axes)) continue;
    NestLaunch launch(variant, axes, num_sms);
    TRY(function.check(launch.shape()));
    ways.push_back({function, std::move(launch)});
  }
  TRY(require(!ways.empty(), "no kernel of the nest makes ", shapes.outputs[0], "; build the plan with these extents"));
  return ways;
}

/// The elements from the beginning of each input to the first one that the nest reads.
std::vector<int64_t> offsets_of(const steps::Nest& step, size_t inputs, const StepShapes& shapes) {
  std::vector<int64_t> offsets(inputs);
  for (size_t i = 0; i < inputs; ++i)
    if (const auto view = step.view_of(i, shapes.outputs[0].size(), shapes.params)) offsets[i] = view->offset;
  return offsets;
}

Status run_nest(const StepInputs& inputs, std::span<const int> element_bytes, std::span<const int64_t> offsets,
                std::vector<Way>& ways, std::vector<const void*>& tensors, const RunArguments& run) {
  for (size_t i = 0; i < tensors.size(); ++i)
    tensors[i] = i < inputs.size() ? static_cast<const std::byte*>(inputs.at(i, run)) + offsets[i] * element_bytes[i]
                                   : run.outputs[i - inputs.size()];
  for (auto& [function, launch] : ways)
    if (launch.takes(tensors.data(), element_bytes)) return launch.run(*run.stream, function, tensors.data());
  return error(Code::kInternal, "no kernel of the nest takes these addresses: they are not aligned");
}

}  // namespace

LoadResult load(const steps::Nest& step, const LoadArguments& arguments) {
  NestTuning tuning = TRY(from_record<NestTuning>(arguments.spec.tuning));
  StepCode code = TRY(StepCode::load(arguments));
  std::vector<int> bytes;  // of elements
  for (const auto* tensors : {&arguments.spec.inputs, &arguments.spec.outputs})
    for (const StepTensor& tensor : *tensors) bytes.push_back(bits_of(tensor.dtype) / 8);
  std::vector<Variant> variants;
  for (NestVariant& variant : tuning.variants) {
    TRY(require(variant.lies.size() == bytes.size(), "a kernel of the nest takes ", variant.lies.size(),
                " tensors; the step has ", bytes.size()));
    variants.push_back({std::move(variant), TRY(code.function(nest_entry(variants.size())))});
  }
  StepInputs inputs = TRY(StepInputs::upload(arguments));
  return loaded_step([step, spec = arguments.spec, num_sms = arguments.device.properties().num_multiprocessors,
                      code = std::move(code), bytes = std::move(bytes), variants = std::move(variants),
                      inputs = std::move(inputs)](const StepShapes& shapes) -> BindResult {
    return bound_step([&inputs, &bytes, offsets = offsets_of(step, inputs.size(), shapes),
                       ways = TRY(ways_of(variants, step, spec, shapes, num_sms)),
                       tensors = std::vector<const void*>(bytes.size())](const RunArguments& run) mutable {
      return run_nest(inputs, bytes, offsets, ways, tensors, run);
    });
  });
}

}  // namespace kiln::cuda
