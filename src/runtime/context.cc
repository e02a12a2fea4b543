#include "runtime/context.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "plan/validate.h"
#include "tensor/view.h"

namespace kiln::runtime {
namespace {

constexpr int kMaxInFlight = 4;      // runs queued at once before enqueue waits for the oldest
constexpr size_t kMostBindings = 4;  // programs with a few sets of shapes come round again

std::vector<int> shape_tensors_of(std::span<const plan::IoTensor> tensors) {
  std::vector<int> result;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].is_shape) result.push_back(static_cast<int>(i));
  return result;
}

}  // namespace

Context::Context(std::shared_ptr<const Engine> engine, Memory memory)
    : engine_(std::move(engine)), memory_policy_(memory) {
  const size_t inputs = engine_->plan().inputs.size();
  input_extents_.resize(inputs);
  extents_set_.assign(inputs, false);
  input_values_.resize(inputs);
  input_addresses_.assign(inputs, nullptr);
  output_addresses_.assign(engine_->plan().outputs.size(), nullptr);
  symbols_.assign(engine_->plan().symbols.size(), 0);
  shape_inputs_ = shape_tensors_of(engine_->plan().inputs);
  shape_outputs_ = shape_tensors_of(engine_->plan().outputs);
  if (!engine_->device().is_host()) launcher_ = std::make_unique<DeviceRunner>(engine_->device());
}

Result<std::unique_ptr<Context>> Context::create(std::shared_ptr<const Engine> engine, Memory memory) {
  TRY(require(engine->num_profiles() > 0, "the engine has no optimization profile"));
  TRY(engine->device().usable());
  std::unique_ptr<Context> context(new Context(std::move(engine), memory));
  TRY(context->select_profile(0));
  return context;
}

Context::~Context() {
  if (!wait_idle()) return;  // the stream's error was reported to whoever synchronised, or is now: nobody can hear it
  tell_faults();
}

const plan::Profile& Context::plan_profile() const { return engine_->plan().profiles[static_cast<size_t>(profile_)]; }

Status Context::wait_idle() {
  if (launcher_) return launcher_->wait_idle();
  for (const auto& binding : bindings_)
    for (const auto& invocation : binding->invocations)
      if (invocation->in_flight.load(std::memory_order_acquire)) TRY(invocation->stream->synchronize());
  return {};
}

Status Context::select_profile(int profile) {
  TRY(require(profile >= 0 && profile < engine_->num_profiles(), "optimization profile ", profile, " is outside [0, ",
              engine_->num_profiles(), ")"));
  TRY(launcher_ ? launcher_->forget() : wait_idle());
  drop_bindings(bindings_.size());
  profile_ = profile;
  bound_ = shapes_known_ = false;
  std::fill(extents_set_.begin(), extents_set_.end(), false);
  for (size_t i = 0; i < extents_set_.size(); ++i) {
    Extents fixed = engine_->fixed_symbols(profile).extents(engine_->plan().inputs[i].extents);
    if (std::ranges::find(fixed, -1) != fixed.end()) continue;
    input_extents_[i] = std::move(fixed);
    extents_set_[i] = true;
  }
  num_extents_unset_ = std::ranges::count(extents_set_, false);
  const int64_t wanted =
      memory_policy_ == Memory::kOwnLargest ? engine_->max_memory_bytes() : engine_->memory_bytes(profile);
  return memory_policy_ == Memory::kGiven ? Status() : reserve_memory(wanted);
}

Status Context::reserve_memory(int64_t size_bytes) {
  if (own_memory_.size_bytes() >= size_bytes) return {};
  if (launcher_ && launcher_->was_captured()) old_memory_.push_back(std::move(own_memory_));
  own_memory_ = Buffer();  // first: both need not fit
  own_memory_ = TRY(in_context(engine_->allocate(size_bytes), [] { return "memory of the context"; }));
  return {};
}

