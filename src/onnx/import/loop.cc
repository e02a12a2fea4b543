// Loop and Scan: their bodies are imported as often as it takes to find which carried extents change.
#include "ops/loop.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

#include "onnx/import/carried_sequences.h"
#include "onnx/import/importers.h"
#include "onnx/import/loops.h"
#include "onnx/import/unrolled_loop.h"
#include "ops/squeeze.h"
#include "ops/transpose.h"
#include "ops/unsqueeze.h"
#include "tensor/view.h"

namespace kiln::onnx::importers {
namespace {

// Nodes of an unrolled loop. Where few iterations carry sequences, these are better known one by one; where there are
// more, unrolling is left for what no loop can do.
constexpr int64_t kFewNodes = 512, kMostNodes = 1 << 13;
constexpr int kMostSequenceTries = 1 << 11;  // of a model

HostTensor bool_of(bool value) { return HostTensor::scalar(DType::kBool, value); }

/// Adds the op of a Loop. `num_symbols` are those of the table before it.
Status add_loop_node(ImportContext& cx, const GraphDef& body, size_t num_symbols) {
  const size_t num_carried = cx.num_inputs() > 2 ? cx.num_inputs() - 2 : 0;
  ir::LoopDraft loop;
  CarriedSequences sequences(cx, body, num_symbols);
  loop.op.stacks.assign(body.outputs.size() - 1 - num_carried, 1);
  loop.inputs.emplace_back(DType::kI64, Shape{});
  LoopBody inner{.graph = body, .inputs = {}, .has_condition = true};
  inner.inputs.push_back({.name = body.inputs[0].name, .type = {}, .constant = {}});
  inner.inputs.push_back(
      {.name = body.inputs[1].name, .type = {}, .constant = bool_of(true)});  // or the body would not run
  Values inputs(2, ValueId::kNone);
  if (cx.has_input(0)) inputs[0] = TRY(single(cx, 0, "the trip count"));
  if (cx.has_input(1)) {
    inputs[1] = TRY(single(cx, 1, "the condition"));
    if (known_flag(cx, inputs[1]).value_or(false)) inputs[1] = ValueId::kNone;
  }
  if (inputs[0] != ValueId::kNone)
    if (const auto count = cx.values(inputs[0], "")) loop.trips = sym::max((*count)[0], 0);
  follow_element(cx.graph().table(), loop, 0);
  std::vector<int> places;  // of the carried tensors among the op's outputs
  for (size_t c = 0; c < num_carried; ++c) {
    places.push_back(static_cast<int>(loop.names.size()));
    if (const Sequence* sequence = cx.find_sequence(2 + c)) {
      TRY(sequences.add(c, *sequence, loop, inner, inputs));
      continue;
    }
    inputs.push_back(TRY(cx.input(2 + c)));
    add_carried(cx, loop, inner, body.inputs[2 + c].name, inputs.back());
    follow_element(cx.graph().table(), loop, places.back() + 1);
  }
  loop.op.carried = static_cast<int>(loop.names.size());
  sequences.add_stacks(loop);
  inner.make_sequences = [&](ir::Graph& graph) { return sequences.within(graph); };
  inner.results = [&](ImportedBody& imported) { return sequences.results(imported, num_carried); };
  inner.accepts = [&](const ir::LoopDraft& draft) { return sequences.accept(draft); };
  const GraphDef* const bodies[] = {&body};
  const Captures captures = TRY(cx.bodies().captures(bodies));
  const Values outputs = TRY(add_loop(cx, loop, inner, std::move(inputs), captures));
  for (size_t i = 0; i < cx.num_outputs(); ++i) {
    const size_t place =
        i < num_carried ? static_cast<size_t>(places[i]) : i - num_carried + static_cast<size_t>(loop.op.carried);
    if (i < num_carried && cx.is_sequence(2 + i))
      TRY(cx.output(i, TRY(sequences.after(i, outputs, loop))));
    else if (cx.wants(i))
      TRY(cx.output(i, outputs[place]));
  }
  return {};
}

/// The same. Where it fails, the graph is as it was.
Status try_loop_node(ImportContext& cx, const GraphDef& body, size_t num_symbols) {
  Attempt attempt(cx);
  TRY(add_loop_node(cx, body, num_symbols));
  attempt.keep();
  return {};
}

/// The way in which a loop carries a sequence.
struct Way {
  const Sequence& initial;
  CarriedSequence& how;
};
std::vector<Way> ways_of(ImportContext& cx, const GraphDef& body) {
  std::vector<Way> ways;
  for (size_t i = 2; i < cx.num_inputs(); ++i)
    if (const Sequence* sequence = cx.find_sequence(i))
      ways.push_back({*sequence, cx.state().carried_sequences[{&body, i - 2}]});
  return ways;
}

/// Takes what a try has found about the way. Whether the next one is to go another way.
bool take_findings(const Way& way, const CarriedSequence& before) {
  const bool is_other = way.how.take_findings(before);
  for (const SequencePart& part : way.initial.parts)
    if (part.loop && !part.loop->seen) part.loop->seen = way.how.element;  // the loop around adds what this one does
  return is_other;
}

/// Adds the op of a Loop that carries sequences in one way after the other, until the body does with that.
Status add_loop_of_sequences(ImportContext& cx, const GraphDef& body) {
  const size_t num_symbols = cx.graph().table().symbols().size();
  const std::vector<Way> ways = ways_of(cx, body);
  const GraphDef* const bodies[] = {&body};
  TRY(cx.bodies().captures(bodies));  // adds initializers that the body reads: they outlive each try
  while (true) {
    std::vector<CarriedSequence> before;
    for (const Way& way : ways) before.push_back(way.how);
    Status done = try_loop_node(cx, body, num_symbols);
    bool is_other = false;
    for (size_t i = 0; i < ways.size(); ++i) is_other |= take_findings(ways[i], before[i]);
    if (done || !is_other) return done;
    const bool is_joined = std::ranges::any_of(ways, [](const Way& way) { return way.how.joined_axis.has_value(); });
    if (is_joined && unroll_loop(cx, body, kMostNodes).value_or(false)) return {};  // elements stay apart
    if (++cx.state().num_sequence_tries > kMostSequenceTries)
      return error(Code::kUnsupported, "the loops of the model carry sequences in too many ways: ", kMostSequenceTries,
                   " tries did not do; ", done.error().message);
    cx.state().loops.changing.erase(&body);
  }
}

}  // namespace

Status loop(ImportContext& cx) {
  const GraphDef& body = TRY(cx.node().need_graph("body"));
  const size_t num_carried = cx.num_inputs() > 2 ? cx.num_inputs() - 2 : 0;
  TRY(require(body.inputs.size() == num_carried + 2, "the body has ", body.inputs.size(), " inputs; ", num_carried + 2,
              " are needed for ", num_carried, " carried values"));
  TRY(require(body.outputs.size() > num_carried, "the body has ", body.outputs.size(), " outputs; ", num_carried + 1,
              " are needed at least"));
  TRY(require(cx.num_outputs() > 0 && cx.num_outputs() <= body.outputs.size() - 1, "the node has ", cx.num_outputs(),
              " outputs; its body gives ", body.outputs.size() - 1));
  bool has_sequences = false;
  for (size_t i = 2; i < cx.num_inputs(); ++i) has_sequences |= cx.is_sequence(i);
  for (const std::string_view name : free_names(body, cx.state().free_names))
    has_sequences |= cx.state().sequences.contains(name);
  if (!has_sequences) return add_loop_node(cx, body, 0);
  if (TRY(unroll_loop(cx, body, kFewNodes))) return {};
  Status done = add_loop_of_sequences(cx, body);
  // A loop around may fail because of this one, and try again to import it: the number of tries has an end.
  const bool may_unroll = !done && ++cx.state().num_sequence_tries <= kMostSequenceTries;
  if (may_unroll && unroll_loop(cx, body, kMostNodes).value_or(false)) return {};
  return done;
}

namespace {

Result<std::vector<int>> directions(ImportContext& cx, std::string_view attribute, size_t count) {
  const std::vector<int64_t> given = TRY(cx.node().get_ints(attribute, std::vector<int64_t>(count, 0)));
  TRY(require(given.size() == count, attribute, " has ", given.size(), " elements; ", count, " are needed"));
  std::vector<int> result;
  for (const int64_t reverse : given) {
    TRY(require(reverse == 0 || reverse == 1, attribute, " has ", reverse, "; 0 and 1 are directions"));
    result.push_back(reverse ? -1 : 1);
  }
  return result;
}

/// What a Scan reads and says, as opset 9 has it: without a batch.
struct ScanInputs {
  Values carried, scanned;  ///< the scanned ones along axis 0
  std::vector<int> scans, stacks;
  std::optional<sym::Expr> padded_to = {};  ///< slices that stacked outputs have: zeros behind those of the iterations
};

Result<ScanInputs> scan_inputs(ImportContext& cx, size_t num_carried, size_t num_scanned) {
  const std::vector<int64_t> axes = TRY(cx.node().get_ints("scan_input_axes", std::vector<int64_t>(num_scanned, 0)));
  TRY(require(axes.size() == num_scanned, "scan_input_axes has ", axes.size(), " elements; ", num_scanned,
              " are needed"));
  ScanInputs result;
  result.scans = TRY(directions(cx, "scan_input_directions", num_scanned));
  for (size_t c = 0; c < num_carried; ++c) result.carried.push_back(TRY(cx.input(c)));
  for (size_t k = 0; k < num_scanned; ++k) {
    const ValueId x = TRY(cx.input(num_carried + k));
    const int rank = cx.rank(x);
    result.scanned.push_back(TRY(transpose(cx, x, axis_to_front(rank, TRY(cx.axis(axes[k], rank))))));
  }
  return result;
}

/// The only element of a Scan's sequence_lens; nothing where it is left out.
Result<std::optional<sym::Expr>> sequence_length(ImportContext& cx) {
  if (!cx.has_input(0)) return std::nullopt;
  const SymbolicValues lengths = TRY(cx.values(TRY(cx.input(0)), "sequence_lens"));
  TRY(require(lengths.size() == 1, "sequence_lens has ", lengths.size(), " elements; the batch is 1"));
  return lengths[0];
}

/// The first `length` slices of a sequence.
Result<ValueId> shortened(ImportContext& cx, ValueId x, sym::Expr length) {
  const sym::Expr whole = cx.extent(x, 0);
  TRY(require(!sym::provably_less(length, 0) && !sym::provably_less(whole, length), "sequence_lens is ", length,
              "; the sequences have ", whole, " slices"));
  TRY(assert_true(cx, sym::min(sym::less(-1, length), sym::less(length, whole + 1)),
                  "sequence_lens is within the sequence"));
  return slice(cx, x, {.starts = {0}, .sizes = {length}, .strides = {1}, .axes = {0}});
}

/// Opset 8: an input of lengths comes first, and all values have a batch of 1 in front.
Result<ScanInputs> scan_inputs_8(ImportContext& cx, size_t num_carried, size_t num_scanned) {
  const std::optional<sym::Expr> length = TRY(sequence_length(cx));
  ScanInputs result;
  result.scans = TRY(directions(cx, "directions", num_scanned));
  for (size_t i = 0; i < num_carried + num_scanned; ++i) {
    ValueId sample = TRY(cx.add(ops::Squeeze{{0}}, {TRY(cx.input(1 + i))}));
    if (i >= num_carried) {
      TRY(require(cx.rank(sample) > 0, "input ", 1 + i, " is ", cx.type(cx.inputs()[1 + i]),
                  "; it has no axis of slices"));
      if (length) {  // the loop sees the shortened sequences, which have one length in any case
        const sym::Expr whole = cx.extent(sample, 0);
        if (!result.padded_to) result.padded_to = whole;
        TRY(require_equal(cx, *result.padded_to, whole,
                          str("the slices of inputs ", 1 + num_carried, " and ", 1 + i, " of ", cx.def())));
        sample = TRY(shortened(cx, sample, *length));
      }
    }
    (i < num_carried ? result.carried : result.scanned).push_back(sample);
  }
  return result;
}

/// The loop of a Scan.
Result<Values> add_scan(ImportContext& cx, const GraphDef& body, const ScanInputs& scan) {
  const size_t num_carried = scan.carried.size();
  ir::LoopDraft loop;
  LoopBody inner{.graph = body, .inputs = {BodyInput{}}};
  loop.op.carried = static_cast<int>(num_carried);
  loop.op.scans = scan.scans;
  loop.op.stacks = scan.stacks;
  loop.inputs.emplace_back(DType::kI64, Shape{});
  Values inputs(2, ValueId::kNone);
  inputs.insert(inputs.end(), scan.carried.begin(), scan.carried.end());
  inputs.insert(inputs.end(), scan.scanned.begin(), scan.scanned.end());
  for (size_t c = 0; c < num_carried; ++c) add_carried(cx, loop, inner, body.inputs[c].name, scan.carried[c]);
  for (size_t k = 0; k < scan.scanned.size(); ++k) {
    const TensorType& type = cx.type(scan.scanned[k]);
    loop.inputs.emplace_back(type.dtype, Shape(type.shape.begin() + 1, type.shape.end()));
    inner.inputs.push_back({.name = body.inputs[num_carried + k].name, .type = {}, .constant = {}});
    if (!loop.trips) loop.trips = type.shape[0];
  }
  for (size_t i = 1; i < loop.inputs.size(); ++i) follow_element(cx.graph().table(), loop, static_cast<int>(i));
  const GraphDef* const bodies[] = {&body};
  const Captures captures = TRY(cx.bodies().captures(bodies));
  return add_loop(cx, loop, inner, std::move(inputs), captures);
}

/// Whether all inputs of a Scan of opset 8 have a batch of 1.
Result<bool> has_one_row(ImportContext& cx) {
  bool result = true;
  for (size_t i = 1; i < cx.num_inputs(); ++i) {
    const ValueId x = TRY(cx.input(i));
    TRY(require(cx.rank(x) > 0, "input ", i, " is ", cx.type(x), "; it has no axis of a batch"));
    result &= sym::provably_equal(cx.extent(x, 0), 1);
  }
  return result;
}

/// A name that the body neither defines as an input nor reads from around it.
std::string_view unknown_name(ImportContext& cx, const GraphDef& body, std::deque<std::string>& texts) {
  const auto& free = free_names(body, cx.state().free_names);
  std::string name = "sequence length";
  const auto is_known = [&] {
    return std::ranges::count(free, name) > 0 || std::ranges::count(body.inputs, name, &ValueInfo::name) > 0;
  };
  while (is_known()) name += '\'';
  return texts.emplace_back(std::move(name));
}

/// The graph that a Scan of opset 8 runs for one row of its batch: the same node, whose inputs have a batch of 1.
std::shared_ptr<const RowGraph> graph_of_row(ImportContext& cx, const GraphDef& body) {
  auto& known = cx.state().row_graphs[&cx.def()];
  if (known) return known;
  auto row = std::make_shared<RowGraph>();
  NodeDef node = cx.def();
  node.opset = cx.opset();
  if (cx.has_input(0)) {
    node.inputs[0] = unknown_name(cx, body, row->texts);
    row->graph.inputs.push_back({.name = node.inputs[0], .type = {}});
  }
  for (size_t i = 0; i < body.inputs.size(); ++i) {
    node.inputs[1 + i] = body.inputs[i].name;  // which the body of the body means by it, too
    row->graph.inputs.push_back({.name = node.inputs[1 + i], .type = {}});
  }
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (node.has_output(i)) row->graph.outputs.push_back({.name = node.outputs[i], .type = {}});
  row->graph.nodes.push_back(std::move(node));
  return known = row;
}

/// Opset 8 with a batch: a loop over its rows, each of which is a Scan.
Status scan_rows(ImportContext& cx, const GraphDef& body) {
  cx.node().pass_over("directions");  // which the Scan of a row reads
  const auto row = graph_of_row(cx, body);
  ScanInputs rows;
  for (size_t i = 0; i < cx.num_inputs(); ++i)
    if (i > 0 || cx.has_input(0)) rows.scanned.push_back(TRY(cx.add(ops::Unsqueeze{{1}}, {TRY(cx.input(i))})));
  rows.scans.assign(rows.scanned.size(), 1);
  rows.stacks.assign(row->graph.outputs.size(), 1);
  const Values outputs = TRY(add_scan(cx, row->graph, rows));
  for (size_t i = 0, next = 0; i < cx.num_outputs(); ++i)
    if (cx.wants(i)) TRY(cx.output(i, TRY(cx.add(ops::Squeeze{{1}}, {outputs[next++]}))));
  return {};
}

}  // namespace

Status scan(ImportContext& cx) {
  const GraphDef& body = TRY(cx.node().need_graph("body"));
  const bool has_batch = cx.opset() < 9;
  const size_t num_inputs = cx.num_inputs() - (has_batch && cx.num_inputs() > 0 ? 1 : 0);
  const int64_t given = TRY(cx.node().need_int("num_scan_inputs"));
  TRY(require(given > 0 && given <= static_cast<int64_t>(num_inputs), "num_scan_inputs is ", given, "; the node has ",
              num_inputs, " inputs"));
  const auto num_scanned = static_cast<size_t>(given);
  const size_t num_carried = num_inputs - num_scanned;
  TRY(require(body.inputs.size() == num_inputs, "the body has ", body.inputs.size(), " inputs; the node has ",
              num_inputs));
  TRY(require(body.outputs.size() >= num_carried && body.outputs.size() == cx.num_outputs(), "the body has ",
              body.outputs.size(), " outputs; the node has ", cx.num_outputs(), " for ", num_carried,
              " carried values"));
  const size_t num_stacked = body.outputs.size() - num_carried;
  if (has_batch && !TRY(has_one_row(cx))) return scan_rows(cx, body);
  ScanInputs values =
      TRY(has_batch ? scan_inputs_8(cx, num_carried, num_scanned) : scan_inputs(cx, num_carried, num_scanned));
  values.stacks = TRY(directions(cx, "scan_output_directions", num_stacked));
  const Values outputs = TRY(add_scan(cx, body, values));
  const std::vector<int64_t> axes = TRY(cx.node().get_ints("scan_output_axes", std::vector<int64_t>(num_stacked, 0)));
  TRY(require(axes.size() == num_stacked, "scan_output_axes has ", axes.size(), " elements; ", num_stacked,
              " are needed"));
  for (size_t i = 0; i < cx.num_outputs(); ++i) {
    if (!cx.wants(i)) continue;
    ValueId y = outputs[i];
    const int rank = cx.rank(y);
    if (i >= num_carried && values.padded_to)
      y = TRY(slice(
          cx, y, {.starts = {0}, .sizes = {*values.padded_to}, .strides = {1}, .axes = {0}, .mode = SliceMode::kFill}));
    if (i >= num_carried) y = TRY(transpose(cx, y, front_to_axis(rank, TRY(cx.axis(axes[i - num_carried], rank)))));
    if (has_batch) y = TRY(cx.add(ops::Unsqueeze{{0}}, {y}));
    TRY(cx.output(i, y));
  }
  return {};
}

}  // namespace kiln::onnx::importers
