#include "backend/cuda/exec/plugin_kernel.h"

#include "backend/cuda/exec/step.h"
#include "backend/cuda/exec/tell_sizes.h"

namespace kiln::cuda {

Result<size_t> num_spare_arguments(const Function& function, const steps::PluginKernel& kernel, size_t num_inputs,
                                   size_t num_outputs) {
  constexpr size_t kAddressBytes = 8, kSpareUnseen = 4;
  const auto parameters = TRY(function.parameter_bytes());
  if (!parameters) return kSpareUnseen;
  std::vector<size_t> named(num_inputs, kAddressBytes);
  named.insert(named.end(), kernel.scalar_bytes.begin(), kernel.scalar_bytes.end());
  named.insert(named.end(), num_outputs, kAddressBytes);
  bool fits = parameters->size() >= named.size();
  for (size_t i = 0; fits && i < parameters->size(); ++i)
    fits = (*parameters)[i] == (i < named.size() ? named[i] : kAddressBytes);
  if (fits) return parameters->size() - named.size();
  const auto text = [](std::span<const size_t> sizes) {
    std::string result;
    for (const size_t size : sizes) result += str(result.empty() ? "" : ", ", size);
    return result.empty() ? "none" : result;
  };
  return error(Code::kInvalidArgument, "kernel '", kernel.entry,
               "' takes arguments of these bytes: ", text(*parameters), "; it would get the addresses of ", num_inputs,
               " inputs, ", kernel.scalar_bytes.size(), " scalars, and the addresses of ", num_outputs,
               " outputs: ", text(named));
}

namespace {

/// The arguments of a kernel's launches, by the addresses that they stay at.
class PluginArguments {
 public:
  PluginArguments(size_t num_inputs, std::span<const int64_t> scalars, size_t num_outputs, size_t num_spare)
      : num_inputs_(num_inputs), first_output_(num_inputs + scalars.size()), num_outputs_(num_outputs) {
    values_.resize(first_output_ + num_outputs + num_spare);
    for (size_t i = 0; i < scalars.size(); ++i)
      values_[num_inputs + i] = static_cast<uint64_t>(scalars[i]);  // its lowest bytes are those of a narrower number
    for (uint64_t& value : values_) pointers_.push_back(&value);
  }
  /// Addresses of the run's tensors take their places.
  void** of(const StepInputs& inputs, const RunArguments& run) {
    for (size_t i = 0; i < num_inputs_; ++i) values_[i] = reinterpret_cast<uintptr_t>(inputs.at(i, run));
    for (size_t i = 0; i < num_outputs_; ++i) values_[first_output_ + i] = reinterpret_cast<uintptr_t>(run.outputs[i]);
    return pointers_.data();
  }

 private:
  size_t num_inputs_, first_output_, num_outputs_;
  std::vector<uint64_t> values_;
  std::vector<void*> pointers_;
};

LaunchShape shape_of(std::span<const int64_t> params) {
  const auto number = [&](LaunchNumber which) { return static_cast<uint32_t>(params[static_cast<size_t>(which)]); };
  LaunchShape shape;
  using enum LaunchNumber;
  shape.grid[0] = number(kGridX), shape.grid[1] = number(kGridY), shape.grid[2] = number(kGridZ);
  shape.block[0] = number(kBlockX), shape.block[1] = number(kBlockY), shape.block[2] = number(kBlockZ);
  shape.shared_bytes = number(kSharedBytes);
  return shape;
}

/// What the code says of a kernel. Unlike Kiln's own, it was not made for the launches that it is asked for.
struct Limits {
  uint32_t most_threads, own_shared_bytes;

  static Result<Limits> of(const Function& function) {
    return Limits{static_cast<uint32_t>(TRY(function.attribute(kFunctionMaxThreads))),
                  static_cast<uint32_t>(TRY(function.attribute(kFunctionSharedBytes)))};
  }
  /// Fails where the device does not launch the kernel so.
  Status check(const Function& function, const LaunchShape& shape) const {
    TRY(function.check(shape));
    const uint32_t threads = shape.block[0] * shape.block[1] * shape.block[2];
    TRY(require(threads <= most_threads, "a block of its kernel has ", threads, " threads; it was compiled for ",
                most_threads, " at most"));
    const uint64_t shared = uint64_t{shape.shared_bytes} + own_shared_bytes;
    const auto room = static_cast<uint64_t>(function.device().properties().shared_bytes_per_block);
    return require(shared <= room, "a block of its kernel needs ", shared, " bytes of shared memory; '",
                   function.device().properties().name, "' has ", room);
  }
};

/// The sizes that its outputs hold, to where the run wants them.
Status tell_scalars(CudaDevice& device, const RunArguments& run, const StepTypes& types,
                    const std::vector<int>& size_outputs) {
  for (size_t k = 0; k < size_outputs.size(); ++k) {
    const auto output = static_cast<size_t>(size_outputs[k]);
    TRY(tell_scalar(device, run, k, run.outputs[output], types.outputs[output].dtype));
  }
  return {};
}

}  // namespace

LoadResult load(const steps::PluginKernel& step, const LoadArguments& arguments) {
  const StepTypes types = arguments.spec;
  const auto where = [&] { return str(step.plugin); };
  const StepCode code = TRY(in_context(StepCode::load(arguments), where));
  const Function function = TRY(in_context(code.function(step.entry), where));
  const size_t num_spare =
      TRY(in_context(num_spare_arguments(function, step, types.inputs.size(), types.outputs.size()), where));
  const Limits limits = TRY(in_context(Limits::of(function), where));
  return loaded_step([types, step, limits, code, function, num_spare, &device = arguments.device,
                      inputs = TRY(StepInputs::upload(arguments))](const StepShapes& shapes) -> BindResult {
    TRY(step.check_numbers(shapes.params));
    const LaunchShape shape = shape_of(shapes.params);
    TRY(in_context(limits.check(function, shape), [&] { return str(step.plugin); }));
    TRY(function.allow_shared(shape));
    PluginArguments values(types.inputs.size(), shapes.params.subspan(kNumLaunchNumbers), types.outputs.size(),
                           num_spare);
    auto run = [&, function, shape, values = std::move(values)](const RunArguments& run) mutable -> Status {
      TRY(launch(*run.stream, function, shape, values.of(inputs, run)));
      return tell_scalars(device, run, types, step.size_outputs);
    };
    return bound_step(std::move(run));
  });
}

}  // namespace kiln::cuda