Status Context::set_input_extents(int input, std::span<const int64_t> extents) {
  const auto at = static_cast<size_t>(input);
  const plan::IoTensor& io = engine_->plan().inputs[at];
  const plan::InputRange& range = plan_profile().ranges[at];
  TRY(require(extents.size() == io.extents.size(), "input '", io.name, "': ", extents, " has rank ", extents.size(),
              "; the network's has ", io.extents.size()));
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    const auto where = [&] { return str("input '", io.name, "': extent ", extents[axis], " of axis ", axis); };
    if (extents[axis] < range.min[axis])
      return error(Code::kInvalidArgument, where(), " is below profile ", profile_, "'s minimum ", range.min[axis]);
    if (extents[axis] > range.max[axis])
      return error(Code::kInvalidArgument, where(), " is above profile ", profile_, "'s maximum ", range.max[axis]);
  }
  if (extents_set_[at] && std::ranges::equal(extents, input_extents_[at])) return {};
  input_extents_[at].assign(extents.begin(), extents.end());
  if (!extents_set_[at]) --num_extents_unset_;
  extents_set_[at] = true;
  bound_ = shapes_known_ = false;
  return {};
}

Extents Context::input_extents(int input) const {
  const auto at = static_cast<size_t>(input);
  if (extents_set_[at]) return input_extents_[at];
  return engine_->fixed_symbols(profile_).extents(engine_->plan().inputs[at].extents);
}

Extents Context::output_extents(int output) const {
  return known_extents(engine_->plan().outputs[static_cast<size_t>(output)].extents);
}

Extents Context::known_extents(std::span<const sym::Program> programs) const {
  if (!shapes_known_) return engine_->fixed_symbols(profile_).extents(programs);
  Extents result;
  for (const sym::Program& extent : programs) result.push_back(extent.try_run(symbols_).value_or(-1));
  return result;
}

bool Context::all_inputs_set() const {
  return num_extents_unset_ == 0 &&
         std::ranges::all_of(shape_inputs_, [&](int input) { return input_address(input) != nullptr; });
}

std::vector<int> Context::unset_inputs() const {
  std::vector<int> result;
  for (size_t i = 0; i < extents_set_.size(); ++i)
    if (!extents_set_[i] || (engine_->plan().inputs[i].is_shape && !input_addresses_[i]))
      result.push_back(static_cast<int>(i));
  return result;
}

Status Context::set_memory(void* data, int64_t size_bytes) {
  TRY(require(memory_policy_ == Memory::kGiven, "the context owns its memory"));
  TRY(require(reinterpret_cast<uintptr_t>(data) % 256 == 0, "context memory must be aligned to 256 bytes"));
  if (data == given_memory_ && size_bytes == given_bytes_) return {};
  TRY(wait_idle());
  drop_bindings(bindings_.size());  // they have the memory of before
  given_memory_ = static_cast<std::byte*>(data);
  given_bytes_ = size_bytes;
  return {};
}

namespace {
Status require_whole(double value, size_t element, std::string_view input) {
  return require(std::trunc(value) == value && std::abs(value) <= 0x1p53, "shape input '", input, "': element ",
                 element, " is ", value, "; shapes are made of it, so it must be a whole number");
}
}  // namespace

Status Context::read_shape_values(bool& changed) {
  for (const int input : shape_inputs_) {
    const auto i = static_cast<size_t>(input);
    const plan::IoTensor& io = engine_->plan().inputs[i];
    if (!input_addresses_[i]) return error(Code::kState, "shape input '", io.name, "' has no address");
    const View view(io.dtype, input_extents_[i], static_cast<const std::byte*>(input_addresses_[i]));
    auto& bound = input_values_[i];
    const auto count = static_cast<size_t>(view.volume());
    if (bound.size() != count) bound.assign(count, 0), changed = true;
    for (size_t k = 0; k < count; ++k) {
      if (is_float(io.dtype)) TRY(require_whole(view[static_cast<int64_t>(k)], k, io.name));
      const int64_t value = view.integer(static_cast<int64_t>(k));
      changed |= std::exchange(bound[k], value) != value;
    }
  }
  return {};
}

