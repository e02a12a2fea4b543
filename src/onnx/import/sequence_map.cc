// SequenceMap: its body once for each element that the import knows, and a loop over those that loops made.
#include <algorithm>

#include "onnx/import/importers.h"
#include "onnx/import/loops.h"
#include "onnx/import/sequences.h"
#include "ops/concatenation.h"

namespace kiln::onnx::importers {
namespace {

constexpr size_t kMostBodies = 1 << 14;  // nodes of a body times elements

/// A run of elements that are treated alike: an element each of all sequences, or a stack each.
struct Group {
  std::vector<std::pair<size_t, SequencePart>> parts;  ///< by input
  bool is_stack() const { return parts[0].second.kind == SequencePart::Kind::kStack; }
};

Result<std::vector<std::pair<size_t, Sequence>>> sequences_of(ImportContext& cx) {
  TRY(cx.sequence(0));
  std::vector<std::pair<size_t, Sequence>> sequences;
  for (size_t i = 0; i < cx.num_inputs(); ++i)
    if (cx.is_sequence(i)) sequences.emplace_back(i, TRY(cx.sequence(i)).get());
  const sym::Expr count = num_elements(cx, sequences[0].second.parts);
  for (const auto& [i, sequence] : sequences) {
    const sym::Expr other = num_elements(cx, sequence.parts);
    TRY(require(!sym::provably_different(count, other), "input 0 has ", count, " elements and input ", i, " has ",
                other, "; one length is needed"));
    for (const SequencePart& part : sequence.parts)
      if (part.kind == SequencePart::Kind::kGathered || part.kind == SequencePart::Kind::kJoined)
        TRY(stacked(cx, sequence.parts, {"it reads all elements"}));  // which fails
  }
  return sequences;
}

/// Groups of the parts that stand at the same places of all sequences. Where these have other boundaries, each is one
/// stack.
Result<std::vector<Group>> groups_of(ImportContext& cx) {
  auto sequences = TRY(sequences_of(cx));
  const auto are_alike = [&](const Sequence& a, const Sequence& b) {
    return std::ranges::equal(a.parts, b.parts, [&](const SequencePart& p, const SequencePart& q) {
      const bool are_stacks = p.kind == SequencePart::Kind::kStack && p.kind == q.kind;
      return p.kind == q.kind && (!are_stacks || sym::provably_equal(cx.extent(p.value, 0), cx.extent(q.value, 0)));
    });
  };
  const Sequence first = sequences[0].second;
  if (!std::ranges::all_of(sequences, [&](const auto& entry) { return are_alike(first, entry.second); }))
    for (auto& [i, sequence] : sequences) {
      const ValueId stack = TRY(stacked(cx, sequence.parts, {"it walks sequences of other parts side by side"}));
      sequence.parts = {{SequencePart::Kind::kStack, stack}};
    }
  std::vector<Group> groups(sequences[0].second.parts.size());
  for (const auto& [i, sequence] : sequences)
    for (size_t k = 0; k < groups.size(); ++k) groups[k].parts.emplace_back(i, sequence.parts[k]);
  return groups;
}

Status append_tensors(const BodyResults& results, const GraphDef& body, std::vector<Sequence>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    TRY(require(results.values[i] != ValueId::kNone, "output '", body.outputs[i].name,
                "' of the body is a sequence or an optional; a tensor is needed"));
    outputs[i].append(results.values[i]);
  }
  return {};
}

/// One element: the body in the place of the node.
Status add_element(ImportContext& cx, const GraphDef& body, const Group& group, size_t number,
                   std::vector<Sequence>& outputs) {
  BodyArguments arguments{.values = {}, .sequences = {}, .suffix = str('[', number, ']')};
  for (size_t i = 0; i < cx.num_inputs(); ++i) arguments.values[body.inputs[i].name] = cx.optional_input(i);
  for (const auto& [i, part] : group.parts) arguments.values[body.inputs[i].name] = part.value;
  const BodyResults results =
      TRY(in_context(cx.bodies().import_here(body, arguments), [&] { return str("element ", number); }));
  cx.bodies().warn(results.warnings);
  return append_tensors(results, body, outputs);
}

/// How the loop over the slices of stacks gives an output of the body.
struct SliceOutput {
  std::optional<int> joined_axis = {};  ///< elements differ along it: they are joined as they come, and else stacked
  TensorType element = {};              ///< as the latest try found it
};

/// Adds what the loop carries for outputs whose elements are joined: nothing, at first.
Status add_joined(ImportContext& cx, std::span<const SliceOutput> how, size_t num_symbols, ir::LoopDraft& loop,
                  LoopBody& inner, Values& inputs) {
  for (const SliceOutput& output : how) {
    if (!output.joined_axis) continue;
    Shape shape = output.element.shape;
    shape[static_cast<size_t>(*output.joined_axis)] = 0;
    TRY(require(is_known_before(shape, num_symbols), "it gives elements of different shapes (", output.element,
                "); they may differ in one axis"));
    inputs.push_back(TRY(nothing(cx, output.element.dtype, std::move(shape))));
    add_carried(cx, loop, inner, {}, inputs.back());
  }
  loop.op.carried = static_cast<int>(loop.names.size());
  return {};
}

/// What the body gives: the joined elements so far, then the elements that are stacked.
Result<std::vector<LoopResult>> results_of(ImportContext& cx, const GraphDef& body, std::span<SliceOutput> how,
                                           ImportedBody& imported) {
  ImportContext inside(cx.model(), cx.def(), cx.opset(), *imported.graph, {}, cx.state());
  std::vector<LoopResult> joined, stacked;
  for (size_t i = 0; i < how.size(); ++i) {
    const ValueId value = imported.outputs.values[i];
    const std::string name(body.outputs[i].name);
    TRY(require(value != ValueId::kNone, "output '", name, "' is a sequence or an optional; a tensor is needed"));
    how[i].element = inside.type(value);
    if (!how[i].joined_axis) {
      stacked.push_back({value, name});
      continue;
    }
    const ValueId before = imported.graph->inputs()[1 + joined.size()];
    joined.push_back({TRY(inside.add(ops::Concatenation{.axis = *how[i].joined_axis}, {before, value})), name});
  }
  joined.insert(joined.end(), stacked.begin(), stacked.end());
  return joined;
}

/// Fails where elements that are to be stacked differ from iteration to iteration; they are to be joined then.
Status accept(const ir::LoopDraft& loop, const GraphDef& body, std::span<SliceOutput> how) {
  Status accepted;
  int output = loop.op.carried;
  for (size_t i = 0; i < how.size(); ++i) {
    if (how[i].joined_axis) continue;
    std::vector<int> axes;
    for (const DecidedAxis& axis : loop.op.decided)
      if (axis.output == output && axis.axis > 0) axes.push_back(axis.axis - 1);
    ++output;
    if (axes.empty()) continue;
    if (axes.size() == 1) how[i].joined_axis = axes[0];
    accepted = error(Code::kUnsupported, "output '", body.outputs[i].name, "' of the body has elements of different ",
                     "shapes (", how[i].element, "); they may differ in one axis");
  }
  return accepted;
}

/// A stack: a loop over its slices, whose outputs it gives in these ways.
Status try_slices(ImportContext& cx, const GraphDef& body, const Group& group, size_t num_symbols,
                  std::span<SliceOutput> how, std::vector<Sequence>& outputs) {
  Attempt attempt(cx);
  ir::LoopDraft loop;
  LoopBody inner{.graph = body, .inputs = {BodyInput{}}};
  loop.inputs.emplace_back(DType::kI64, Shape{});
  Values inputs(2, ValueId::kNone);
  TRY(add_joined(cx, how, num_symbols, loop, inner, inputs));
  loop.op.stacks.assign(outputs.size() - static_cast<size_t>(loop.op.carried), 1);
  for (const auto& [i, part] : group.parts) {
    const TensorType type = cx.type(part.value);
    loop.op.scans.push_back(1);
    loop.inputs.emplace_back(type.dtype, Shape(type.shape.begin() + 1, type.shape.end()));
    inner.inputs.push_back({.name = body.inputs[i].name, .type = {}, .constant = {}});
    inputs.push_back(part.value);
    if (!loop.trips) loop.trips = type.shape[0];
  }
  const GraphDef* const bodies[] = {&body};
  Captures captures = TRY(cx.bodies().captures(bodies));
  for (size_t i = 0; i < cx.num_inputs(); ++i) {
    if (!cx.has_input(i)) continue;
    const ValueId value = cx.optional_input(i);
    inner.inputs.push_back({.name = body.inputs[i].name, .type = {}, .constant = {}, .captured = value});
    if (!cx.graph().constant(value) && std::ranges::find(captures.values, value) == captures.values.end())
      captures.values.push_back(value);
  }
  follow_element(cx.graph().table(), loop, 0);
  inner.results = [&](ImportedBody& imported) { return results_of(cx, body, how, imported); };
  inner.accepts = [&](const ir::LoopDraft& draft) { return accept(draft, body, how); };
  const Values results = TRY(add_loop(cx, loop, inner, std::move(inputs), captures));
  auto joined = results.begin(), stack = results.begin() + loop.op.carried;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (how[i].joined_axis)
      outputs[i].parts.push_back({.kind = SequencePart::Kind::kJoined,
                                  .value = *joined++,
                                  .loop = nullptr,
                                  .count = *loop.trips,
                                  .axis = *how[i].joined_axis});
    else
      outputs[i].append_stack(*stack++);
  }
  attempt.keep();
  return {};
}

