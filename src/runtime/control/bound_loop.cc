#include "runtime/control/bound_loop.h"

#include <algorithm>
#include <limits>

#include "plan/control.h"
#include "runtime/control/bound_body.h"
#include "tensor/view.h"

namespace kiln::runtime {
namespace {

constexpr int64_t kMostNumbers = int64_t{1} << 16;  // of iterations, kept on a device of its own
constexpr int64_t kMostRecorded = 4096;             // launches that a recording may have of one loop
constexpr int64_t kAlignment = 256;                 // of tensors on a device of its own
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

class BoundLoop final : public BoundStep {
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
  /// A value that is carried from iteration to iteration: it goes to and fro between its output and a spare place.
  struct Carried {
    Extents first_extents;
    bool is_sized = false;  ///< whether its extents change
    int64_t first_bytes = 0, room = 0;
    const std::byte* now = nullptr;  ///< the value before the iteration
    Extents extents;                 ///< of it
    std::byte *output = nullptr, *spare = nullptr;
  };
  struct Scanned {
    int64_t extent = 0, slice_bytes = 0;
  };
  struct Stacked {
    int64_t room = 0, slice_bytes = 0;
    bool is_sized = false;     ///< whether the body decides the slices' extents
    std::byte* now = nullptr;  ///< of this iteration's
  };
  void set_held(size_t input, int64_t bytes) {
    body_.set_held(input, bytes);
    if (test_) test_->set_held(input, bytes);
  }
  Result<int64_t> count(const RunArguments& arguments) const;
  Status check_recordable(const RunArguments& arguments, int64_t count) const;
  void begin(const RunArguments& arguments);
  Status set_number(int64_t iteration, Stream* stream);
  Status set_inputs(const RunArguments& arguments, int64_t iteration);
  Status set_outputs(const RunArguments& arguments, int64_t iteration, int64_t count);
  Result<bool> run_test(const RunArguments& arguments);
  Status run_body(const RunArguments& arguments, int64_t iteration);
  Status end(const RunArguments& arguments, int64_t iterations);
  /// Whether a slice's place in the whole tensor is not aligned as kernels need it: it has a place of its own then.
  bool is_apart(int64_t bytes) const { return !layout_.slices.empty() && bytes % kAlignment != 0; }
  size_t first_output() const { return loop_.tests ? 1 : 0; }  ///< of the body, behind its condition
  std::byte* next_place(const Carried& value, int64_t iteration, int64_t count) const;