Status Context::bind_symbols() {
  const plan::Plan& plan = engine_->plan();
  for (size_t s = 0; s < plan.symbols.size(); ++s) {
    const plan::Symbol& symbol = plan.symbols[s];
    if (symbol.input < 0) continue;
    const auto input = static_cast<size_t>(symbol.input);
    if (symbol.element < 0) {
      symbols_[s] = input_extents_[input][static_cast<size_t>(symbol.axis)];
      continue;
    }
    if (!plan.inputs[input].is_shape) continue;  // nothing reads it
    const int64_t value = symbols_[s] = input_values_[input][static_cast<size_t>(symbol.element)];
    const plan::InputRange& range = plan_profile().value_ranges[input];
    const auto element = static_cast<size_t>(symbol.element);
    if (element < range.min.size() && (value < range.min[element] || value > range.max[element]))
      return error(Code::kInvalidArgument, "shape input '", plan.inputs[input].name, "': element ", element, " is ",
                   value, "; profile ", profile_, " allows [", range.min[element], ", ", range.max[element], "]");
  }
  for (size_t i = 0; i < plan.inputs.size(); ++i)
    for (size_t axis = 0; axis < plan.inputs[i].extents.size(); ++axis) {
      const int64_t wanted = TRY(plan.inputs[i].extents[axis].run(symbols_));
      TRY(require(input_extents_[i][axis] == wanted, "input '", plan.inputs[i].name, "': extent ",
                  input_extents_[i][axis], " of axis ", axis, " must be ", wanted, ", as '",
                  plan.inputs[i].axis_names[axis], "' is in another input"));
    }
  for (const sym::Guard& guard : plan.guards) TRY(guard.check(symbols_));
  for (const sym::Guard& guard : plan_profile().guards) TRY(guard.check(symbols_));
  return {};
}

/// Whether these shapes were bound before, and still are.
bool Context::take_earlier_binding() {
  const auto found = std::ranges::find_if(bindings_, [&](const std::unique_ptr<Binding>& binding) {
    return binding->input_extents == input_extents_ && binding->input_values == input_values_;
  });
  if (found == bindings_.end()) return false;
  std::rotate(found, found + 1, bindings_.end());
  return true;
}

Status Context::make_binding() {
  TRY(make_room_for_binding());
  auto made = std::make_unique<Binding>();
  made->id = ++num_bindings_made_;
  made->input_extents = input_extents_;
  made->input_values = input_values_;
  TRY(bind_steps(*made));
  TRY(place_tensors(*made));
  if (launcher_) TRY(launcher_->prepare(engine_->branches(profile_)));
  bindings_.push_back(std::move(made));
  return {};
}

/// Runs that a host queued are of the one binding that there is; launched ones have what they need.
Status Context::make_room_for_binding() {
  const size_t most = launcher_ ? kMostBindings : 1;
  if (bindings_.size() < most) return {};
  TRY(wait_idle());
  drop_bindings(bindings_.size() - most + 1);
  return {};
}

/// The `count` used longest ago, whose runs are done.
void Context::drop_bindings(size_t count) {
  if (count == 0) return;
  tell_faults();
  for (size_t i = 0; i < count; ++i) {
    if (latest_ && latest_->binding == bindings_[i]->id) latest_ = nullptr;
    forget_captured(bindings_[i]->id);
    if (launcher_) launcher_->forget(bindings_[i]->id);
    if (launcher_ && launcher_->was_captured()) old_bindings_.push_back(std::move(bindings_[i]));
  }
  bindings_.erase(bindings_.begin(), bindings_.begin() + static_cast<std::ptrdiff_t>(count));
  if (bindings_.empty()) bound_ = false;
}

