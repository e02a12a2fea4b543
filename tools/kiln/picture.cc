#include "picture.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/counted.h"
#include "base/field.h"
#include "base/microseconds.h"
#include "cli/statistics.h"
#include "plan/control.h"
#include "plan/layer_info.h"
#include "plan/nested_steps.h"
#include "plan/views.h"
#include "runtime/fixed_shapes.h"
#include "runtime/shape_state.h"
#include "step_times.h"

namespace kiln {
namespace {

std::string bytes_text(int64_t bytes) {
  constexpr double kKi = 1024;
  const auto of = static_cast<double>(bytes);
  const auto rounded = [](double number) { return str(std::round(number * 10) / 10); };
  if (of < kKi) return str(bytes, " B");
  if (of < kKi * kKi) return rounded(of / kKi) + " KiB";
  if (of < kKi * kKi * kKi) return rounded(of / kKi / kKi) + " MiB";
  return rounded(of / kKi / kKi / kKi) + " GiB";
}

std::string extents_text(std::span<const int64_t> extents) {
  std::string text;
  for (const int64_t extent : extents) text += str(text.empty() ? "" : "x", extent);
  return text.empty() ? "scalar" : text;
}

/// Draws the parts of one plan.
class Drawer {
 public:
  Drawer(const plan::Plan& plan, int profile, const KnownValues& values, const StepTimes* times)
      : plan_(plan), profile_(plan.profiles[static_cast<size_t>(profile)]), values_(values), times_(times) {}

  Picture draw() {
    const std::vector<plan::NestedStep> steps = plan::nested_steps(plan_, profile_);
    for (const plan::NestedStep& nested : steps)
      for (const int body : nested.get().bodies)
        around_[&plan_.bodies[static_cast<size_t>(body)]] = static_cast<int>(&nested - steps.data());
    block_of(profile_, nullptr);
    for (const plan::NestedStep& nested : steps) draw_step(nested);
    return std::move(picture_);
  }

 private:
  /// The number of a block, drawn where it is not yet.
  int block_of(const plan::Block& block, const plan::Body* body) {
    const auto [known, is_new] = numbers_.emplace(&block, static_cast<int>(picture_.blocks.size()));
    if (is_new) picture_.blocks.push_back(draw_block(block, body));
    return known->second;
  }
  int block_of(const plan::Body& body) { return block_of(body, &body); }

  DrawnBlock draw_block(const plan::Block& block, const plan::Body* body) const {
    DrawnBlock drawn{.name = body ? body->name : "",
                     .arena_bytes = block.arena_bytes,
                     .workspace_bytes = block.workspace_bytes,
                     .tensors = {},
                     .inputs = {},
                     .outputs = {}};
    if (body) {
      drawn.around = around_.at(body);
      const BodyTime* ran = times_ ? times_->find(plan_, *body) : nullptr;
      if (times_) drawn.num_runs = ran ? ran->num_runs : 0;
    }
    for (size_t t = 0; t < block.tensors.size(); ++t) {
      const plan::Tensor& tensor = block.tensors[t];
      const auto id = static_cast<int>(t);
      // Any step does where only a tensor's name is asked for: it is one of the block.
      const plan::NestedStep at{.block = &block, .body = body};
      drawn.tensors.push_back({.name = plan::LayerView{plan_, at, values_}.name(id),
                               .place = std::string(plan::name_of(tensor.place)),
                               .type = str(tensor.dtype),
                               .extents = values_(tensor.extents),
                               .parent = tensor.place == plan::Place::kView ? tensor.index : -1,
                               .root = plan::root_of(block, id),
                               .offset_bytes = tensor.offset_bytes,
                               .size_bytes = tensor.size_bytes_max});
      if (tensor.place == plan::Place::kInput) drawn.inputs.push_back(id);
    }
    for (size_t s = 0; s < block.steps.size(); ++s) note_lifetimes(block, s, drawn);
    const std::vector<int>& outputs = outputs_of(block);
    drawn.outputs.assign(outputs.begin(), outputs.end());
    return drawn;
  }

  static void note_lifetimes(const plan::Block& block, size_t s, DrawnBlock& drawn) {
    for (const auto* ids : {&block.steps[s].inputs, &block.steps[s].outputs})
      for (const int id : *ids) {
        DrawnTensor& root = drawn.tensors[static_cast<size_t>(plan::root_of(block, id))];
        if (root.first < 0) root.first = static_cast<int>(s);
        root.last = static_cast<int>(s);
      }
  }

  static std::vector<int> outputs_of(const plan::Block& block) {
    std::vector<int> outputs;
    for (size_t t = 0; t < block.tensors.size(); ++t)
      if (block.tensors[t].place == plan::Place::kOutput) outputs.push_back(static_cast<int>(t));
    return outputs;
  }

  void draw_step(const plan::NestedStep& nested) {
    const plan::Step& step = nested.get();
    const auto present = [&](const std::vector<int>& ids) {
      std::vector<int> list;
      for (const int id : ids)
        if (nested.block->tensors[static_cast<size_t>(id)].place != plan::Place::kAbsent) list.push_back(id);
      return list;
    };
    DrawnStep drawn{.name = step.name,
                    .number = nested.number,
                    .block = block_of(*nested.block, nested.body),
                    .inputs = present(step.inputs),
                    .outputs = present(step.outputs),
                    .bodies = {},
                    .origins = step.provenance,
                    .steered = {},
                    .ms = time_of(nested)};
    for (const int body : step.bodies) drawn.bodies.push_back(block_of(plan_.bodies[static_cast<size_t>(body)]));
    if (plan::is_control(step)) drawn.steered = plan::describe_steering(plan_, *nested.block, step);
    picture_.steps.push_back(std::move(drawn));
    picture_.layers.emplace_back(plan::layer_info({plan_, nested, values_}));
  }

