#include "builder/emit.h"

#include <algorithm>
#include <set>

#include "builder/largest_size.h"
#include "builder/memory.h"
#include "builder/readers_first.h"
#include "builder/streams.h"
#include "ops/op.h"
#include "plan/decided_sizes.h"
#include "sym/unbounded.h"
#include "tactics/region.h"

namespace kiln {

namespace {

class Emitter {
 public:
  Emitter(const ir::Graph& graph, const Cover& cover, const Backend& backend, const CoverOptions& options,
          int most_aux_streams, PlanTables tables, plan::Block& block)
      : graph_(graph),
        cover_(cover),
        backend_(backend),
        options_(options),
        most_aux_streams_(most_aux_streams),
        tables_(tables),
        block_(block) {}

  Status run() {
    for (size_t i = 0; i < graph_.inputs().size(); ++i) {
      const ir::ValueId input = graph_.inputs()[i];
      const int tensor = TRY(add_tensor(input, options_.surface.input(input), plan::Place::kInput));
      block_.tensors[static_cast<size_t>(tensor)].index = static_cast<int>(i);
    }
    for (const Tile& tile : cover_.tiles) TRY(emit_tile(tile));
    block_.tunings = cover_.tunings;
    for (size_t i = 0; i < graph_.outputs().size(); ++i)
      if (!graph_.outputs()[i].name.empty()) TRY(emit_output(static_cast<int>(i)));
    TRY(emit_debug_tensors());
    for (const auto& [symbol, value] : graph_.replaced_sizes())
      block_.known_sizes.push_back({symbol.symbol_id(), sym::Program::compile(value)});
    drop_copies();
    order_readers();
    choose_streams();
    reuse_inputs();
    place_in_arena();
    return {};
  }

 private:
  using Key = std::pair<ir::ValueId, std::string>;

  Result<int> add_tensor(ir::ValueId value, const Format& format, plan::Place place);
  Result<int> tensor_of(ir::ValueId value, const Format& format);
  int binary_of(const StepDraft& draft);
  void add_step(plan::Step step, const StepDraft& draft);
  void fix_sources(const Tile& tile);
  Status emit_tile(const Tile& tile);
  Status emit_output(int output);
  Status emit_debug_tensors();
  Status add_debug_tensor(const std::string& name, ir::ValueId value);
  Status emit_copy(int from, int to, const TensorType& type, std::string name);
  Status alias(const Tile& tile, plan::Step& step);
  void drop_copies();
  void order_readers();
  void choose_streams();
  void reuse_inputs();
  void place_in_arena();
  int root_of(int tensor) const;
  bool is_sized_by_writer(int tensor) const;

  plan::Tensor& tensor(int id) { return block_.tensors[static_cast<size_t>(id)]; }
  const plan::Tensor& tensor(int id) const { return block_.tensors[static_cast<size_t>(id)]; }