Status Context::bind_steps(Binding& binding) {
  const plan::Profile& profile = plan_profile();
  binding.tensor_extents = TRY(engine_->tensor_extents(profile_, symbols_));
  TRY(plan::validate_extents(engine_->plan(), profile, symbols_, input_extents_, binding.tensor_extents));
  steps_to_inputs_ = num_steps_to_inputs();
  const int tuning = engine_->nearest_tuning(profile_, symbols_);
  for (size_t s = 0; s < profile.steps.size(); ++s) {
    const auto states = [&](const KeepsState& step) { return state_of(step, s); };
    binding.steps.push_back(
        TRY(engine_->bind_step(profile_, static_cast<int>(s), tuning, binding.tensor_extents, symbols_, states)));
    binding.workspace_bytes = std::max(binding.workspace_bytes, binding.steps.back()->workspace_bytes());
    if (binding.steps.back()->has_check()) binding.checked_steps.push_back(s);
  }
  return {};
}

/// What a step of the profile keeps from run to run, whichever of its kernels is bound. A step of the same name in
/// another profile, of several the one at the same place among them, goes on where this one is left.
Result<std::byte*> Context::state_of(const KeepsState& step, size_t s) {
  const std::vector<plan::Step>& steps = plan_profile().steps;
  const std::span<const plan::Step> before = std::span(steps).first(s);
  const std::vector<std::byte> initial = step.initial_state();
  const StateKey key(steps[s].name, std::ranges::count(before, steps[s].name, &plan::Step::name), initial.size());
  if (const auto found = states_.find(key); found != states_.end()) return found->second.data();
  if (initial.empty()) return nullptr;
  Buffer made;
  if (launcher_) {
    TRY(copy_to_device(made, initial, nullptr));
  } else {
    made = TRY(engine_->allocate(std::ssize(initial)));
    std::memcpy(made.data(), initial.data(), initial.size());
  }
  return states_.emplace(key, std::move(made)).first->second.data();
}

/// For runs that no call of the program's will ask about.
void Context::tell_faults() {
  const Status checked = check_runs();
  if (!checked && fault_observer_) fault_observer_->faulted(checked.error());
}

Status Context::check_runs() {
  for (const auto& binding : bindings_)
    for (const size_t s : binding->checked_steps)
      if (Status checked = binding->steps[s]->check(); !checked) [[unlikely]]
        return error(checked.error().code, "an earlier run failed: step '", plan_profile().steps[s].name,
                     "': ", checked.error().message);
  return {};
}

/// How many steps have to be done before inputs may change. Of shape inputs a device has values of its own.
size_t Context::num_steps_to_inputs() const {
  const plan::Profile& profile = plan_profile();
  const auto reads_input = [&](int id) {
    const plan::Tensor* tensor = &profile.tensors[static_cast<size_t>(id)];
    while (tensor->place == plan::Place::kView) tensor = &profile.tensors[static_cast<size_t>(tensor->index)];
    return tensor->place == plan::Place::kInput &&
           !(launcher_ && engine_->plan().inputs[static_cast<size_t>(tensor->index)].is_shape);
  };
  size_t count = profile.steps.size();
  while (count > 0 && std::ranges::none_of(profile.steps[count - 1].inputs, reads_input)) --count;
  return count;
}

Status Context::place_tensors(Binding& binding) {
  const plan::Profile& profile = plan_profile();
  const int64_t needed = aligned_bytes(profile.arena_bytes) +
                         engine_->branches(profile_).num_streams * aligned_bytes(binding.workspace_bytes);
  std::byte* memory = given_memory_;
  if (memory_policy_ != Memory::kGiven) {
    if (own_memory_.size_bytes() < needed) {  // what is bound elsewhere goes with the memory
      TRY(wait_idle());
      drop_bindings(bindings_.size());
      TRY(reserve_memory(needed));
    }
    memory = own_memory_.data();
  } else if (needed > 0 && (!memory || given_bytes_ < needed)) {
    return error(Code::kState, "the context was given ", given_bytes_, " bytes of memory and needs ", needed);
  }
  const int in_flight = launcher_ ? 1 : kMaxInFlight;  // a launched run has its addresses already
  for (int i = 0; i < in_flight; ++i) {
    auto invocation = std::make_unique<Invocation>();
    invocation->context = this;
    invocation->binding = binding.id;
    invocation->workspace = memory + aligned_bytes(profile.arena_bytes);
    invocation->times_ms.resize(profile.steps.size());
    for (size_t s = 0; s < profile.steps.size(); ++s) {
      const plan::Step& step = profile.steps[s];
      const Owner owner{static_cast<int>(s), static_cast<int>(invocation->pointers.size())};
      const auto place = [&](int id) { return place_tensor(binding, owner, id, memory, *invocation); };
      for (const int id : step.inputs) TRY(place(id));
      for (const int id : step.outputs) TRY(place(id));
    }
    binding.invocations.push_back(std::move(invocation));
  }
  return {};
}

