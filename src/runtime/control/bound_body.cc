#include "runtime/control/bound_body.h"

#include <algorithm>
#include <array>
#include <utility>

#include "plan/control.h"
#include "plan/decided_sizes.h"
#include "plan/validate.h"
#include "runtime/launch.h"
#include "runtime/tensor_places.h"
#include "runtime/value_watch.h"
#include "sym/program_words.h"
#include "sym/unbounded.h"
#include "tensor/view.h"

namespace kiln::runtime {

/// A segment of the body's steps.
struct BoundBody::Part {
  plan::Segment segment;
  std::vector<bool> tensors;    ///< that its steps read or write
  std::vector<size_t> outputs;  ///< of the body, that they write
  bool is_bound = false;
  bool has_room = false;         ///< whether outputs have room for these symbols, if it does not change
  std::vector<int64_t> symbols;  ///< that its steps are bound for
  StepPointers at;
  const std::byte* arena = nullptr;  ///< that `at` is for
  uint64_t memory_version = 0;       ///< likewise, of the growing memory
};

BoundBody::BoundBody(const ControlSpec& spec, size_t index)
    : engine_(spec.engine),
      body_(engine_.plan().bodies[static_cast<size_t>(spec.step.bodies[index])]),
      index_(spec.step.bodies[index]),
      block_(engine_.body_block(index_)),
      runner_(spec.runner),
      states_(spec.states),
      path_(body_path(spec, index)),
      timer_(engine_.device()),
      input_extents_(body_.inputs.size()),
      output_extents_(body_.outputs.size()),
      held_(body_.inputs.size(), 0),
      room_(body_.outputs.size(), 0),
      steps_(body_.steps.size()),
      growing_(engine_) {
  for (const plan::Segment& segment : engine_.segments(block_))
    parts_.push_back({.segment = segment, .tensors = plan::tensors_of(body_, segment)});
  find_output_parts();
  find_guard_parts();
}

BoundBody::~BoundBody() = default;

Status BoundBody::bind(std::span<const int64_t> symbols) {
  sizes_ = TRY(SizeStore::create(body_, engine_.device()));
  symbols_.assign(symbols.begin(), symbols.end());
  for (Part& part : parts_) part.is_bound = false;
  return body_.symbols.empty() ? bind_part(0, nullptr) : Status();
}

/// Gives the symbols of this run their values.
Status BoundBody::bind_symbols(const BodyRun& run) {
  std::array<std::byte, kMaxRank * sizeof(int64_t)> elements{};
  int read = -1;  // the input that they are of: each is read once
  for (const plan::BodySymbol& anew : body_.symbols) {
    const auto input = static_cast<size_t>(anew.input);
    int64_t& value = symbols_[static_cast<size_t>(anew.symbol)];
    if (anew.axis >= 0) {
      value = input_extents_[input][static_cast<size_t>(anew.axis)];
      continue;
    }
    const DType dtype = body_.inputs[input].dtype;
    const int64_t held = std::min<int64_t>(held_[input], std::ssize(elements));
    TRY(require(size_bytes(dtype, anew.element + 1) <= held, "input '", body_.inputs[input].name, "' has no element ",
                anew.element));
    if (std::exchange(read, anew.input) != anew.input)
      TRY(read_now(engine_.device(), elements.data(), run.inputs[input], held, run.stream));
    value = load_integer(dtype, elements.data(), anew.element);
    TRY(require(value >= -sym::kMostUnbounded && value <= sym::kMostUnbounded, "element ", anew.element, " of input '",
                body_.inputs[input].name, "' is ", value, ", and shapes depend on it: 32 bits are the most"));
  }
  return {};
}

Result<std::vector<Extents>> BoundBody::extents_of_inputs() const {
  std::vector<Extents> inputs;
  for (const plan::IoTensor& input : body_.inputs) {
    Extents& at = inputs.emplace_back();
    for (const sym::Program& extent : input.extents) at.push_back(TRY(extent.run(symbols_)));
    const int64_t bytes = size_bytes(input.dtype, TRY(checked_volume(at))), held = held_[inputs.size() - 1];
    TRY(require(bytes <= held, "input '", input.name, "' takes ", bytes, " bytes, and the step around it gives ",
                held));
  }
  return inputs;
}

/// Binds a segment's steps for the symbols of now. `run` is null ahead of all runs.
Status BoundBody::bind_part(size_t index, const BodyRun* run) {
  Part& part = parts_[index];
  if (index == 0) TRY(plan::set_largest_sizes(body_, symbols_));
  if (part.is_bound && part.symbols == symbols_) return {};
  part.is_bound = part.has_room = false;
  part.arena = nullptr;
  if (index == 0) TRY(check_guards(-1));
  const std::vector<bool>* const only = parts_.size() == 1 ? nullptr : &part.tensors;
  const std::vector<Extents> extents = TRY(engine_.tensor_extents(block_, symbols_, only));
  const std::vector<Extents> inputs = TRY(extents_of_inputs());
  TRY(plan::validate_extents(engine_.plan(), body_, {body_.inputs, body_.outputs, inputs}, symbols_, extents, only));
  TRY(growing_.reserve_outputs(body_, part.segment, symbols_, run ? run->stream : nullptr));
  TRY(bind_steps(part, extents, run ? run->stream : nullptr));
  part.symbols = symbols_;
  part.is_bound = true;
  return {};
}

Status BoundBody::bind_steps(const Part& part, std::span<const Extents> extents, Stream* stream) {
  const int tuning = engine_.nearest_tuning(block_, symbols_);
  for (size_t s = part.segment.first; s < part.segment.end; ++s) {
    const auto states = [&](const KeepsState& step) -> Result<std::byte*> {
      std::byte* const state = TRY(states_.of(step, body_, s, path_));
      keeps_state_ = keeps_state_ || state;
      return state;
    };
    const plan::Step& step = body_.steps[s];
    auto bound = plan::is_control(step)
                     ? TRY(bind_control({engine_, body_, step, symbols_, extents, runner_, growing_, states_, path_}))
                     : TRY(engine_.bind_step(block_, static_cast<int>(s), tuning, extents, symbols_, states));
    // Smaller extents may want more, as other kernels run then.
    const int64_t wanted = bound->workspace_bytes();
    if (wanted > body_.workspace_bytes) TRY(reserve(engine_, workspace_, wanted, 0, stream));
    steps_[s] = std::move(bound);
  }
  return {};
}

/// Sees to it that the outputs that a segment writes have room for what they are in this run.
Status BoundBody::make_room(Part& part, const BodyRun& run) {
  for (const size_t i : part.outputs) {
    const int64_t bytes = TRY(output_bytes(i));
    if (bytes <= room_[i]) continue;
    if (run.room) TRY(run.room->make_room(i, bytes));
    TRY(require(bytes <= room_[i], "output '", body_.outputs[i].name, "' takes ", bytes, " bytes, beyond the ",
                room_[i], " that its bound leaves it"));
  }
  part.has_room = true;
  return {};
}

Status BoundBody::place(Part& part, const BodyRun& run) {
  const auto address = [&](int id, const plan::Tensor& whole, bool is_view) -> Result<std::optional<std::byte*>> {
    switch (whole.place) {
      case plan::Place::kArena: return run.arena + whole.offset_bytes;
      case plan::Place::kGrowing: return growing_.at(id);
      case plan::Place::kWeight: return TRY(weight_address(engine_.weight(whole), is_view, runner_));
      case plan::Place::kInput:
      case plan::Place::kOutput: return std::nullopt;
      case plan::Place::kAbsent:
      case plan::Place::kView: break;
    }
    return nullptr;
  };
  part.at = TRY(place_steps(body_, part.segment, symbols_, address));
  part.arena = run.arena;
  part.memory_version = growing_.version();
  return {};
}

Status BoundBody::run(const BodyRun& run) {
  TRY(bind_symbols(run));
  BodyObserver* const observer = runner_.body_observer();
  if (observer) [[unlikely]]
    TRY(timer_.begin(body_.steps.size(), run.stream));
  else
    timer_.stop();
  if (ValueWatch* const watch = runner_.watch()) [[unlikely]]
    TRY(watch->block_begins(body_, {run.inputs, body_.inputs.size()}, symbols_));
  for (size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    if (!part.is_bound || !body_.symbols.empty() || parts_.size() > 1) TRY(bind_part(i, &run));
    if (run.room || !part.has_room) TRY(make_room(part, run));
    if (part.arena != run.arena || !part.arena || part.memory_version != growing_.version()) TRY(place(part, run));
    TRY(run_part(part, run));
    if (i + 1 == parts_.size()) break;
    if (run.stream) TRY(run.stream->synchronize());
    TRY(take_sizes(i));
  }
  return observer ? timer_.tell(*observer, index_) : Status();
}

Status BoundBody::run_part(Part& part, const BodyRun& run) {
  for (const Patch& patch : part.at.patches) {
    const auto io = static_cast<size_t>(patch.io);
    void* const base = patch.is_input ? const_cast<void*>(run.inputs[io]) : run.outputs[io];
    part.at.pointers[static_cast<size_t>(patch.slot)] = static_cast<std::byte*>(base) + patch.offset;
  }
  void* const* at = part.at.pointers.data();
  ValueWatch* const watch = runner_.watch();
  for (size_t s = part.segment.first; s < part.segment.end; ++s) {
    const plan::Step& step = body_.steps[s];
    std::byte* const workspace = workspace_.data() ? workspace_.data() : run.workspace;
    const RunArguments arguments{at, at + step.inputs.size(), workspace, run.stream, sizes_.of_step(s)};
    if (Status ran = run_step(*steps_[s], arguments); !ran) [[unlikely]]
      return error(ran.error().code, "step '", step.name, "': ", ran.error().message);
    if (timer_.is_on()) TRY(timer_.step_done(s));
    at += step.inputs.size();
    if (watch) [[unlikely]]
      TRY(watch->step_ran({body_, s, at, symbols_, sizes_, growing_}));
    at += step.outputs.size();
  }
  return {};
}

/// Takes the sizes that a segment's steps have decided, and checks the assumptions that read them.
Status BoundBody::take_sizes(size_t index) {
  const plan::Segment& steps = parts_[index].segment;
  const std::span<const int64_t> sizes = sizes_.of_steps(steps.first, steps.end);
  TRY(plan::take_decided_sizes(engine_.plan(), body_, body_.guards, steps, sizes, symbols_));
  TRY(plan::set_known_sizes(body_, symbols_));
  return check_guards(static_cast<int>(index));
}

Status BoundBody::check_guards(int part) const {
  for (size_t g = 0; g < guard_parts_.size(); ++g)
    if (guard_parts_[g] == part) TRY(body_.guards[g].check(symbols_));
  return {};
}

void BoundBody::find_output_parts() {
  for (Part& part : parts_)
    for (size_t s = part.segment.first; s < part.segment.end; ++s)
      for (const int id : body_.steps[s].outputs) {
        const plan::Tensor* root = &body_.tensors[static_cast<size_t>(id)];
        while (root->place == plan::Place::kView) root = &body_.tensors[static_cast<size_t>(root->index)];
        if (root->place == plan::Place::kOutput) part.outputs.push_back(static_cast<size_t>(root->index));
      }
}

void BoundBody::find_guard_parts() {
  std::map<int, int> decided;  // by symbol: the segment that decides it
  const auto last = [&](const sym::Program& program) {
    int part = -1;
    for (const int symbol : sym::operands_of(program).symbols)
      if (const auto found = decided.find(symbol); found != decided.end()) part = std::max(part, found->second);
    return part;
  };
  for (size_t i = 0; i < parts_.size(); ++i)
    for (size_t s = parts_[i].segment.first; s < parts_[i].segment.end; ++s)
      for (const plan::DecidedSize& size : body_.steps[s].sizes) decided[size.symbol] = static_cast<int>(i);
  for (const plan::KnownSize& size : body_.known_sizes) decided[size.symbol] = last(size.value);
  for (const sym::Guard& guard : body_.guards) guard_parts_.push_back(std::max(last(guard.lhs), last(guard.rhs)));
}

Result<std::span<const int64_t>> BoundBody::output_extents(size_t output) {
  Extents& extents = output_extents_[output];  // kept: to ask again allocates nothing
  extents.clear();
  for (const sym::Program& extent : body_.outputs[output].extents) extents.push_back(TRY(extent.run(symbols_)));
  return std::span<const int64_t>(extents);
}

Result<int64_t> BoundBody::output_bytes(size_t output) {
  return size_bytes(body_.outputs[output].dtype, TRY(checked_volume(TRY(output_extents(output)))));
}

bool BoundBody::reads_input(size_t input) const {
  return std::ranges::any_of(body_.tensors, [&](const plan::Tensor& tensor) {
    return tensor.place == plan::Place::kInput && tensor.index == static_cast<int>(input);
  });
}

bool BoundBody::has_check() const {
  return parts_.size() > 1 || !body_.symbols.empty() ||
         std::ranges::any_of(steps_, [](const auto& step) { return step && step->has_check(); });
}

bool BoundBody::leaves_no_trace() const {
  return !has_check() && !keeps_state_ && std::ranges::none_of(body_.steps, plan::is_control);
}

Status BoundBody::check() {
  for (size_t s = 0; s < steps_.size(); ++s)
    if (steps_[s])
      if (Status checked = steps_[s]->check(); !checked)
        return error(checked.error().code, "step '", body_.steps[s].name, "': ", checked.error().message);
  return {};
}

}  // namespace kiln::runtime
