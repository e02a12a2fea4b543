#include "runtime/control/bound_loop.h"

#include <algorithm>
#include <limits>

#include "device/async.h"
#include "plan/control.h"
#include "runtime/control/bound_body.h"
#include "tensor/view.h"

namespace kiln::runtime {
namespace {

constexpr int64_t kMostNumbers = int64_t{1} << 16;  // of iterations, kept on a device of its own
constexpr int64_t kMostRecorded = 4096;             // launches that a recording may have of one loop
constexpr int64_t kAlignment = 256;                 // of tensors on a device of its own
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

class BoundLoop final : public BoundStep, OutputRoom {
 public:
  BoundLoop(const steps::Loop& loop, const ControlSpec& spec);
  Status bind(const ControlSpec& spec);

  int64_t workspace_bytes() const override { return layout_.total_bytes; }
  Status run(const RunArguments& arguments) override;
  bool has_check() const override { return body_.has_check() || (test_ && test_->has_check()); }
  Status check() override {
    TRY(body_.check());
    return test_ ? test_->check() : Status();
  }

 private:
  enum class Where : uint8_t { kInput, kOutput, kSpare };
  /// A value that is carried from iteration to iteration: it goes to and fro between its output and a spare place.
  struct Carried {
    Extents first_extents;
    bool is_sized = false;  ///< whether its extents change
    bool grows = false;     ///< without a bound
    int64_t first_bytes = 0, room = 0;
    int64_t planned_spare = 0;  ///< bytes of the spare place in the workspace
    Extents extents;            ///< before the iteration
    Where at = Where::kInput;   ///< likewise
    Where next = Where::kOutput;
    const std::byte* input = nullptr;
    std::byte *output = nullptr, *spare = nullptr;
    Buffer own_spare;  ///< where the workspace has none that is large enough

    const std::byte* now() const { return at == Where::kInput ? input : at == Where::kOutput ? output : spare; }
  };
  struct Scanned {
    int64_t extent = 0, slice_bytes = 0;
    Buffer own_slice;  ///< an aligned place where the workspace has none that is large enough
  };
  struct Stacked {
    std::string_view name;  ///< of the step's output; may be empty
    int64_t room = 0, slice_bytes = 0;
    int64_t most_slice_bytes = 0;  ///< where something bounds them
    bool is_sized = false;         ///< whether the body decides the slices' extents
    Extents slice_extents;         ///< then: of the first slice
    std::byte* whole = nullptr;
    int64_t at = 0;            ///< the place of this iteration's slice
    bool grows = false;        ///< without a bound
    std::byte* now = nullptr;  ///< of this iteration's
    Buffer own_slice;          ///< as of a scanned value
  };
  void set_held(size_t input, int64_t bytes) {
    body_.set_held(input, bytes);
    if (test_) test_->set_held(input, bytes);
  }
  bool is_decided(size_t output, int first_axis) const;
  Status bind_carried(const ControlSpec& spec, size_t c);
  void bind_stacked(const ControlSpec& spec, size_t k);
  Result<int64_t> count(const RunArguments& arguments) const;
  bool can_unroll(const RunArguments& arguments) const;
  void begin(const RunArguments& arguments);
  Status set_number(int64_t iteration, Stream* stream);
  Status set_inputs(const RunArguments& arguments, int64_t iteration);
  Status set_outputs(const RunArguments& arguments, int64_t iteration, int64_t count);
  Result<bool> run_test(const RunArguments& arguments);
  /// Add the test, or the body, to what `stream` does or records.
  Status launch_test(const RunArguments& arguments, Stream* stream);
  Status launch_body(const RunArguments& arguments, Stream* stream);
  Status run_body(const RunArguments& arguments);
  Status end(const RunArguments& arguments, int64_t iterations);
  Result<std::byte*> aligned_place(const RunArguments& arguments, size_t slice, int64_t bytes, Buffer& own);
  Status record(const RunArguments& arguments);
  int recorded_at_once() const;
  static Status record_body(void* self_and_arguments, Stream* stream);
  static Status record_test(void* self_and_arguments, Stream* stream);
  /// Whether a slice's place in the whole tensor is not aligned as kernels need it: it has a place of its own then.
  bool is_apart(int64_t bytes) const { return !layout_.slices.empty() && bytes % kAlignment != 0; }
  size_t first_output() const { return loop_.tests ? 1 : 0; }  ///< of the body, behind its condition
  Where next_place(const Carried& value, int64_t iteration, int64_t count) const;
  Status make_room(size_t output, int64_t bytes) override;
  Status reserve_carried(size_t c, Where where, int64_t bytes);
  Status reserve_stacked(size_t k, int64_t slice_bytes);
  Status check_slice(size_t k);
  static Status check_room(const Stacked& stack, size_t k, int64_t slices, int64_t slice_bytes);
  Status place_stacked(const RunArguments& arguments, size_t k, int64_t iteration, int64_t count);
  size_t output_of_carried(size_t c) const { return first_output() + c; }
  size_t output_of_stacked(size_t k) const { return first_output() + carried_.size() + k; }