Status Context::place_tensor(Binding& binding, const Owner& owner, int id, std::byte* memory, Invocation& invocation) {
  const std::vector<plan::Tensor>& tensors = plan_profile().tensors;
  const plan::Tensor* tensor = &tensors[static_cast<size_t>(id)];
  const bool is_view = tensor->place == plan::Place::kView;
  int64_t offset = 0;
  for (; tensor->place == plan::Place::kView; tensor = &tensors[static_cast<size_t>(tensor->index)])
    offset += TRY(tensor->offset.run(symbols_));
  std::byte* base = nullptr;
  bool is_known = true;  // now, and not at each enqueue
  switch (tensor->place) {
    case plan::Place::kArena: base = memory + tensor->offset_bytes; break;
    case plan::Place::kWeight: base = TRY(weight_address(*tensor, is_view)); break;
    case plan::Place::kInput:
      is_known = launcher_ && engine_->plan().inputs[static_cast<size_t>(tensor->index)].is_shape;
      if (is_known) base = TRY(shape_values(binding, tensor->index));
      break;
    case plan::Place::kOutput: is_known = false; break;
    case plan::Place::kAbsent:
    case plan::Place::kView: break;
  }
  if (!is_known)
    invocation.patches.push_back({static_cast<int>(invocation.pointers.size()), owner.step, owner.first_slot,
                                  tensor->index, tensor->place == plan::Place::kInput, offset});
  invocation.pointers.push_back(base ? base + offset : nullptr);
  return {};
}

/// A host device reads the engine's weights. On another, steps have uploaded what they need, except of a view, which no
/// step knows to be a weight's.
Result<std::byte*> Context::weight_address(const plan::Tensor& weight, bool is_view) {
  const HostTensor& value = engine_->weight(weight);
  if (!launcher_) return const_cast<std::byte*>(value.bytes().data());
  if (!is_view) return nullptr;
  Buffer& there = viewed_weights_[&value];
  return there.data() ? there.data() : copy_to_device(there, value.bytes(), nullptr);
}

/// What steps read of a shape input on a device of its own: the values that were bound.
Result<std::byte*> Context::shape_values(Binding& binding, int input) {
  const auto at = static_cast<size_t>(input);
  const int64_t size = size_bytes(engine_->plan().inputs[at].dtype, volume(input_extents_[at]));
  return copy_to_device(binding.shape_values[input],
                        {static_cast<const std::byte*>(input_addresses_[at]), static_cast<size_t>(size)},
                        temporary_memory_);
}

Result<std::byte*> Context::copy_to_device(Buffer& buffer, std::span<const std::byte> bytes, Allocator* memory) {
  Device& device = engine_->device();
  const std::unique_ptr<Stream> stream = TRY(device.create_stream());
  if (buffer.size_bytes() < std::ssize(bytes))
    buffer = TRY(memory ? memory->allocate(std::ssize(bytes)) : engine_->allocate(std::ssize(bytes)));
  TRY(device.copy_from_host(buffer.data(), bytes.data(), std::ssize(bytes), *stream));
  return buffer.data();
}

Status Context::infer_shapes() {
  if (num_extents_unset_ > 0) {
    const auto first = std::ranges::find(extents_set_, false) - extents_set_.begin();
    return error(Code::kState, "the shape of input '", engine_->plan().inputs[static_cast<size_t>(first)].name,
                 "' is not set");
  }
  bool values_changed = false;
  Status read = read_shape_values(values_changed);
  if (values_changed) bound_ = shapes_known_ = false;
  TRY(std::move(read));
  if (!shapes_known_) TRY(bind_symbols());
  shapes_known_ = true;
  return write_shape_outputs();
}

