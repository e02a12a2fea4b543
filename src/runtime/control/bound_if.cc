#include "runtime/control/bound_if.h"

#include <algorithm>
#include <array>

#include "device/async.h"
#include "plan/control.h"
#include "runtime/control/bound_body.h"

namespace kiln::runtime {
namespace {

class BoundIf final : public BoundStep, OutputRoom {
 public:
  BoundIf(const steps::If& branch, const ControlSpec& spec)
      : branch_(branch),
        engine_(spec.engine),
        device_(spec.engine.device()),
        step_(spec.step),
        growing_(spec.growing),
        layout_(plan::layout_of(spec.engine.plan(), spec.block, spec.step)),
        symbols_(spec.symbols.begin(), spec.symbols.end()),
        outputs_(spec.step.outputs.size()) {
    for (size_t i = 0; i < outputs_.size(); ++i) grows_.push_back(grows(spec, i));
    may_grow_ = std::ranges::count(grows_, true) > 0;
    for (size_t b = 0; b < branches_.size(); ++b) {
      BoundBody& body = branches_[b].body.emplace(spec, b);
      for (size_t i = 1; i < spec.step.inputs.size(); ++i) body.set_held(i - 1, held_by(spec, i));
      for (size_t i = 0; i < outputs_.size(); ++i) body.set_room(i, grows_[i] ? 0 : room_of(spec, i));
      branches_[b].bound = body.bind(symbols_);  // a branch that does not fit these shapes may never be taken
    }
  }

  int64_t workspace_bytes() const override { return layout_.total_bytes; }

  Status run(const RunArguments& arguments) override {
    ++num_runs_;
    if (arguments.stream && arguments.stream->capturing()) return record(arguments);
    const bool condition = TRY(read_flag(device_, arguments.inputs[0], arguments.stream));
    const size_t taken = condition ? 0 : 1;
    const auto where = [&] { return name_of_branch(taken); };
    Branch& branch = branches_[taken];
    bind_again(branch);
    if (!branch.bound) return in_context(branch.bound, where);
    begin(*branch.body, arguments);
    TRY(in_context(run_branch(taken, arguments, arguments.stream), where));
    for (size_t k = 0; k < branch_.decided.size(); ++k) {
      const DecidedAxis& axis = branch_.decided[k];
      arguments.sizes[k] =
          TRY(branch.body->output_extents(static_cast<size_t>(axis.output)))[static_cast<size_t>(axis.axis)];
    }
    return {};
  }

  /// What a branch has that is not bound yet is not known.
  bool has_check() const override {
    return std::ranges::any_of(branches_, [](const Branch& b) { return !b.bound || b.body->has_check(); });
  }
  Status check() override {
    for (size_t b = 0; b < 2; ++b) TRY(in_context(branches_[b].body->check(), [b] { return name_of_branch(b); }));
    return {};
  }

 private:
  static std::string_view name_of_branch(size_t branch) {
    return branch == 0 ? "the branch of true" : "the branch of false";
  }
  Status run_branch(size_t branch, const RunArguments& arguments, Stream* stream) {
    return branches_[branch].body->run({arguments.inputs + 1, outputs_.data(), arguments.workspace + layout_.arena,
                                        arguments.workspace + layout_.workspace[branch], stream,
                                        may_grow_ ? this : nullptr});
  }

  /// Makes both branches part of a recording, of which the device chooses one by itself.
  Status record(const RunArguments& arguments) {
    const std::string why = plan::why_host_steers(engine_.plan(), step_);
    if (!why.empty()) return error(Code::kUnsupported, "a recording cannot have it, for ", why);
    for (Branch& branch : branches_) {
      bind_again(branch);
      TRY(Status(branch.bound));
      begin(*branch.body, arguments);
    }
    std::pair<BoundIf*, const RunArguments*> all(this, &arguments);
    return device_.record_branch(*arguments.stream, {.condition = static_cast<const std::byte*>(arguments.inputs[0]),
                                                     .if_true = &record_branch<0>,
                                                     .if_false = &record_branch<1>,
                                                     .argument = &all});
  }
  template <size_t kBranch>
  static Status record_branch(void* argument, Stream* stream) {
    const auto& [self, arguments] = *static_cast<std::pair<BoundIf*, const RunArguments*>*>(argument);
    return self->run_branch(kBranch, *arguments, stream);
  }

  struct Branch {
    std::optional<BoundBody> body;
    Status bound;
  };

  /// Tries again to bind a branch for which that failed before an earlier run: a plugin that could not be attached then
  /// may be now.
  void bind_again(Branch& branch) {
    if (!branch.bound && num_runs_ > 1) branch.bound = branch.body->bind(symbols_);
  }

  void begin(BoundBody& taken, const RunArguments& arguments) {
    running_ = &taken;
    stream_ = arguments.stream;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      outputs_[i] = grows_[i] ? growing_.at(step_.outputs[i]) : arguments.outputs[i];
      if (grows_[i]) taken.set_room(i, growing_.room(step_.outputs[i]));
    }
  }

  Status make_room(size_t output, int64_t bytes) override {
    if (!grows_[output]) return {};
    const int tensor = step_.outputs[output];
    TRY(growing_.reserve(tensor, bytes, 0, stream_));
    outputs_[output] = growing_.at(tensor);
    running_->set_room(output, growing_.room(tensor));
    return {};
  }

  const steps::If branch_;
  const Engine& engine_;
  Device& device_;
  const plan::Step& step_;
  GrowingMemory& growing_;
  const plan::ControlLayout layout_;
  const std::vector<int64_t> symbols_;
  std::array<Branch, 2> branches_;
  std::vector<bool> grows_;  // by output: nothing bounds its memory
  bool may_grow_ = false;
  std::vector<void*> outputs_;  // of this run
  int64_t num_runs_ = 0;
  BoundBody* running_ = nullptr;
  Stream* stream_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<BoundStep>> bind_if(const steps::If& branch, const ControlSpec& spec) {
  return std::make_unique<BoundIf>(branch, spec);
}

}  // namespace kiln::runtime