  const steps::Loop loop_;
  const Engine& engine_;
  Device& device_;
  const plan::Step& step_;
  GrowingMemory& growing_;
  const plan::ControlLayout layout_;
  BoundBody body_;
  std::optional<BoundBody> test_;
  Status bound_;
  std::optional<int64_t> known_count_;
  DType count_type_ = DType::kI64;
  int64_t most_slices_ = kNoLimit;  ///< of scanned values
  std::vector<Carried> carried_;
  std::vector<Scanned> scanned_;
  std::vector<Stacked> stacked_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
  std::byte* scalars_ = nullptr;
  Buffer numbers_;
  int64_t num_numbers_ = 0;
  bool reads_number_ = false;
  bool may_grow_ = false;     // some output has no bound
  int64_t iteration_ = 0;     // that runs
  Stream* stream_ = nullptr;  // of this run
};

BoundLoop::BoundLoop(const steps::Loop& loop, const ControlSpec& spec)
    : loop_(loop),
      engine_(spec.engine),
      device_(spec.engine.device()),
      step_(spec.step),
      growing_(spec.growing),
      layout_(plan::layout_of(spec.engine.plan(), spec.block, spec.step)),
      body_(spec, 0) {}

namespace {

int64_t slice_bytes_of(DType dtype, const Extents& whole) {
  return size_bytes(dtype, volume(Extents(whole.begin() + 1, whole.end())));
}

}  // namespace

bool BoundLoop::is_decided(size_t output, int first_axis) const {
  return std::ranges::any_of(loop_.decided, [&](const DecidedAxis& d) {
    return d.output == static_cast<int>(output) && d.axis >= first_axis;
  });
}

Status BoundLoop::bind_carried(const ControlSpec& spec, size_t c) {
  const auto id = static_cast<size_t>(step_.inputs[steps::Loop::kFirstCarried + c]);
  const auto output = static_cast<size_t>(step_.outputs[c]);
  Carried& value = carried_.emplace_back();
  value.first_extents = spec.extents[id];
  value.is_sized = is_decided(c, 0);
  value.grows = grows(spec, c);
  value.first_bytes = size_bytes(spec.block.tensors[id].dtype, volume(spec.extents[id]));
  value.planned_spare = std::max<int64_t>(spec.block.tensors[output].size_bytes_max, 0);
  if (value.grows) return {};
  const bool has_bound = spec.block.tensors[output].size_bytes_max != plan::kNoBound;
  value.room = room_of(spec, c);
  TRY(require(value.first_bytes <= value.room, "carried value ", c, " begins with ", value.first_bytes,
              " bytes, beyond the ", value.room, " that its bound leaves it"));
  TRY(require(value.room <= value.planned_spare || !has_bound, "carried value ", c, " takes up to ", value.room,
              " bytes; its spare place has ", value.planned_spare));
  if (!has_bound) TRY(reserve(engine_, value.own_spare, value.room, 0, nullptr));
  body_.set_room(output_of_carried(c), value.room);
  return {};
}

void BoundLoop::bind_stacked(const ControlSpec& spec, size_t k) {
  const size_t output = carried_.size() + k;
  const auto id = static_cast<size_t>(step_.outputs[output]);
  Stacked& stack = stacked_.emplace_back();
  stack.name = spec.block.tensors[id].name;
  stack.room = room_of(spec, output);
  stack.slice_bytes = slice_bytes_of(spec.block.tensors[id].dtype, spec.extents[id]);
  stack.most_slice_bytes = stack.slice_bytes;
  stack.is_sized = is_decided(output, 1);
  stack.grows = grows(spec, output);
  body_.set_room(output_of_stacked(k), stack.grows && stack.is_sized ? 0 : stack.slice_bytes);
}

Status BoundLoop::bind(const ControlSpec& spec) {
  const auto tensor_of = [&](int id) -> const plan::Tensor& { return spec.block.tensors[static_cast<size_t>(id)]; };
  if (!step_.params.empty()) known_count_ = std::max<int64_t>(TRY(step_.params[0].run(spec.symbols)), 0);
  count_type_ = tensor_of(step_.inputs[0]).dtype;
  inputs_.resize(body_.body().inputs.size());
  outputs_.resize(body_.body().outputs.size());
  if (loop_.tests) body_.set_room(0, 1);
  if (step_.bodies.size() == 2) test_.emplace(spec, 1);
  set_held(0, sizeof(int64_t));
  for (size_t i = steps::Loop::kFirstCarried; i < step_.inputs.size(); ++i) set_held(i - 1, held_by(spec, i));
  for (size_t c = 0; c < static_cast<size_t>(loop_.carried); ++c) TRY(bind_carried(spec, c));
  for (size_t k = 0; k < loop_.scans.size(); ++k) {
    const int id = step_.inputs[loop_.first_scanned() + k];
    const Extents& whole = spec.extents[static_cast<size_t>(id)];
    scanned_.push_back({whole[0], slice_bytes_of(tensor_of(id).dtype, whole), {}});
    set_held(loop_.first_scanned() + k - 1, scanned_.back().slice_bytes);
    most_slices_ = std::min(most_slices_, scanned_.back().extent);
  }
  for (size_t k = 0; k < loop_.stacks.size(); ++k) bind_stacked(spec, k);
  may_grow_ = std::ranges::any_of(carried_, &Carried::grows) || std::ranges::any_of(stacked_, &Stacked::grows);
  reads_number_ = body_.reads_input(0);
  if (test_) {
    test_->set_room(0, 1);
    reads_number_ = reads_number_ || test_->reads_input(0);
    bound_ = test_->bind(spec.symbols);
  }
  if (bound_) bound_ = body_.bind(spec.symbols);
  if (device_.is_host() || !reads_number_) return {};
  num_numbers_ = std::min({known_count_.value_or(kMostNumbers), most_slices_, kMostNumbers});
  std::vector<int64_t> numbers(static_cast<size_t>(num_numbers_));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i);
  return numbers.empty() ? Status() : engine_.upload(std::as_bytes(std::span(numbers)), numbers_);
}

/// How often the body runs if no condition ends the loop before.
Result<int64_t> BoundLoop::count(const RunArguments& arguments) const {
  if (known_count_) return std::min(*known_count_, most_slices_);
  if (!arguments.inputs[0]) return most_slices_;
  int64_t bits = 0;
  TRY(read_now(device_, &bits, arguments.inputs[0], size_bytes(count_type_, 1), arguments.stream));
  const int64_t asked = load_integer(count_type_, reinterpret_cast<const std::byte*>(&bits), 0);
  return std::min(std::max<int64_t>(asked, 0), most_slices_);
}

/// Whether a recording has all iterations one by one: the host knows how many there are, and they are few.
bool BoundLoop::can_unroll(const RunArguments& arguments) const {
  const auto steps = static_cast<int64_t>(body_.body().steps.size()) + 1;
  return known_count_ && !loop_.tests && !test_ && !arguments.inputs[1] &&
         std::min(*known_count_, most_slices_) <= kMostRecorded / steps;
}

void BoundLoop::begin(const RunArguments& arguments) {
  stream_ = arguments.stream;
  scalars_ = arguments.workspace + layout_.scalars;
  inputs_[0] = scalars_ + plan::kIterationAt;
  for (size_t c = 0; c < carried_.size(); ++c) {
    Carried& value = carried_[c];
    value.at = Where::kInput;
    value.input = static_cast<const std::byte*>(arguments.inputs[steps::Loop::kFirstCarried + c]);
    value.extents = value.first_extents;
    value.output = value.grows ? growing_.at(step_.outputs[c]) : static_cast<std::byte*>(arguments.outputs[c]);
    const bool is_planned = !value.grows && !value.own_spare.data();
    value.spare = is_planned ? arguments.workspace + layout_.carried[c] : value.own_spare.data();
  }
  for (size_t i = loop_.first_captured(); i < step_.inputs.size(); ++i) inputs_[i - 1] = arguments.inputs[i];
  if (loop_.tests) outputs_[0] = scalars_ + plan::kGoesOnAt;
}

/// Makes the iteration's number what the body reads as such.
Status BoundLoop::set_number(int64_t iteration, Stream* stream) {
  if (!reads_number_) return {};
  if (!stream) {
    *reinterpret_cast<int64_t*>(scalars_ + plan::kIterationAt) = iteration;
    return {};
  }
  if (iteration < num_numbers_) {
    inputs_[0] = numbers_.data() + iteration * static_cast<int64_t>(sizeof iteration);
    return {};
  }
  inputs_[0] = scalars_ + plan::kIterationAt;
  if (stream->capturing())
    return error(Code::kUnsupported, "a loop of more than ", num_numbers_, " iterations cannot be recorded");
  return device_.copy_from_host(scalars_ + plan::kIterationAt, &iteration, sizeof iteration, *stream);
}

/// The place of a carried value behind an iteration: not where it is read, and where its output is in the end, if how
/// many iterations there are is known.
BoundLoop::Where BoundLoop::next_place(const Carried& value, int64_t iteration, int64_t count) const {
  if (value.at == Where::kOutput) return Where::kSpare;
  if (value.at == Where::kSpare) return Where::kOutput;
  const bool ends_in_output = count == kNoLimit || (count - 1 - iteration) % 2 == 0;
  return ends_in_output ? Where::kOutput : Where::kSpare;
}

/// Makes room for a carried value without a bound in one of its places. What is there is not kept.
Status BoundLoop::reserve_carried(size_t c, Where where, int64_t bytes) {
  Carried& value = carried_[c];
  const int tensor = step_.outputs[c];
  if (where == Where::kOutput) {
    TRY(growing_.reserve(tensor, bytes, 0, stream_));
    value.output = growing_.at(tensor);
  } else {
    TRY(reserve(engine_, value.own_spare, bytes, 0, stream_));
    value.spare = value.own_spare.data();
  }
  return {};
}

/// Makes room for this iteration's slice of a stacked output without a bound; those before it stay.
Status BoundLoop::reserve_stacked(size_t k, int64_t slice_bytes) {
  const int tensor = step_.outputs[carried_.size() + k];
  int64_t bytes = 0;
  TRY(require(!__builtin_mul_overflow(iteration_ + 1, slice_bytes, &bytes), "stacked output ", k, " has ", iteration_,
              " slices of ", slice_bytes, " bytes: there is no memory for more"));
  return growing_.reserve(tensor, bytes, iteration_ * slice_bytes, stream_);
}

/// Requires this iteration's slice to have the extents of the first one.
Status BoundLoop::check_slice(size_t k) {
  const size_t output = output_of_stacked(k);
  Extents& first = stacked_[k].slice_extents;
  const std::span<const int64_t> now = TRY(body_.output_extents(output));
  if (iteration_ == 0) first.assign(now.begin(), now.end());
  return require(std::ranges::equal(now, first), "output '", body_.body().outputs[output].name, "' gives a slice of ",
                 now, " to stack, and those before it were ", first);
}

/// Requires a stacked output to have room for so many slices.
Status BoundLoop::check_room(const Stacked& stack, size_t k, int64_t slices, int64_t slice_bytes) {
  const int64_t most = slice_bytes == 0 ? kNoLimit : stack.room / slice_bytes;  // no product: it may wrap
  if (slices <= most) return {};
  return error(Code::kInvalidArgument, "stacked output ", k, stack.name.empty() ? "" : str(" '", stack.name, "'"),
               " has room for ", most, " slices, and this would be number ", slices);
}

Status BoundLoop::make_room(size_t output, int64_t bytes) {
  const size_t i = output - first_output();
  if (output < first_output()) return {};
  if (i < carried_.size()) {
    Carried& value = carried_[i];
    if (!value.grows) return {};
    TRY(reserve_carried(i, value.next, bytes));
    const bool is_output = value.next == Where::kOutput;
    outputs_[output] = is_output ? value.output : value.spare;
    body_.set_room(output, is_output ? growing_.room(step_.outputs[i]) : value.own_spare.size_bytes());
    return {};
  }
  const size_t k = i - carried_.size();
  Stacked& stack = stacked_[k];
  if (!stack.grows || !stack.is_sized) return {};
  TRY(check_slice(k));
  stack.slice_bytes = bytes;
  TRY(reserve_stacked(k, bytes));
  stack.now = growing_.at(step_.outputs[i]) + iteration_ * bytes;
  outputs_[output] = stack.now;
  if (is_apart(bytes)) {
    TRY(reserve(engine_, stack.own_slice, bytes, 0, stream_));
    outputs_[output] = stack.own_slice.data();
  }
  body_.set_room(output, bytes);
  return {};
}

Status BoundLoop::set_inputs(const RunArguments& arguments, int64_t iteration) {
  TRY(set_number(iteration, arguments.stream));
  for (size_t c = 0; c < carried_.size(); ++c) {
    inputs_[1 + c] = carried_[c].now();
    if (!carried_[c].is_sized) continue;
    if (carried_[c].grows)
      set_held(1 + c, size_bytes(body_.body().inputs[1 + c].dtype, volume(carried_[c].extents)));
    else
      set_held(1 + c, iteration == 0 ? carried_[c].first_bytes : carried_[c].room);
    body_.set_input_extents(1 + c, carried_[c].extents);
    if (test_) test_->set_input_extents(1 + c, carried_[c].extents);
  }
  for (size_t k = 0; k < scanned_.size(); ++k) {
    const size_t input = loop_.first_scanned() + k;
    const int64_t at = loop_.scans[k] > 0 ? iteration : scanned_[k].extent - 1 - iteration;
    const std::byte* slice = static_cast<const std::byte*>(arguments.inputs[input]) + at * scanned_[k].slice_bytes;
    if (is_apart(scanned_[k].slice_bytes)) {
      std::byte* const place = TRY(aligned_place(arguments, k, scanned_[k].slice_bytes, scanned_[k].own_slice));
      TRY(copy_on(device_, place, slice, scanned_[k].slice_bytes, arguments.stream));
      slice = place;
    }
    inputs_[input - 1] = slice;
  }
  return {};
}

Status BoundLoop::set_outputs(const RunArguments& arguments, int64_t iteration, int64_t count) {
  for (size_t c = 0; c < carried_.size(); ++c) {
    Carried& value = carried_[c];
    value.next = next_place(value, iteration, count);
    const bool is_output = value.next == Where::kOutput;
    outputs_[output_of_carried(c)] = is_output ? value.output : value.spare;
    if (value.grows)
      body_.set_room(output_of_carried(c), is_output ? growing_.room(step_.outputs[c]) : value.own_spare.size_bytes());
  }
  for (size_t k = 0; k < stacked_.size(); ++k) TRY(place_stacked(arguments, k, iteration, count));
  return {};
}

/// The place of a slice that is not aligned in the whole tensor; one of its own where none was planned.
Result<std::byte*> BoundLoop::aligned_place(const RunArguments& arguments, size_t slice, int64_t bytes, Buffer& own) {
  if (bytes <= layout_.slice_bytes[slice]) return arguments.workspace + layout_.slices[slice];
  TRY(reserve(engine_, own, bytes, 0, stream_));
  return own.data();
}

/// The place of an iteration's slice, as far as its size is known.
Status BoundLoop::place_stacked(const RunArguments& arguments, size_t k, int64_t iteration, int64_t count) {
  Stacked& stack = stacked_[k];
  const size_t output = carried_.size() + k;
  if (stack.grows && stack.is_sized) {  // make_room tells where; an empty slice is nowhere
    body_.set_room(output_of_stacked(k), 0);
    stack.now = nullptr;
    outputs_[output_of_stacked(k)] = nullptr;
    return {};
  }
  stack.at = loop_.stacks[k] > 0 ? iteration : count - 1 - iteration;
  // The first slice tells the size of all: the last one's place is not known before.
  const bool is_unknown = stack.is_sized && iteration == 0;
  const int64_t bytes = is_unknown ? stack.most_slice_bytes : stack.slice_bytes;
  TRY(stack.grows ? reserve_stacked(k, bytes) : check_room(stack, k, stack.at + 1, bytes));
  stack.whole = stack.grows ? growing_.at(step_.outputs[output]) : static_cast<std::byte*>(arguments.outputs[output]);
  stack.now = is_unknown ? stack.whole : stack.whole + stack.at * bytes;
  std::byte* place = stack.now;
  if (is_apart(bytes)) place = TRY(aligned_place(arguments, scanned_.size() + k, bytes, stack.own_slice));
  outputs_[output_of_stacked(k)] = place;
  return {};
}

Result<bool> BoundLoop::run_test(const RunArguments& arguments) {
  TRY(launch_test(arguments, arguments.stream));
  return read_flag(device_, scalars_ + plan::kTestAt, arguments.stream);
}

Status BoundLoop::launch_test(const RunArguments& arguments, Stream* stream) {
  void* const flag = scalars_ + plan::kTestAt;
  return test_->run(
      {inputs_.data(), &flag, arguments.workspace + layout_.arena, arguments.workspace + layout_.workspace[1], stream});
}

Status BoundLoop::launch_body(const RunArguments& arguments, Stream* stream) {
  return body_.run({inputs_.data(), outputs_.data(), arguments.workspace + layout_.arena,
                    arguments.workspace + layout_.workspace[0], stream, may_grow_ ? this : nullptr});
}

Status BoundLoop::run_body(const RunArguments& arguments) {
  TRY(launch_body(arguments, arguments.stream));
  for (size_t c = 0; c < carried_.size(); ++c) {
    carried_[c].at = carried_[c].next;
    if (!carried_[c].is_sized) continue;
    const std::span<const int64_t> extents = TRY(body_.output_extents(first_output() + c));
    carried_[c].extents.assign(extents.begin(), extents.end());
  }
  for (size_t k = 0; k < stacked_.size(); ++k) {
    const void* const written = outputs_[first_output() + carried_.size() + k];
    if (!stacked_[k].is_sized) {
      TRY(copy_on(device_, stacked_[k].now, written, stacked_[k].slice_bytes, arguments.stream));
      continue;
    }
    const size_t output = first_output() + carried_.size() + k;
    TRY(check_slice(k));
    const int64_t bytes = TRY(body_.output_bytes(output));
    stacked_[k].slice_bytes = bytes;
    if (!stacked_[k].grows) stacked_[k].now = stacked_[k].whole + stacked_[k].at * bytes;
    TRY(copy_on(device_, stacked_[k].now, written, bytes, arguments.stream));
  }
  return {};
}

/// Brings the carried values to their outputs, and tells the extents.
Status BoundLoop::end(const RunArguments& arguments, int64_t iterations) {
  for (size_t c = 0; c < carried_.size(); ++c) {
    const int64_t bytes = size_bytes(body_.body().inputs[1 + c].dtype, volume(carried_[c].extents));
    if (carried_[c].at == Where::kOutput) continue;
    if (carried_[c].grows) TRY(reserve_carried(c, Where::kOutput, bytes));
    TRY(copy_on(device_, carried_[c].output, carried_[c].now(), bytes, arguments.stream));
  }
  for (size_t d = 0; d < loop_.decided.size(); ++d) {
    const auto output = static_cast<size_t>(loop_.decided[d].output), axis = static_cast<size_t>(loop_.decided[d].axis);
    if (output < carried_.size())
      arguments.sizes[d] = carried_[output].extents[axis];
    else if (axis == 0)
      arguments.sizes[d] = iterations;
    else
      arguments.sizes[d] = iterations == 0 ? 0 : TRY(body_.output_extents(first_output() + output))[axis - 1];
  }
  return {};
}

Status BoundLoop::run(const RunArguments& arguments) {
  if (arguments.stream && arguments.stream->capturing() && !can_unroll(arguments)) return record(arguments);
  const int64_t count = TRY(this->count(arguments));
  bool goes_on = !arguments.inputs[1] || TRY(read_flag(device_, arguments.inputs[1], arguments.stream));
  begin(arguments);
  int64_t iteration = 0;
  const auto where = [&] { return str("iteration ", iteration); };
  for (; iteration < count && goes_on; ++iteration) {
    if (!bound_) return in_context(bound_, where);
    iteration_ = iteration;
    TRY(set_inputs(arguments, iteration));
    if (test_ && !TRY(in_context(run_test(arguments), where))) break;
    TRY(in_context(set_outputs(arguments, iteration, count), where));
    TRY(in_context(run_body(arguments), where));
    if (loop_.tests) goes_on = TRY(read_flag(device_, scalars_ + plan::kGoesOnAt, arguments.stream));
  }
  return end(arguments, iteration);
}

/// How many iterations a recording makes before it looks whether to stop. To look costs as much as several small
/// kernels; a few that run for nothing behind the last iteration cost less.
int BoundLoop::recorded_at_once() const {
  constexpr size_t kMostSteps = 12, kMost = 4;
  constexpr double kMostTimeUs = 20;
  if (!body_.leaves_no_trace() || (test_ && !test_->leaves_no_trace())) return 1;
  size_t num_steps = 0;
  double time_us = 0;
  for (const int body : step_.bodies)
    for (const plan::Step& step : engine_.plan().bodies[static_cast<size_t>(body)].steps)
      ++num_steps, time_us += step.info.time_us;
  const auto fits = [&](size_t times) {
    return times * num_steps <= kMostSteps && static_cast<double>(times) * time_us <= kMostTimeUs;
  };
  size_t times = kMost;
  while (times > 1 && !fits(times)) times /= 2;
  return static_cast<int>(times);
}

/// Makes iterations part of a recording, which the device repeats by itself. Values have fixed places: those that
/// are carried are read from their outputs and written to their spare places, slices have places of their own, and each
/// iteration ends with copies.
Status BoundLoop::record(const RunArguments& arguments) {
  const std::string why = plan::why_host_steers(engine_.plan(), step_);
  if (!why.empty()) return error(Code::kUnsupported, "a recording cannot have it, for ", why);
  TRY(Status(bound_));
  begin(arguments);
  const int64_t most = std::min(known_count_.value_or(kNoLimit), most_slices_);
  std::vector<IterationCopy> before, behind;
  for (size_t c = 0; c < carried_.size(); ++c) {
    const Carried& value = carried_[c];
    TRY(copy_on(device_, value.output, value.now(), value.first_bytes, arguments.stream));
    inputs_[1 + c] = value.output;
    outputs_[output_of_carried(c)] = value.spare;
    if (value.first_bytes > 0) behind.push_back({value.output, value.spare, value.first_bytes});
  }
  for (size_t k = 0; k < scanned_.size(); ++k) {
    const size_t input = loop_.first_scanned() + k;
    const auto* const whole = static_cast<const std::byte*>(arguments.inputs[input]);
    const int64_t bytes = scanned_[k].slice_bytes;
    std::byte* const place = TRY(aligned_place(arguments, k, bytes, scanned_[k].own_slice));
    inputs_[input - 1] = place;
    if (bytes == 0 || most == 0) continue;
    const bool is_forward = loop_.scans[k] > 0;
    before.push_back(
        {place, is_forward ? whole : whole + (scanned_[k].extent - 1) * bytes, bytes, 0, is_forward ? bytes : -bytes});
  }
  for (size_t k = 0; k < stacked_.size(); ++k) {
    auto* const whole = static_cast<std::byte*>(arguments.outputs[carried_.size() + k]);
    const int64_t bytes = stacked_[k].slice_bytes;
    std::byte* const place = TRY(aligned_place(arguments, scanned_.size() + k, bytes, stacked_[k].own_slice));
    outputs_[output_of_stacked(k)] = place;
    if (bytes == 0 || most == 0) continue;
    TRY(check_room(stacked_[k], k, most, bytes));
    const bool is_forward = loop_.stacks[k] > 0;
    behind.push_back({is_forward ? whole : whole + (most - 1) * bytes, place, bytes, is_forward ? bytes : -bytes, 0});
  }
  static_assert(plan::kCountAt == plan::kIterationAt + sizeof(int64_t), "RecordedLoop::turns are both");
  std::pair<BoundLoop*, const RunArguments*> all(this, &arguments);
  return device_.record_loop(*arguments.stream,
                             {.turns = reinterpret_cast<int64_t*>(scalars_ + plan::kIterationAt),
                              .asked = known_count_ ? nullptr : static_cast<const std::byte*>(arguments.inputs[0]),
                              .asked_bytes = static_cast<int>(size_bytes(count_type_, 1)),
                              .most = most,
                              .starts = static_cast<const std::byte*>(arguments.inputs[1]),
                              .goes_on = loop_.tests ? scalars_ + plan::kGoesOnAt : nullptr,
                              .tested = test_ ? scalars_ + plan::kTestAt : nullptr,
                              .at_once = recorded_at_once(),
                              .before = before,
                              .behind = behind,
                              .body = &record_body,
                              .test = &record_test,
                              .argument = &all});
}

Status BoundLoop::record_body(void* argument, Stream* stream) {
  const auto& [self, arguments] = *static_cast<std::pair<BoundLoop*, const RunArguments*>*>(argument);
  return self->launch_body(*arguments, stream);
}

Status BoundLoop::record_test(void* argument, Stream* stream) {
  const auto& [self, arguments] = *static_cast<std::pair<BoundLoop*, const RunArguments*>*>(argument);
  return self->launch_test(*arguments, stream);
}

}  // namespace

Result<std::unique_ptr<BoundStep>> bind_loop(const steps::Loop& loop, const ControlSpec& spec) {
  auto bound = std::make_unique<BoundLoop>(loop, spec);
  TRY(bound->bind(spec));
  return bound;
}

}  // namespace kiln::runtime
