#include "plan/control.h"

#include <algorithm>

#include "plan/segments.h"
#include "plan/validate.h"
#include "steps/if.h"
#include "steps/loop.h"
#include "steps/reference.h"

namespace kiln::plan {
namespace {

template <class... Parts>
Status demand(bool holds, const Parts&... parts) {
  return holds ? Status() : error(Code::kCorrupt, parts...);
}

constexpr int64_t aligned(int64_t bytes) { return (bytes + 255) / 256 * 256; }

/// A type as both sides of a body's edge must have it; axes between a slice and the tensor it is of are `axes_less`.
Status match(const IoTensor& inside, const Tensor& outside, int axes_less, std::string_view what, size_t i) {
  const auto rank = static_cast<int>(outside.extents.size()) - axes_less;
  return demand(outside.place != Place::kAbsent && inside.dtype == outside.dtype &&
                    std::ssize(inside.extents) == rank && outside.format.is_linear(),
                what, " ", i, " of a body is ", inside.dtype, " of rank ", inside.extents.size(), ", and the step has ",
                outside.dtype, " of rank ", rank);
}

Status match_bool(const IoTensor& inside) {
  return demand(inside.dtype == DType::kBool && inside.extents.size() <= 1, "a body's condition is ", inside.dtype,
                " of rank ", inside.extents.size());
}

/// The most that a body's input or output takes; 0 where no step has to do with it.
int64_t bytes_at(const Body& body, Place place, size_t index) {
  int64_t bytes = 0;
  for (const Tensor& tensor : body.tensors)
    if (tensor.place == place && tensor.index == static_cast<int>(index))
      bytes = std::max(bytes, tensor.size_bytes_max);
  return bytes;  // 0 too where no bound is known: the loop asks for memory then
}

class Control {
 public:
  Control(const Plan& plan, const Block& block, const Step& step) : plan_(plan), block_(block), step_(step) {}

  Status validate() const {
    if (!step_.step.as<steps::If>() && !step_.step.as<steps::Loop>())
      return demand(step_.bodies.empty(), "a step of kind '", step_.step.name(), "' has bodies");
    TRY(step_.step.check(types()));  // no executor loads it, which would
    TRY(validate_memory());
    return step_.step.as<steps::If>() ? validate_if() : validate_loop(*step_.step.as<steps::Loop>());
  }

 private:
  const Body& body(size_t i) const { return plan_.bodies[static_cast<size_t>(step_.bodies[i])]; }
  const Tensor& input(size_t i) const { return block_.tensors[static_cast<size_t>(step_.inputs[i])]; }
  const Tensor& output(size_t i) const { return block_.tensors[static_cast<size_t>(step_.outputs[i])]; }

  StepTypes types() const {
    StepTypes types{{}, {}, static_cast<int>(step_.params.size()), static_cast<int>(step_.sizes.size())};
    const auto describe = [](const Tensor& t) {
      return StepTensor{t.dtype, t.format, static_cast<int>(t.extents.size()), t.place != Place::kAbsent};
    };
    for (size_t i = 0; i < step_.inputs.size(); ++i) types.inputs.push_back(describe(input(i)));
    for (size_t i = 0; i < step_.outputs.size(); ++i) types.outputs.push_back(describe(output(i)));
    return types;
  }

  /// What a layout adds up: of bodies, which are validated later, and of the places of carried values.
  Status validate_memory() const {
    int64_t total = 0;
    const auto add = [&](int64_t bytes) -> Status {
      TRY(demand(bytes >= 0 && bytes <= kMaxMemoryBytes - total, "its bodies have memory of ", bytes, " bytes"));
      total += bytes;
      return {};
    };
    for (size_t b = 0; b < step_.bodies.size(); ++b) {
      TRY(add(body(b).arena_bytes));
      TRY(add(body(b).workspace_bytes));
    }
    for (size_t i = 0; i < step_.outputs.size(); ++i) TRY(add(std::max<int64_t>(output(i).size_bytes_max, 0)));
    return {};
  }