/// The same. Each try shows which outputs are to be joined.
Status add_slices(ImportContext& cx, const GraphDef& body, const Group& group, std::vector<Sequence>& outputs) {
  const GraphDef* const bodies[] = {&body};
  TRY(cx.bodies().captures(bodies));  // adds initializers that the body reads: they outlive each try
  const size_t num_symbols = cx.graph().table().symbols().size();
  std::vector<SliceOutput> how(outputs.size());
  const auto num_joined = [&] {
    return std::ranges::count_if(how, [](const auto& o) { return o.joined_axis.has_value(); });
  };
  while (true) {
    const auto before = num_joined();
    Status done = try_slices(cx, body, group, num_symbols, how, outputs);
    if (done || num_joined() == before) return done;
    cx.state().loops.changing.erase(&body);  // which was of other carried values
  }
}

}  // namespace

Status sequence_map(ImportContext& cx) {
  const GraphDef& body = TRY(cx.node().need_graph("body"));
  TRY(require(body.inputs.size() == cx.num_inputs(), "the body has ", body.inputs.size(), " inputs; the node has ",
              cx.num_inputs()));
  TRY(require(body.outputs.size() == cx.num_outputs() && cx.num_outputs() > 0, "the body has ", body.outputs.size(),
              " outputs; the node has ", cx.num_outputs()));
  for (size_t i = 0; i < cx.num_inputs(); ++i)
    if (!cx.is_sequence(i)) TRY(cx.input(i));
  const std::vector<Group> groups = TRY(groups_of(cx));
  TRY(require(groups.size() * (body.nodes.size() + 1) <= kMostBodies, "the sequence has ", groups.size(),
              " elements, for each of which the body's ", body.nodes.size(), " nodes would stand in the network"));
  std::vector<Sequence> outputs(cx.num_outputs());
  size_t number = 0;
  for (const Group& group : groups)
    TRY(group.is_stack() ? add_slices(cx, body, group, outputs) : add_element(cx, body, group, number++, outputs));
  for (size_t i = 0; i < outputs.size(); ++i) TRY(cx.output(i, std::move(outputs[i])));
  return {};
}

}  // namespace kiln::onnx::importers