/// On every device these are the host's, and the host knows them.
Status Context::write_shape_outputs() const {
  for (const int index : shape_outputs_) {
    const auto i = static_cast<size_t>(index);
    const plan::IoTensor& output = engine_->plan().outputs[i];
    if (!output_addresses_[i]) continue;
    for (size_t k = 0; k < output.values.size(); ++k) {
      const int64_t value = TRY(output.values[k].run(symbols_));
      if (output.dtype == DType::kI32)
        static_cast<int32_t*>(output_addresses_[i])[k] = static_cast<int32_t>(value);
      else
        static_cast<int64_t*>(output_addresses_[i])[k] = value;
    }
  }
  return {};
}

Status Context::bind() {
  TRY(infer_shapes());
  if (bound_) return {};
  if (!take_earlier_binding()) TRY(make_binding());
  bound_ = true;
  repeats_ = false;  // an earlier binding has the addresses of its own last run
  return {};
}

Status Context::check_addresses() const {
  const plan::Plan& plan = engine_->plan();
  for (size_t i = 0; i < input_addresses_.size(); ++i)
    if (!input_addresses_[i] && volume(input_extents_[i]) > 0)
      return error(Code::kState, "input '", plan.inputs[i].name, "' has no address: call setTensorAddress");
  for (size_t i = 0; i < output_addresses_.size(); ++i)
    if (!output_addresses_[i]) {
      int64_t count = 1;
      for (const sym::Program& extent : plan.outputs[i].extents) count *= extent.try_run(symbols_).value_or(1);
      if (count > 0)
        return error(Code::kState, "output '", plan.outputs[i].name, "' has no address: call setTensorAddress");
    }
  return {};
}

/// The addresses of now, in the pointers of every step.
void Context::set_addresses(Invocation& invocation) const {
  for (const Patch& patch : invocation.patches) {
    const auto io = static_cast<size_t>(patch.io);
    auto* base =
        static_cast<std::byte*>(patch.is_input ? const_cast<void*>(input_addresses_[io]) : output_addresses_[io]);
    invocation.pointers[static_cast<size_t>(patch.slot)] = base + patch.offset;
  }
}

Status Context::enqueue(Stream& stream) {
  TRY(check_runs());
  const bool repeats = repeats_ && bound_;
  if (!repeats) {
    repeats_ = false;
    TRY(bind());
    TRY(check_addresses());
    repeats_ = shape_inputs_.empty() && shape_outputs_.empty();  // else their values are read or written in each run
  }
  if (launcher_) return launch(stream, repeats);
  latest_was_captured_ = stream.capturing();
  if (latest_was_captured_) {
    TRY(enqueue_captured(stream));
    return inputs_consumed_ ? inputs_consumed_->record(stream) : Status();
  }
  Binding& binding = *bindings_.back();
  Invocation& invocation = *binding.invocations[binding.next_invocation];
  if (invocation.in_flight.load(std::memory_order_acquire)) TRY(invocation.stream->synchronize());
  binding.next_invocation = (binding.next_invocation + 1) % binding.invocations.size();
  set_addresses(invocation);
  invocation.stream = &stream;
  invocation.timed = timing_;
  invocation.has_times.store(false, std::memory_order_relaxed);
  invocation.in_flight.store(true, std::memory_order_release);
  Status queued = stream.launch_host(&run_invocation, &invocation);
  if (!queued) invocation.in_flight.store(false, std::memory_order_release);
  latest_ = &invocation;
  TRY(std::move(queued));
  return inputs_consumed_ ? inputs_consumed_->record(stream) : Status();
}