  Status validate_if() const {
    TRY(demand(step_.bodies.size() == 2, "an if has ", step_.bodies.size(), " bodies"));
    for (size_t b = 0; b < 2; ++b) {
      TRY(demand(body(b).inputs.size() + 1 == step_.inputs.size() && body(b).outputs.size() == step_.outputs.size() &&
                     body(b).symbols.empty(),
                 "branch ", b, " has ", body(b).inputs.size(), " inputs and ", body(b).outputs.size(), " outputs"));
      for (size_t i = 0; i < body(b).inputs.size(); ++i) TRY(match(body(b).inputs[i], input(i + 1), 0, "input", i));
      for (size_t i = 0; i < body(b).outputs.size(); ++i) TRY(match(body(b).outputs[i], output(i), 0, "output", i));
    }
    return {};
  }

  Status validate_loop(const steps::Loop& loop) const {
    TRY(demand(step_.bodies.size() == 1 || step_.bodies.size() == 2, "a loop has ", step_.bodies.size(), " bodies"));
    for (size_t b = 0; b < step_.bodies.size(); ++b) TRY(validate_iteration_inputs(loop, body(b)));
    if (step_.bodies.size() == 2) {
      TRY(demand(body(1).outputs.size() == 1, "the body that tests has ", body(1).outputs.size(), " outputs"));
      TRY(match_bool(body(1).outputs[0]));
    }
    const bool ends_early = loop.tests || step_.bodies.size() == 2;
    TRY(demand(!ends_early || std::ranges::count(loop.stacks, -1) == 0,
               "it stacks in reverse, and a condition may end it before its count"));
    const std::vector<IoTensor>& outputs = body(0).outputs;
    const size_t first = loop.tests ? 1 : 0;
    TRY(demand(outputs.size() == first + step_.outputs.size(), "an iteration has ", outputs.size(), " outputs"));
    if (loop.tests) TRY(match_bool(outputs[0]));
    for (size_t i = 0; i < step_.outputs.size(); ++i)
      TRY(match(outputs[first + i], output(i), i < static_cast<size_t>(loop.carried) ? 0 : 1, "output", first + i));
    return {};
  }

  Status validate_iteration_inputs(const steps::Loop& loop, const Body& body) const {
    TRY(demand(body.inputs.size() + 1 == step_.inputs.size(), "an iteration has ", body.inputs.size(), " inputs"));
    TRY(demand(body.inputs[0].dtype == DType::kI64 && body.inputs[0].extents.empty(), "the iteration's number is ",
               body.inputs[0].dtype, " of rank ", body.inputs[0].extents.size()));
    for (size_t i = steps::Loop::kFirstCarried; i < step_.inputs.size(); ++i) {
      const bool is_slice = i >= loop.first_scanned() && i < loop.first_captured();
      TRY(match(body.inputs[i - 1], input(i), is_slice ? 1 : 0, "input", i - 1));
    }
    return {};
  }

