#include "runtime/context.h"

#include <algorithm>
#include <utility>

#include "runtime/device_runner.h"
#include "runtime/host_runner.h"

namespace kiln::runtime {
namespace {

std::unique_ptr<Runner> make_runner(const Engine& engine, const RunSettings& settings) {
  if (engine.device().is_host()) return std::make_unique<HostRunner>(settings);
  return std::make_unique<DeviceRunner>(engine, settings);
}

}  // namespace

Context::Context(std::shared_ptr<const Engine> engine, Memory memory)
    : engine_(std::move(engine)),
      watch_(*engine_),
      addresses_(engine_->plan().inputs.size(), engine_->plan().outputs.size()),
      shapes_(engine_->plan()),
      memory_(*engine_, memory),
      runner_(make_runner(*engine_, settings_)),
      bindings_(*engine_, memory_, *runner_, settings_) {}

Result<std::unique_ptr<Context>> Context::create(std::shared_ptr<const Engine> engine, Memory memory) {
  TRY(require(engine->num_profiles() > 0, "the engine has no optimization profile"));
  TRY(engine->device().usable());
  std::unique_ptr<Context> context(new Context(std::move(engine), memory));
  TRY(context->select_profile(0));
  return context;
}

Context::~Context() {
  if (!runner_->wait_idle()) return;  // nobody is left to report an error to
  bindings_.tell_faults();
}

Status Context::check_not_watched() const {
  return settings_.watch ? error(Code::kState,
                                 "the context is in a run, whose tensors are being observed: an observer cannot change "
                                 "or run it")
                         : Status();
}

Status Context::select_profile(int profile) {
  TRY(check_not_watched());
  TRY(require(profile >= 0 && profile < engine_->num_profiles(), "optimization profile ", profile, " is outside [0, ",
              engine_->num_profiles(), ")"));
  TRY(runner_->forget_runs());
  bindings_.clear();
  shapes_.select_profile(profile, engine_->fixed_symbols(profile));
  TRY(memory_.allocate_for(profile, *runner_));
  return bindings_.make_objects(profile);
}

Extents Context::output_extents(int output) const {
  return known_extents(engine_->plan().outputs[static_cast<size_t>(output)].extents);
}

Extents Context::latest_output_extents(int output) const {
  return shapes_.latest_extents(engine_->plan().outputs[static_cast<size_t>(output)].extents);
}

Status Context::check_bound(int output) const {
  const bool is_open = std::ranges::any_of(shapes_.profile().tensors, [&](const plan::Tensor& tensor) {
    return tensor.place == plan::Place::kOutput && tensor.index == output && tensor.size_bytes_max == plan::kNoBound;
  });
  return require(!is_open, "output '", engine_->plan().outputs[static_cast<size_t>(output)].name,
                 "': nothing bounds its size, which data decides; give it an IOutputAllocator by setOutputAllocator");
}

int64_t Context::largest_output_bytes(int output) const {
  const plan::IoTensor& io = engine_->plan().outputs[static_cast<size_t>(output)];
  if (!check_bound(output)) return -1;
  const Extents largest = shapes_.largest_extents(io.extents);
  const bool grows =
      std::ranges::all_of(io.extents, [&](const sym::Program& extent) { return shapes_.only_grows(extent); });
  if (grows && std::ranges::count(largest, -1) == 0) return size_bytes(io.dtype, io.format.storage_volume(largest));
  int64_t bytes = 0;  // where fewer make it larger, the profile's maximum is what is known
  for (const plan::Tensor& tensor : shapes_.profile().tensors)
    if (tensor.place == plan::Place::kOutput && tensor.index == output) bytes = std::max(bytes, tensor.size_bytes_max);
  return bytes;
}

Status Context::set_memory(void* data, int64_t size_bytes) {
  TRY(check_not_watched());
  TRY(require(memory_.is_given(), "the context owns its memory"));
  TRY(require(reinterpret_cast<uintptr_t>(data) % 256 == 0, "context memory must be aligned to 256 bytes"));
  if (memory_.was_given(data, size_bytes)) return {};
  TRY(runner_->wait_idle());
  bindings_.clear();  // bindings hold addresses in the former memory
  memory_.give(data, size_bytes);
  return {};
}

Status Context::bind() {
  TRY(check_not_watched());
  TRY(infer_shapes());
  TRY(shapes_.begin_run());
  if (bindings_.is_bound(shapes_)) return {};
  repeats_ = false;  // a binding from the cache still has the addresses of its own last run
  return bindings_.bind(shapes_, addresses_);
}

Status Context::enqueue(Stream& stream) {
  const nvtx::Range range(settings_.ranges != RangeDetail::kNone,
                          [&] { return str("enqueue ", engine_->plan().network_name); });
  TRY(check_not_watched());
  TRY(check_runs());
  const bool repeats = repeats_ && bindings_.is_bound(shapes_);
  if (!repeats) [[unlikely]]
    TRY(prepare_run());
  if (watch_.is_on()) [[unlikely]]
    return enqueue_watched(stream);
  if (!bindings_.current().later.empty()) [[unlikely]]
    return enqueue_segments(stream);
  return runner_->enqueue({bindings_.current(), addresses_, repeats}, stream);
}

/// Segments behind the first are bound when the sizes before them are decided.
Status Context::enqueue_segments(Stream& stream) {
  if (stream.capturing())
    return error(Code::kUnsupported,
                 "data decides sizes of this network, and the host has to read them while it runs: a capture cannot "
                 "record that");
  if (!settings_.output_memory)
    for (size_t i = 0; i < engine_->plan().outputs.size(); ++i) TRY(check_bound(static_cast<int>(i)));
  Binding& binding = bindings_.current();
  binding.at.set(addresses_);
  for (size_t segment = 0; segment < binding.segments.size(); ++segment) {
    if (segment > 0) TRY(bindings_.bind_later(segment, shapes_, addresses_));
    TRY(runner_->run_segment(binding, segment, stream));
    if (segment + 1 == binding.segments.size()) break;
    TRY(take_sizes(binding, binding.segments[segment]));
  }
  return {};
}

/// Runs all segments, and shows the observer what they make.
Status Context::enqueue_watched(Stream& stream) {
  if (stream.capturing())
    return error(Code::kUnsupported, "tensors of the run are observed, and a capture cannot record that");
  watch_.begin(stream);
  std::vector<const void*> inputs;
  for (size_t i = 0; i < engine_->plan().inputs.size(); ++i) inputs.push_back(addresses_.input(i));
  settings_.watch = &watch_;
  Status ran = watch_.block_begins(shapes_.profile(), inputs, bindings_.current().symbols);
  if (ran) ran = enqueue_segments(stream);
  settings_.watch = nullptr;
  return ran;
}

/// Takes the sizes that a segment has decided, and the memory of outputs that have extents now.
Status Context::take_sizes(Binding& binding, const plan::Segment& segment) {
  const std::vector<plan::IoTensor>& outputs = engine_->plan().outputs;
  const auto is_open = [&](const plan::IoTensor& output) {
    return std::ranges::any_of(output.extents, [&](const sym::Program& e) { return shapes_.is_undecided(e); });
  };
  std::vector<size_t> open;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (is_open(outputs[i])) open.push_back(i);
  const std::span<const int64_t> sizes = binding.sizes.of_steps(segment.first, segment.end);
  TRY(shapes_.decide(segment.first, segment.end, sizes, addresses_));
  for (const size_t i : open) {
    if (is_open(outputs[i])) continue;
    const auto output = static_cast<int>(i);
    if (settings_.output_memory)
      addresses_.set_output(output, TRY(settings_.output_memory->memory_of(output, latest_output_extents(output))));
  }
  return shapes_.check_addresses(addresses_);
}

/// The next run repeats this one, unless shape tensors have to be read or written in each, or data decides sizes.
Status Context::prepare_run() {
  repeats_ = false;
  TRY(bind());
  TRY(shapes_.check_addresses(addresses_));
  repeats_ = !shapes_.has_shape_tensors() && bindings_.current().later.empty();
  return {};
}

Status Context::report_times(StepObserver& observer) const {
  const std::vector<float> times_ms = TRY(runner_->times_ms());
  const std::vector<plan::Step>& steps = shapes_.profile().steps;
  for (size_t s = 0; s < times_ms.size() && s < steps.size(); ++s) observer.step_done(steps[s], times_ms[s]);
  return {};
}

}  // namespace kiln::runtime