  double time_of(const plan::NestedStep& nested) const {
    if (!times_) return -1;
    if (!nested.body) return std::isfinite(times_->best_ms[nested.step]) ? times_->best_ms[nested.step] : -1;
    const BodyTime* ran = times_->find(plan_, *nested.body);
    return ran ? ran->total_ms[nested.step] : 0;
  }

  const plan::Plan& plan_;
  const plan::Profile& profile_;
  const KnownValues& values_;
  const StepTimes* times_;
  Picture picture_;
  std::map<const plan::Block*, int> numbers_;  // only looked up
  std::map<const plan::Block*, int> around_;   // by body: the layer that it belongs to
};

/// "x: f32 1x3x224x224, from 1x3x224x224 to 8x3x224x224"
std::string input_text(const plan::Plan& plan, const plan::Profile& profile, size_t input, const KnownValues& values) {
  const plan::IoTensor& tensor = plan.inputs[input];
  const plan::InputRange& range = profile.ranges[input];
  std::string text = str(tensor.name, ": ", tensor.dtype, " ", extents_text(values(tensor.extents)));
  if (range.min != range.max) text += str(", built for ", extents_text(range.min), " to ", extents_text(range.max));
  return text;
}

std::vector<Fact> facts_of(const plan::Plan& plan, int profile_index, const KnownValues& values) {
  const plan::Profile& profile = plan.profiles[static_cast<size_t>(profile_index)];
  std::vector<Fact> facts;
  const auto add = [&](std::string_view name, std::string text) {
    if (!text.empty()) facts.push_back({std::string(name), std::move(text)});
  };
  add("Network", plan.network_name);
  const bool says_kind = plan.device_identity.starts_with(plan.device_kind);
  add("Built for", says_kind ? plan.device_identity : str(plan.device_kind, " ", plan.device_identity));
  if (plan.profiles.size() > 1) add("Profile", str(profile_index, " of 0 to ", plan.profiles.size() - 1));
  for (size_t i = 0; i < plan.inputs.size(); ++i) add("Input", input_text(plan, profile, i, values));
  for (const plan::IoTensor& output : plan.outputs)
    add("Output", str(output.name, ": ", output.dtype, " ", extents_text(values(output.extents))));
  int64_t weights = 0;
  for (const plan::Weight& weight : plan.weights)
    if (weight.same_as < 0) weights += size_bytes(weight.value.dtype(), weight.value.volume());
  add("Weights", bytes_text(weights));
  add("Memory of a context",
      str(bytes_text(profile.arena_bytes), " of tensors, ", bytes_text(profile.workspace_bytes), " of workspace"));
  return facts;
}

/// What a plan might hold and this one does not.
std::vector<std::string> gaps_of(const plan::Plan& plan, const Picture& picture) {
  std::vector<std::string> notes;
  bool any_timed = false, any_candidates = false, on_streams = false;
  for (const plan::Block* block : plan::blocks_of(plan))
    for (const plan::Step& step : block->steps) {
      any_timed |= step.info.time_us > 0;
      any_candidates |= !step.info.candidates.empty();
      on_streams |= step.stream > 0;
    }
  if (!any_candidates && !picture.steps.empty())
    notes.emplace_back("The plan records no candidates: nothing was compared in its build.");
  if (!any_timed && !picture.steps.empty()) notes.emplace_back("The plan holds no times: its build measured nothing.");
  if (on_streams)
    notes.emplace_back("Steps on auxiliary streams run beside others. The memory view has them in the plan's order.");
  return notes;
}

}  // namespace

Record Picture::record() const {
  Record record;
  record.set("title", title).set("times", times).set("wallMs", wall_ms);
  Datum::List drawn_facts, drawn_blocks, drawn_steps, drawn_notes;
  for (const Fact& fact : facts) drawn_facts.emplace_back(to_record(fact));
  for (const DrawnBlock& block : blocks) drawn_blocks.emplace_back(to_record(block));
  for (const DrawnStep& step : steps) drawn_steps.emplace_back(to_record(step));
  for (const std::string& note : notes) drawn_notes.emplace_back(note);
  record.set("facts", std::move(drawn_facts)).set("notes", std::move(drawn_notes));
  record.set("blocks", std::move(drawn_blocks)).set("steps", std::move(drawn_steps));
  return record.set("layers", layers);
}

Picture picture_of(const plan::Plan& plan, int profile, const KnownValues& values, const StepTimes* times) {
  Picture picture = Drawer(plan, profile, values, times).draw();
  picture.facts = facts_of(plan, profile, values);
  picture.notes = gaps_of(plan, picture);
  if (times) {
    picture.wall_ms = cli::median(times->wall_ms);
    picture.times =
        str("the least of ", counted(times->wall_ms.size(), "run"), " on made-up inputs, each step timed by itself");
  }
  return picture;
}

Result<KnownValues> values_at(const plan::Plan& plan, int profile, std::span<const HostTensor> inputs) {
  struct Known {
    runtime::FixedSymbols fixed;
    runtime::ShapeState state;
  };
  const auto known =
      std::make_shared<Known>(Known{{plan, plan.profiles[static_cast<size_t>(profile)]}, runtime::ShapeState(plan)});
  known->state.select_profile(profile, known->fixed);
  runtime::IoAddresses addresses(plan.inputs.size(), plan.outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    TRY(known->state.set_input_extents(static_cast<int>(i), inputs[i].extents()));
    addresses.set_input(static_cast<int>(i), inputs[i].bytes().data());
  }
  TRY(known->state.infer(addresses));
  return KnownValues([known](std::span<const sym::Program> programs) { return known->state.known_extents(programs); });
}

}  // namespace kiln