  const steps::Loop loop_;
  const Engine& engine_;
  Device& device_;
  const plan::Step& step_;
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
};

BoundLoop::BoundLoop(const steps::Loop& loop, const ControlSpec& spec)
    : loop_(loop),
      engine_(spec.engine),
      device_(spec.engine.device()),
      step_(spec.step),
      layout_(plan::layout_of(spec.engine.plan(), spec.block, spec.step)),
      body_(spec.engine, spec.step.bodies[0], spec.runner) {}

Status BoundLoop::bind(const ControlSpec& spec) {
  const auto tensor_of = [&](int id) -> const plan::Tensor& { return spec.block.tensors[static_cast<size_t>(id)]; };
  const auto extents_of = [&](int id) -> const Extents& { return spec.extents[static_cast<size_t>(id)]; };
  const auto is_decided = [&](size_t output, int first_axis) {
    return std::ranges::any_of(loop_.decided, [&](const DecidedAxis& d) {
      return d.output == static_cast<int>(output) && d.axis >= first_axis;
    });
  };
  const auto slice_bytes = [](DType dtype, const Extents& whole) {
    return size_bytes(dtype, volume(Extents(whole.begin() + 1, whole.end())));
  };
  if (!step_.params.empty()) known_count_ = std::max<int64_t>(TRY(step_.params[0].run(spec.symbols)), 0);
  count_type_ = tensor_of(step_.inputs[0]).dtype;
  inputs_.resize(body_.body().inputs.size());
  outputs_.resize(body_.body().outputs.size());
  if (loop_.tests) body_.set_room(0, 1);
  if (step_.bodies.size() == 2) test_.emplace(engine_, step_.bodies[1], spec.runner);
  set_held(0, sizeof(int64_t));
  for (size_t i = steps::Loop::kFirstCarried; i < step_.inputs.size(); ++i) set_held(i - 1, held_by(spec, i));
  for (size_t c = 0; c < static_cast<size_t>(loop_.carried); ++c) {
    const int id = step_.inputs[steps::Loop::kFirstCarried + c];
    const int64_t room = room_of(spec, c), bytes = size_bytes(tensor_of(id).dtype, volume(extents_of(id)));
    TRY(require(bytes <= room, "carried value ", c, " begins with ", bytes, " bytes, beyond the ", room,
                " that its bound leaves it"));
    const int64_t spare = tensor_of(step_.outputs[c]).size_bytes_max;
    TRY(require(room <= spare, "carried value ", c, " takes up to ", room, " bytes; its spare place has ", spare));
    carried_.push_back(
        {.first_extents = extents_of(id), .is_sized = is_decided(c, 0), .first_bytes = bytes, .room = room});
    body_.set_room(first_output() + c, room);
  }
  for (size_t k = 0; k < loop_.scans.size(); ++k) {
    const int id = step_.inputs[loop_.first_scanned() + k];
    scanned_.push_back({extents_of(id)[0], slice_bytes(tensor_of(id).dtype, extents_of(id))});
    set_held(loop_.first_scanned() + k - 1, scanned_.back().slice_bytes);
    most_slices_ = std::min(most_slices_, scanned_.back().extent);
  }
  for (size_t k = 0; k < loop_.stacks.size(); ++k) {
    const size_t output = carried_.size() + k;
    const int id = step_.outputs[output];
    stacked_.push_back(
        {room_of(spec, output), slice_bytes(tensor_of(id).dtype, extents_of(id)), is_decided(output, 1)});
    body_.set_room(first_output() + output, stacked_.back().slice_bytes);
  }
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

Status BoundLoop::check_recordable(const RunArguments& arguments, int64_t count) const {
  if (!arguments.stream || !arguments.stream->capturing()) return {};
  const auto steps = static_cast<int64_t>(body_.body().steps.size()) + 1;
  if (count <= kMostRecorded / steps) return {};
  return error(Code::kUnsupported, "a loop of ", count, " iterations with ", steps,
               " steps each is too long to be recorded");
}

void BoundLoop::begin(const RunArguments& arguments) {
  scalars_ = arguments.workspace + layout_.scalars;
  inputs_[0] = scalars_ + plan::kIterationAt;
  for (size_t c = 0; c < carried_.size(); ++c) {
    Carried& value = carried_[c];
    value.now = static_cast<const std::byte*>(arguments.inputs[steps::Loop::kFirstCarried + c]);
    value.extents = value.first_extents;
    value.output = static_cast<std::byte*>(arguments.outputs[c]);
    value.spare = arguments.workspace + layout_.carried[c];
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
  TRY(require(!stream->capturing(), "a loop of more than ", num_numbers_, " iterations cannot be recorded"));
  return device_.copy_from_host(scalars_ + plan::kIterationAt, &iteration, sizeof iteration, *stream);
}

/// The place of a carried value behind an iteration: not where it is read, and where its output is in the end, if how
/// many iterations there are is known.
std::byte* BoundLoop::next_place(const Carried& value, int64_t iteration, int64_t count) const {
  if (value.now == value.output) return value.spare;
  if (value.now == value.spare) return value.output;
  const bool ends_in_output = count == kNoLimit || (count - 1 - iteration) % 2 == 0;
  return ends_in_output ? value.output : value.spare;
}

Status BoundLoop::set_inputs(const RunArguments& arguments, int64_t iteration) {
  TRY(set_number(iteration, arguments.stream));
  for (size_t c = 0; c < carried_.size(); ++c) {
    inputs_[1 + c] = carried_[c].now;
    if (!carried_[c].is_sized) continue;
    set_held(1 + c, iteration == 0 ? carried_[c].first_bytes : carried_[c].room);
    body_.set_input_extents(1 + c, carried_[c].extents);
    if (test_) test_->set_input_extents(1 + c, carried_[c].extents);
  }
  for (size_t k = 0; k < scanned_.size(); ++k) {
    const size_t input = loop_.first_scanned() + k;
    const int64_t at = loop_.scans[k] > 0 ? iteration : scanned_[k].extent - 1 - iteration;
    const std::byte* slice = static_cast<const std::byte*>(arguments.inputs[input]) + at * scanned_[k].slice_bytes;
    if (is_apart(scanned_[k].slice_bytes)) {
      std::byte* const place = arguments.workspace + layout_.slices[k];
      TRY(copy_on(device_, place, slice, scanned_[k].slice_bytes, arguments.stream));
      slice = place;
    }
    inputs_[input - 1] = slice;
  }
  return {};
}

Status BoundLoop::set_outputs(const RunArguments& arguments, int64_t iteration, int64_t count) {
  for (size_t c = 0; c < carried_.size(); ++c) outputs_[first_output() + c] = next_place(carried_[c], iteration, count);
  for (size_t k = 0; k < stacked_.size(); ++k) {
    const size_t output = carried_.size() + k;
    const int64_t at = loop_.stacks[k] > 0 ? iteration : count - 1 - iteration;
    TRY(require((at + 1) * stacked_[k].slice_bytes <= stacked_[k].room, "stacked output ", k, " has room for ",
                stacked_[k].room, " bytes, and its slices take ", stacked_[k].slice_bytes));
    stacked_[k].now = static_cast<std::byte*>(arguments.outputs[output]) + at * stacked_[k].slice_bytes;
    outputs_[first_output() + output] =
        is_apart(stacked_[k].slice_bytes) ? arguments.workspace + layout_.slices[scanned_.size() + k] : stacked_[k].now;
  }
  return {};
}

Result<bool> BoundLoop::run_test(const RunArguments& arguments) {
  void* const flag = scalars_ + plan::kTestAt;
  TRY(test_->run({inputs_.data(), &flag, arguments.workspace + layout_.arena,
                  arguments.workspace + layout_.workspace[1], arguments.stream}));
  return read_flag(device_, flag, arguments.stream);
}

Status BoundLoop::run_body(const RunArguments& arguments, int64_t iteration) {
  TRY(body_.run({inputs_.data(), outputs_.data(), arguments.workspace + layout_.arena,
                 arguments.workspace + layout_.workspace[0], arguments.stream}));
  for (size_t c = 0; c < carried_.size(); ++c) {
    carried_[c].now = static_cast<const std::byte*>(outputs_[first_output() + c]);
    if (carried_[c].is_sized) carried_[c].extents = TRY(body_.output_extents(first_output() + c));
  }
  for (size_t k = 0; k < stacked_.size(); ++k) {
    const void* const written = outputs_[first_output() + carried_.size() + k];
    if (!stacked_[k].is_sized) {
      TRY(copy_on(device_, stacked_[k].now, written, stacked_[k].slice_bytes, arguments.stream));
      continue;
    }
    const size_t output = first_output() + carried_.size() + k;
    const int64_t bytes = size_bytes(body_.body().outputs[output].dtype, volume(TRY(body_.output_extents(output))));
    TRY(require(iteration == 0 || bytes == stacked_[k].slice_bytes, "it gives a slice of ", bytes,
                " bytes to stack, and those before it gave ", stacked_[k].slice_bytes));
    stacked_[k].slice_bytes = bytes;
    TRY(copy_on(device_, stacked_[k].now, written, bytes, arguments.stream));
  }
  return {};
}

/// Brings the carried values to their outputs, and tells the extents.
Status BoundLoop::end(const RunArguments& arguments, int64_t iterations) {
  for (size_t c = 0; c < carried_.size(); ++c) {
    const int64_t bytes = size_bytes(body_.body().inputs[1 + c].dtype, volume(carried_[c].extents));
    TRY(copy_on(device_, carried_[c].output, carried_[c].now, bytes, arguments.stream));
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
  const int64_t count = TRY(this->count(arguments));
  bool goes_on = !arguments.inputs[1] || TRY(read_flag(device_, arguments.inputs[1], arguments.stream));
  TRY(check_recordable(arguments, goes_on ? count : 0));
  begin(arguments);
  int64_t iteration = 0;
  const auto where = [&] { return str("iteration ", iteration); };
  for (; iteration < count && goes_on; ++iteration) {
    if (!bound_) return in_context(bound_, where);
    TRY(set_inputs(arguments, iteration));
    if (test_ && !TRY(in_context(run_test(arguments), where))) break;
    TRY(in_context(set_outputs(arguments, iteration, count), where));
    TRY(in_context(run_body(arguments, iteration), where));
    if (loop_.tests) goes_on = TRY(read_flag(device_, scalars_ + plan::kGoesOnAt, arguments.stream));
  }
  return end(arguments, iteration);
}

}  // namespace

Result<std::unique_ptr<BoundStep>> bind_loop(const steps::Loop& loop, const ControlSpec& spec) {
  auto bound = std::make_unique<BoundLoop>(loop, spec);
  TRY(bound->bind(spec));
  return bound;
}

}  // namespace kiln::runtime