  const ir::Graph& graph_;
  const Cover& cover_;
  const Backend& backend_;
  const CoverOptions& options_;
  const int most_aux_streams_;
  PlanTables tables_;
  plan::Block& block_;
  std::map<Key, int> tensors_;
  std::vector<int> in_place_;  // by step: the input whose memory output 0 may take, or -1
  std::vector<Span> beside_;   // by step: what may run at the same time
  std::set<int> copies_;       // steps that make a copy for a step that changes it
  std::vector<AliasedCopy> aliased_;
  int absent_ = -1;
};

Result<int> Emitter::add_tensor(ir::ValueId value, const Format& format, plan::Place place) {
  const TensorType& type = graph_.type(value);
  plan::Tensor t;
  t.name = graph_.value(value).name;
  t.dtype = type.dtype;
  t.format = format;
  t.place = place;
  for (const sym::Expr& extent : type.shape) t.extents.push_back(sym::Program::compile(extent));
  t.size_bytes_max = plan::kNoBound;
  if (std::ranges::any_of(type.shape, sym::grows_without_bound)) {
    if (place == plan::Place::kArena) t.place = plan::Place::kGrowing;
  } else {
    const auto where = [&] { return str("tensor '", t.name, '\''); };
    t.size_bytes_max = TRY(in_context(largest_size_bytes(graph_, type, format), where));
  }
  block_.tensors.push_back(std::move(t));
  const int id = static_cast<int>(block_.tensors.size()) - 1;
  tensors_[{value, format.text()}] = id;
  return id;
}

Result<int> Emitter::tensor_of(ir::ValueId value, const Format& format) {
  if (value == ir::ValueId::kNone) {
    if (absent_ < 0) {
      absent_ = static_cast<int>(block_.tensors.size());
      block_.tensors.emplace_back();
    }
    return absent_;
  }
  const auto found = tensors_.find({value, format.text()});
  if (found != tensors_.end()) return found->second;
  const auto* constant = graph_.producer_as<ops::Constant>(value);
  if (!constant) return error(Code::kInternal, "no step writes '", graph_.value(value).name, "' in format ", format);
  const int id = TRY(add_tensor(value, format, plan::Place::kWeight));
  tensor(id).index = tables_.weights.add_weight(graph_.value(value).name, *constant);
  return id;
}

int Emitter::binary_of(const StepDraft& draft) {
  if (!draft.binary) return -1;
  const auto size = static_cast<int64_t>(draft.binary->size());
  return tables_.binaries.add(std::string(draft.step.name()),
                              HostTensor(DType::kU8, {size}, *draft.binary, draft.binary));
}

std::vector<sym::Program> compiled(const std::vector<sym::Expr>& params) {
  std::vector<sym::Program> result;
  for (const sym::Expr& param : params) result.push_back(sym::Program::compile(param));
  return result;
}

plan::DecidedSize decided(const DecidedSize& size) {
  const bool is_open = sym::is_no_bound(size.most);
  return {.symbol = size.symbol.symbol_id(),
          .most = sym::Program::compile(is_open ? sym::Expr(sym::kMostUnbounded) : size.most),
          .least = size.symbol.min(),
          .is_open = is_open,
          .typical = size.symbol.opt()};
}

/// Adds a step that runs what `draft` says.
void Emitter::add_step(plan::Step step, const StepDraft& draft) {
  step.executor = draft.executor;
  step.step = draft.step;
  step.tuning = draft.tuning;
  step.binary = binary_of(draft);
  step.params = compiled(draft.params);
  block_.steps.push_back(std::move(step));
  in_place_.push_back(draft.in_place_input);
}

/// The tunings as text, "n = 1, m = 64; n = 1, m = 128"; shows only symbols that differ between tunings.
std::string shapes_text(const ir::Graph& graph, const Cover& cover, const AlternativeTile& other) {
  const auto symbols = graph.shared_table()->symbols();
  std::string text;
  for (const int tuning : other.tunings) {
    std::string one;
    for (size_t s = 0; s < symbols.size(); ++s) {
      if (std::ranges::all_of(cover.tunings, [&](const Extents& t) { return t[s] == cover.tunings[0][s]; })) continue;
      one += str(one.empty() ? "" : ", ", symbols[s].name(), " = ", cover.tunings[static_cast<size_t>(tuning)][s]);
    }
    text += str(text.empty() ? "" : "; ", one);
  }
  return text;
}

/// A constant that the region's nodes read and the region does not is in the step: a scale, a causal mask, a bound.
void Emitter::fix_sources(const Tile& tile) {
  const auto fix = [&](ir::ValueId value) {
    if (const OriginRef origin = graph_.origin(value))
      kiln::fix(tables_.fixed, origin, str("its elements decided how a step works (", tile.tactic->name(), ")"));
  };
  const std::vector<ir::ValueId>& inputs = tile.region.inputs;
  for (const ir::NodeId id : tile.region.nodes)
    for (const ir::ValueId input : graph_.node(id).inputs)
      if (std::ranges::find(inputs, input) == inputs.end()) fix(input);
  std::ranges::for_each(tile.draft.decided_by, fix);
  for (const AlternativeTile& other : tile.alternatives) std::ranges::for_each(other.draft.decided_by, fix);
}

Status Emitter::emit_tile(const Tile& tile) {
  fix_sources(tile);
  plan::Step step;
  step.name = names_of(graph_, tile.region);
  const std::string ops = ops_of(graph_, tile.region);
  for (const ir::NodeId id : tile.region.nodes) {
    const ir::Node& node = graph_.node(id);
    step.provenance.insert(step.provenance.end(), node.provenance.begin(), node.provenance.end());
  }
  if (tile.region.nodes.empty()) step.name = str("reformat ", graph_.value(tile.region.inputs[0]).name);
  if (step.name.empty()) step.name = ops;
  for (size_t i = 0; i < tile.region.inputs.size(); ++i)
    step.inputs.push_back(TRY(tensor_of(tile.region.inputs[i], tile.variant.inputs[i])));
  for (const ir::NodeId id : tile.region.nodes)
    for (const DecidedSize& size : graph_.node(id).sizes)
      if (!size.is_inner) step.sizes.push_back(decided(size));
  for (const ir::NodeId id : tile.region.nodes)
    for (size_t b = 0; b < graph_.node(id).bodies.size(); ++b)
      step.bodies.push_back(TRY(tables_.add_body(graph_.node(id), b)));
  const bool is_view = tile.draft.is_view();
  for (size_t i = 0; i < tile.region.outputs.size(); ++i)
    step.outputs.push_back(TRY(add_tensor(tile.region.outputs[i], tile.variant.outputs[i],
                                          is_view ? plan::Place::kView : plan::Place::kArena)));
  if (is_view) {
    tensor(step.outputs[0]).index = step.inputs[0];
    return {};
  }
  step.info = {.ops = ops.empty() ? "Reformat" : ops,
               .tactic = std::string(tile.tactic ? tile.tactic->name() : "reformat"),
               .variant = tile.variant.name,
               .time_us = tile.time_us,
               .candidates = tile.notes};
  for (const AlternativeTile& other : tile.alternatives)
    step.alternatives.push_back({other.tunings, other.draft.step, other.draft.tuning, binary_of(other.draft),
                                 compiled(other.draft.params),
                                 plan::AlternativeInfo{.variant = other.variant.name,
                                                       .shapes = shapes_text(graph_, cover_, other),
                                                       .time_us = other.time_us,
                                                       .replaced_us = other.replaced_us}});
  TRY(alias(tile, step));
  add_step(std::move(step), tile.draft);
  return {};
}

/// Gives outputs that have to have an input's memory that of a copy, which the step changes.
Status Emitter::alias(const Tile& tile, plan::Step& step) {
  const std::vector<int>& aliased = tile.draft.aliased_inputs;
  for (size_t o = 0; o < aliased.size(); ++o) {
    if (aliased[o] < 0) continue;
    const auto i = static_cast<size_t>(aliased[o]);
    const int from = step.inputs[i], output = step.outputs[o];
    plan::Tensor copy = tensor(output);
    copy.name = str("copy of ", tensor(from).name);
    block_.tensors.push_back(std::move(copy));
    const int to = static_cast<int>(block_.tensors.size()) - 1;
    TRY(emit_copy(from, to, graph_.type(tile.region.inputs[i]), str("copy for '", step.name, "'")));
    copies_.insert(static_cast<int>(block_.steps.size()) - 1);
    aliased_.push_back({from, to});
    step.inputs[i] = to;
    tensor(output).place = plan::Place::kView;
    tensor(output).index = to;
  }
  return {};
}

/// Copies of what nobody else reads are not made: the step changes the tensor itself.
void Emitter::drop_copies() {
  const auto reads = [&](const plan::Step& step, int root) {
    const auto is_it = [&](int id) { return root_of(id) == root; };
    // Who writes it, too, is a step that has changed it before.
    return std::ranges::any_of(step.inputs, is_it) && std::ranges::none_of(step.outputs, is_it);
  };
  for (auto copy = copies_.rbegin(); copy != copies_.rend();
       ++copy) {  // from the back: steps in front keep their place
    const plan::Step& step = block_.steps[static_cast<size_t>(*copy)];
    const int from = step.inputs[0], root = root_of(from), to = step.outputs[0];
    const bool is_output = tensor(to).place == plan::Place::kOutput;
    if (tensor(root).place != plan::Place::kArena || tensor(root).size_bytes_max != tensor(to).size_bytes_max ||
        (!is_output && tensor(to).place != plan::Place::kArena) || (is_output && is_sized_by_writer(root)) ||
        std::ranges::count_if(block_.steps, [&](const plan::Step& any) { return reads(any, root); }) != 1)
      continue;
    if (is_output) {
      tensor(root).place = plan::Place::kOutput;
      tensor(root).index = tensor(to).index;
    }
    tensor(to).place = plan::Place::kView;
    tensor(to).index = from;
    block_.steps.erase(block_.steps.begin() + *copy);
    in_place_.erase(in_place_.begin() + *copy);
  }
}

void Emitter::order_readers() {
  std::vector<plan::Step> steps;
  std::vector<int> in_place;
  for (const size_t s : readers_first(block_, aliased_)) {
    steps.push_back(std::move(block_.steps[s]));
    in_place.push_back(in_place_[s]);
  }
  block_.steps = std::move(steps);
  in_place_ = std::move(in_place);
}

int Emitter::root_of(int id) const {
  while (tensor(id).place == plan::Place::kView) id = tensor(id).index;
  return id;
}

Status Emitter::emit_copy(int from, int to, const TensorType& type, std::string name) {
  const StepDraft draft = backend_.reformat(type, tensor(from).format, tensor(to).format);
  plan::Step step;
  step.name = std::move(name);
  step.inputs = {from};
  step.outputs = {to};
  step.info.ops = "Copy", step.info.tactic = "reformat";
  add_step(std::move(step), draft);
  return {};
}

/// Whether the step that writes a tensor decides its extents.
bool Emitter::is_sized_by_writer(int id) const {
  const auto writer = std::ranges::find_if(block_.steps, [&](const plan::Step& step) {
    return !step.sizes.empty() && std::ranges::count(step.outputs, id) > 0;
  });
  return writer != block_.steps.end() && plan::decides_extent(*writer, tensor(id));
}

/// Makes the step that computes an output write to the caller's memory. An input, a constant, or a value that is an
/// output twice is copied there instead, and so is one whose size its own step decides: the caller has to be told
/// first. Reformats have brought all but constants to the output's format.
Status Emitter::emit_output(int output) {
  const ir::Output& o = graph_.outputs()[static_cast<size_t>(output)];
  const Format wanted = options_.surface.output(static_cast<size_t>(output));
  const int made = TRY(tensor_of(o.value, graph_.constant(o.value) ? Format::linear() : wanted));
  const int root = root_of(made);
  const bool whole = root == made || (tensor(root).size_bytes_max == tensor(made).size_bytes_max &&
                                      tensor(root).size_bytes_max != plan::kNoBound);
  const bool is_memory = tensor(root).place == plan::Place::kArena || tensor(root).place == plan::Place::kGrowing;
  if (is_memory && whole && !is_sized_by_writer(root)) {
    tensor(root).place = plan::Place::kOutput;
    tensor(root).index = output;
    return {};
  }
  plan::Tensor copy = tensor(made);
  copy.place = plan::Place::kOutput;
  copy.index = output;
  copy.format = wanted;
  if (copy.size_bytes_max != plan::kNoBound)
    copy.size_bytes_max = TRY(largest_size_bytes(graph_, graph_.type(o.value), wanted));
  block_.tensors.push_back(std::move(copy));
  return emit_copy(made, static_cast<int>(block_.tensors.size()) - 1, graph_.type(o.value),
                   str("copy to output '", o.name, "'"));
}

/// Notes where the values are that somebody may watch. One that only lives inside of a step has no place: the build
/// makes another plan then, in which it is kept.
Status Emitter::emit_debug_tensors() {
  for (int i = 0; i < graph_.num_values(); ++i)
    for (const std::string& tap : graph_.value(static_cast<ir::ValueId>(i)).taps)
      TRY(add_debug_tensor(tap, static_cast<ir::ValueId>(i)));
  for (const ir::Output& output : graph_.outputs())
    if (!output.tap.empty()) TRY(add_debug_tensor(output.tap, output.value));
  return {};
}

Status Emitter::add_debug_tensor(const std::string& name, ir::ValueId value) {
  if (std::ranges::count(block_.debug_tensors, name, &plan::DebugTensor::name) > 0) return {};
  const ir::NodeId producer = graph_.value(value).producer;
  if (producer != ir::NodeId::kNone && !graph_.alive(producer)) return {};
  if (graph_.constant(value)) {
    block_.debug_tensors.push_back({name, TRY(tensor_of(value, Format::linear()))});
    return {};
  }
  int first = -1;  // of its formats, that in which it is made
  for (auto at = tensors_.lower_bound({value, std::string()}); at != tensors_.end() && at->first.first == value; ++at)
    first = first < 0 ? at->second : std::min(first, at->second);
  if (first >= 0) block_.debug_tensors.push_back({name, first});
  return {};
}

/// Puts steps beside others on auxiliary streams, where that is worth it.
void Emitter::choose_streams() {
  std::vector<ScheduledStep> steps(block_.steps.size());
  std::vector<int> written_by(block_.tensors.size(), -1);
  for (size_t s = 0; s < steps.size(); ++s) {
    steps[s].time_us = block_.steps[s].info.time_us;
    for (const int id : block_.steps[s].inputs)
      if (const int writer = written_by[static_cast<size_t>(root_of(id))]; writer >= 0)
        steps[s].needs.push_back(writer);
    std::ranges::sort(steps[s].needs);
    for (const int id : block_.steps[s].outputs) written_by[static_cast<size_t>(root_of(id))] = static_cast<int>(s);
  }
  const std::vector<int> streams = assign_streams(steps, plan::decides_sizes(block_) ? 0 : most_aux_streams_);
  for (size_t s = 0; s < steps.size(); ++s) block_.steps[s].stream = streams[s];
  beside_ = concurrent_spans(steps, streams);
}

/// Steps whose output may take an input's memory do so where they are its last reader.
void Emitter::reuse_inputs() {
  std::vector<int> last_use(block_.tensors.size(), -1);
  for (size_t s = 0; s < block_.steps.size(); ++s)
    for (const int id : block_.steps[s].inputs) last_use[static_cast<size_t>(root_of(id))] = static_cast<int>(s);
  for (size_t s = 0; s < block_.steps.size(); ++s) {
    if (in_place_[s] < 0) continue;
    const int input = block_.steps[s].inputs[static_cast<size_t>(in_place_[s])], output = block_.steps[s].outputs[0];
    const int root = root_of(input);
    if (tensor(root).place != plan::Place::kArena || last_use[static_cast<size_t>(root)] != static_cast<int>(s))
      continue;
    // A step may read the memory as two inputs, such as a convolution's x and its residual. It may still need the one
    // when it has read the other, so it must not write there.
    if (std::ranges::count_if(block_.steps[s].inputs, [&](int id) { return root_of(id) == root; }) > 1) continue;
    if (tensor(output).place != plan::Place::kArena || tensor(output).size_bytes_max != tensor(root).size_bytes_max)
      continue;
    tensor(output).place = plan::Place::kView;
    tensor(output).index = root;
    last_use[static_cast<size_t>(root)] =
        std::max(last_use[static_cast<size_t>(root)], last_use[static_cast<size_t>(output)]);
  }
}

void Emitter::place_in_arena() {
  std::vector<Lifetime> lives(block_.tensors.size(), {0, INT32_MAX, -1});
  for (size_t s = 0; s < block_.steps.size(); ++s)
    for (const auto* ids : {&block_.steps[s].inputs, &block_.steps[s].outputs})
      for (const int id : *ids) {
        Lifetime& life = lives[static_cast<size_t>(root_of(id))];
        life.first = std::min(life.first, beside_[s].first);
        life.last = std::max(life.last, beside_[s].last);
      }
  std::vector<Lifetime> wanted;
  std::vector<int> owners;
  for (size_t t = 0; t < lives.size(); ++t)
    if (block_.tensors[t].place == plan::Place::kArena && lives[t].last >= 0) {
      lives[t].size_bytes = block_.tensors[t].size_bytes_max;
      wanted.push_back(lives[t]);
      owners.push_back(static_cast<int>(t));
    }
  const MemoryPlan memory = plan_memory(wanted);
  for (size_t i = 0; i < owners.size(); ++i) tensor(owners[i]).offset_bytes = memory.offsets[i];
  block_.arena_bytes = memory.total_bytes;
}

}  // namespace

Status emit_block(const ir::Graph& graph, const Cover& cover, const Backend& backend, const CoverOptions& options,
                  int most_aux_streams, PlanTables tables, plan::Block& block) {
  return Emitter(graph, cover, backend, options, most_aux_streams, tables, block).run();
}

}  // namespace kiln
