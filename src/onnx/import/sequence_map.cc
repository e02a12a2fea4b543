// SequenceMap: its body once for each element that the import knows, and a loop over those that loops made.
#include <algorithm>

#include "onnx/import/importers.h"
#include "onnx/import/loops.h"
#include "onnx/import/sequences.h"

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

/// A stack: a loop over its slices.
Status add_slices(ImportContext& cx, const GraphDef& body, const Group& group, std::vector<Sequence>& outputs) {
  ir::LoopDraft loop;
  LoopBody inner{.graph = body, .inputs = {BodyInput{}}};
  loop.op.stacks.assign(outputs.size(), 1);
  loop.inputs.emplace_back(DType::kI64, Shape{});
  Values inputs(2, ValueId::kNone);
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
  const Values stacks = TRY(add_loop(cx, loop, inner, std::move(inputs), captures));
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i].append_stack(stacks[i]);
  return {};
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