Status Context::enqueue_captured(Stream& stream) {
  const Invocation& model = *bindings_.back()->invocations.front();
  auto invocation = std::make_unique<Invocation>();
  invocation->context = this;
  invocation->stream = &stream;
  invocation->pointers = model.pointers;
  invocation->patches = model.patches;
  invocation->workspace = model.workspace;
  invocation->binding = model.binding;
  invocation->timed = timing_;
  invocation->times_ms.resize(model.times_ms.size());
  set_addresses(*invocation);
  const auto known = std::ranges::find_if(captured_, [&](const std::unique_ptr<Invocation>& earlier) {
    return earlier->binding == invocation->binding && earlier->stream == &stream &&
           earlier->timed == invocation->timed && earlier->pointers == invocation->pointers;
  });
  latest_ = known == captured_.end() ? captured_.emplace_back(std::move(invocation)).get() : known->get();
  return stream.launch_host(&run_invocation, latest_);
}

/// Frees what captured runs of a binding that goes no longer need: their graphs are refused from here on.
void Context::forget_captured(uint64_t binding) {
  for (const std::unique_ptr<Invocation>& invocation : captured_) {
    if (invocation->binding != binding) continue;
    invocation->pointers = std::vector<void*>();
    invocation->patches = std::vector<Patch>();
    invocation->times_ms = std::vector<float>();
  }
}

Status Context::launch(Stream& stream, bool repeats) {
  const Binding& binding = *bindings_.back();
  Invocation& invocation = *binding.invocations.front();
  if (!repeats) {
    set_addresses(invocation);
    ++num_address_changes_;
  }
  return launcher_->enqueue({.steps = plan_profile().steps,
                             .bound = binding.steps,
                             .binding = binding.id,
                             .pointers = invocation.pointers.data(),
                             .patches = invocation.patches,
                             .version = num_address_changes_,
                             .workspace = invocation.workspace,
                             .inputs_consumed = inputs_consumed_,
                             .steps_to_inputs = steps_to_inputs_,
                             .branches = &engine_->branches(profile_),
                             .workspace_step = aligned_bytes(binding.workspace_bytes)},
                            stream, timing_);
}

Status Context::set_aux_streams(std::vector<std::unique_ptr<Stream>> streams) {
  if (!launcher_) return {};
  TRY(launcher_->forget());
  launcher_->set_aux_streams(std::move(streams));
  return {};
}

void Context::fault(Stream& stream, Error error) const {
  if (fault_observer_) fault_observer_->faulted(error);
  stream.fault(std::move(error));
}

void Context::run_invocation(void* argument) {
  using Clock = std::chrono::steady_clock;
  Invocation& invocation = *static_cast<Invocation*>(argument);
  const std::lock_guard running(invocation.running);
  const Context& context = *invocation.context;
  const plan::Profile& profile = context.plan_profile();
  const Binding* binding = context.bindings_.empty() ? nullptr : context.bindings_.back().get();
  const bool is_of_now = binding && binding->id == invocation.binding;
  if (!is_of_now && !invocation.stream->faulted())
    context.fault(*invocation.stream, {Code::kDevice,
                                       "the run was captured before the context's shapes, profile or "
                                       "memory changed; capture it again"});
  invocation.has_times.store(false, std::memory_order_relaxed);
  void** at = invocation.pointers.data();
  for (size_t s = 0; is_of_now && s < binding->steps.size() && !invocation.stream->faulted(); ++s) {
    const plan::Step& step = profile.steps[s];
    const RunArguments arguments{at, at + step.inputs.size(), invocation.workspace, nullptr};
    at += step.inputs.size() + step.outputs.size();
    const Clock::time_point start = invocation.timed ? Clock::now() : Clock::time_point{};
    if (Status ran = run_step(*binding->steps[s], arguments); !ran) {
      context.fault(*invocation.stream, {ran.error().code, str("step '", step.name, "': ", ran.error().message)});
      break;
    }
    if (invocation.timed)
      invocation.times_ms[s] = std::chrono::duration<float, std::milli>(Clock::now() - start).count();
  }
  invocation.has_times.store(invocation.timed && !invocation.stream->faulted(), std::memory_order_release);
  invocation.in_flight.store(false, std::memory_order_release);
}

}  // namespace kiln::runtime