  const Plan& plan_;
  const Block& block_;
  const Step& step_;
};

}  // namespace

std::vector<const Block*> blocks_of(const Plan& plan) {
  std::vector<const Block*> blocks;
  for (const Profile& profile : plan.profiles) blocks.push_back(&profile);
  for (const Body& body : plan.bodies) blocks.push_back(&body);
  return blocks;
}

Status validate_control(const Plan& plan, const Block& block, const Step& step) {
  return Control(plan, block, step).validate();
}

namespace {

/// Why a device cannot run a step of a body by itself; empty where it can.
std::string why_host_runs(const Plan& plan, const Step& step) {
  if (is_control(step)) return why_host_steers(plan, step);
  if (!step.sizes.empty()) return "it decides sizes";
  if (const auto* reference = step.step.as<steps::Reference>())
    return str(reference->op.name(), " has no kernel for these types and runs on the host");
  return {};
}

}  // namespace

std::string why_host_steers(const Plan& plan, const Step& step) {
  if (!step.sizes.empty()) return "it decides sizes of its outputs";
  if (const auto* loop = step.step.as<steps::Loop>(); loop && step.params.empty() && !loop->stacks.empty())
    return "how many slices it stacks is not known before";
  for (const int id : step.bodies) {
    const Body& body = plan.bodies[static_cast<size_t>(id)];
    if (!body.symbols.empty()) return str("shapes in body '", body.name, "' change while it runs");
    for (const Step& inner : body.steps)
      if (const std::string why = why_host_runs(plan, inner); !why.empty())
        return str("step '", inner.name, "' of body '", body.name, "': ", why);
  }
  return {};
}

namespace {

/// The steps that are recorded together with one of the block, and all of them where segments are not known.
std::span<const Step> recorded_with(const Plan& plan, const Block& block, const Step& step) {
  const std::vector<const Block*> blocks = blocks_of(plan);
  const auto b = static_cast<size_t>(std::ranges::find(blocks, &block) - blocks.begin());
  const auto at = static_cast<size_t>(&step - block.steps.data());
  if (const Result<Segments> segments = segments_of(plan); segments && b < segments->size())
    for (const Segment& segment : (*segments)[b])
      if (segment.first <= at && at < segment.end)
        return std::span(block.steps).subspan(segment.first, segment.end - segment.first);
  return block.steps;
}

}  // namespace

std::string describe_steering(const Plan& plan, const Block& block, const Step& step) {
  if (plan.device_kind == "cpu") return {};
  std::string why = why_host_steers(plan, step);
  const auto runs_on_host = [](const Step& other) { return other.step.as<steps::Reference>() != nullptr; };
  if (why.empty() && std::ranges::any_of(block.steps, runs_on_host)) {
    const std::span<const Step> together = recorded_with(plan, block, step);  // all of them are recorded, or none is
    if (const auto found = std::ranges::find_if(together, runs_on_host); found != together.end())
      why = str("step '", found->name, "', beside it: ", why_host_runs(plan, *found));
  }
  if (!why.empty())
    return str("the host steers, and waits for the device each time it has to read a condition or a size: ", why);
  return "the device steers within one graph, which takes it some microseconds an iteration or a branch (drivers "
         "before "
         "CUDA 12.4: the host)";
}

ControlLayout layout_of(const Plan& plan, const Block& block, const Step& step) {
  ControlLayout layout;
  int64_t end = 0;
  const auto take = [&](int64_t bytes) {
    const int64_t at = end;
    end += aligned(bytes);
    return at;
  };
  if (const auto* loop = step.step.as<steps::Loop>()) {
    layout.scalars = take(kScalarBytes);
    for (size_t c = 0; c < static_cast<size_t>(loop->carried); ++c)
      layout.carried.push_back(
          take(std::max<int64_t>(block.tensors[static_cast<size_t>(step.outputs[c])].size_bytes_max, 0)));
  }
  if (const auto* loop = step.step.as<steps::Loop>(); loop && plan.device_kind != "cpu") {
    const Body& body = plan.bodies[static_cast<size_t>(step.bodies[0])];
    for (size_t k = 0; k < loop->scans.size(); ++k)
      layout.slice_bytes.push_back(bytes_at(body, Place::kInput, loop->first_scanned() + k - 1));
    const size_t first_stacked = (loop->tests ? 1 : 0) + static_cast<size_t>(loop->carried);
    for (size_t k = 0; k < loop->stacks.size(); ++k)
      layout.slice_bytes.push_back(bytes_at(body, Place::kOutput, first_stacked + k));
    for (const int64_t bytes : layout.slice_bytes) layout.slices.push_back(take(bytes));
  }
  layout.arena = end;
  int64_t most = end;
  for (const int id : step.bodies) {
    const Body& body = plan.bodies[static_cast<size_t>(id)];
    layout.workspace.push_back(end + aligned(body.arena_bytes));
    most = std::max(most, layout.workspace.back() + aligned(body.workspace_bytes));
  }
  layout.total_bytes = most;
  return layout;
}

}  // namespace kiln::plan
