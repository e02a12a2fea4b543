#include "ops/if.h"

#include <algorithm>
#include <array>

#include "ir/bodies.h"
#include "onnx/import/bodies.h"
#include "onnx/import/importers.h"
#include "onnx/import/sequences.h"
#include "ops/identity.h"
#include "ops/reshape.h"

namespace kiln::onnx::importers {
namespace {

/// What the branches of an If give its op: pairs of tensors. An output of the node that is a sequence takes any number
/// of them.
struct Branches {
  std::vector<ImportedBody> bodies;
  size_t num_symbols;  ///< of the table before the branches
  std::vector<std::array<ValueId, 2>> outputs = {};
  std::vector<std::string> names = {};

  size_t add(std::array<ValueId, 2> values, std::string name) {
    outputs.push_back(values);
    names.push_back(std::move(name));
    return outputs.size() - 1;
  }
};

/// Gives single elements that the branches have in different ranks the higher one.
Status unify_ranks(Branches& branches) {
  for (std::array<ValueId, 2>& output : branches.outputs) {
    const auto type = [&](size_t b) -> const TensorType& { return branches.bodies[b].graph->type(output[b]); };
    const auto is_single = [&](size_t b) { return sym::provably_equal(type(b).volume(), 1); };
    if (type(0).rank() == type(1).rank() || !is_single(0) || !is_single(1)) continue;
    const size_t lower = type(0).rank() < type(1).rank() ? 0 : 1;
    const std::vector<int64_t> ones(static_cast<size_t>(std::max(type(0).rank(), type(1).rank())), 1);
    output[lower] = TRY(branches.bodies[lower].graph->add_one(ops::Reshape{.dims = ones}, {output[lower]}));
  }
  return {};
}

/// The part outside of a branch of which the branch's part is a copy.
std::optional<SequencePart> outside_of(const ImportedBody& body, const SequencePart& part) {
  if (part.kind == SequencePart::Kind::kGathered) return part;
  for (const auto& [inside, outside] : body.copies)
    if (inside == part.value) return SequencePart{part.kind, outside, part.loop};
  return std::nullopt;
}

/// Where a part of a sequence behind an If comes from.
struct MergedPart {
  SequencePart part;               ///< where no branch made it
  std::optional<size_t> output{};  ///< else the output of the op that is its value
};
using MergedParts = std::vector<MergedPart>;

/// The rest of two sequences as a stack each, one of which may be empty.
Result<std::array<ValueId, 2>> stacks_of(ImportContext& cx, Branches& branches, const std::array<Parts, 2>& rest) {
  const WholeReason why{"it joins the elements of two sequences that differ in length"};
  std::array<ValueId, 2> stacks{};
  for (size_t b = 0; b < 2; ++b) {
    ImportContext inside(cx.model(), cx.def(), cx.opset(), *branches.bodies[b].graph, {}, cx.state());
    ImportContext other(cx.model(), cx.def(), cx.opset(), *branches.bodies[1 - b].graph, {}, cx.state());
    if (!rest[b].empty()) {
      stacks[b] = TRY(stacked(inside, rest[b], why));
      continue;
    }
    const TensorType element = TRY(element_type(other, rest[1 - b]));
    if (!is_known_before(element.shape, branches.num_symbols))
      return error(Code::kUnsupported, "one branch adds elements of ", element,
                   " to a sequence and the other one none; their shape must be known before the branches");
    stacks[b] = TRY(empty_stack(inside, element));
  }
  return stacks;
}

/// A sequence that both branches give: what both took from around them stays as it is; then come elements side by side
/// where both have as many, and else a stack of each.
Result<MergedParts> merge(ImportContext& cx, Branches& branches, const std::array<Parts, 2>& sequences,
                          std::string_view name) {
  std::array<Parts, 2> rest = sequences;
  const auto common = [&](const SequencePart& a, const SequencePart& b) -> std::optional<SequencePart> {
    const auto from_a = outside_of(branches.bodies[0], a), from_b = outside_of(branches.bodies[1], b);
    return from_a && from_b && *from_a == *from_b ? from_a : std::nullopt;
  };
  MergedParts merged, back;
  const auto both = [&] { return !rest[0].empty() && !rest[1].empty(); };
  for (std::optional<SequencePart> part; both() && (part = common(rest[0].front(), rest[1].front()));) {
    merged.push_back({*part});
    for (Parts& parts : rest) parts = parts.subspan(1);
  }
  for (std::optional<SequencePart> part; both() && (part = common(rest[0].back(), rest[1].back()));) {
    back.insert(back.begin(), MergedPart{*part});
    for (Parts& parts : rest) parts = parts.first(parts.size() - 1);
  }
  const auto is_closed = [](const SequencePart& part) {
    return part.kind == SequencePart::Kind::kGathered || part.kind == SequencePart::Kind::kJoined;
  };
  const bool are_alike = std::ranges::equal(rest[0], rest[1], {}, &SequencePart::kind, &SequencePart::kind) &&
                         std::ranges::none_of(rest[0], is_closed);
  const auto add = [&](SequencePart::Kind kind, std::array<ValueId, 2> values) {
    merged.push_back({{kind, ValueId::kNone}, branches.add(values, str(name, '/', merged.size()))});
  };
  if (are_alike)
    for (size_t k = 0; k < rest[0].size(); ++k) add(rest[0][k].kind, {rest[0][k].value, rest[1][k].value});
  else
    add(SequencePart::Kind::kStack, TRY(stacks_of(cx, branches, rest)));
  merged.insert(merged.end(), back.begin(), back.end());
  return merged;
}

/// What an output of the node is, where both branches give a sequence or an optional for it.
Result<MergedParts> merge_output(ImportContext& cx, Branches& branches, size_t i, std::string_view name) {
  std::array<const Sequence*, 2> sequences{};
  for (size_t b = 0; b < 2; ++b) {
    const auto found = branches.bodies[b].outputs.sequences.find(i);
    if (found == branches.bodies[b].outputs.sequences.end())
      return error(Code::kUnsupported, "a branch gives a tensor for '", name, "' and the other one does not");
    sequences[b] = &found->second;
  }
  if (sequences[0]->kind != sequences[1]->kind)
    return error(Code::kUnsupported, "one branch gives a sequence for '", name, "' and the other one an optional, or ",
                 "an optional has an element in one branch only; which it is must be known before the network runs");
  return merge(cx, branches, {sequences[0]->parts, sequences[1]->parts}, name);
}

/// Marks what the op's outputs are as those of the bodies' graphs.
void mark_outputs(Branches& branches) {
  for (size_t b = 0; b < 2; ++b)
    for (size_t k = 0; k < branches.outputs.size(); ++k)
      branches.bodies[b].graph->mark_output(branches.outputs[k][b], branches.names[k]);
}

Result<Branches> import_branches(ImportContext& cx, const Captures& captures,
                                 const std::array<const GraphDef*, 2>& graphs) {
  Branches branches{.bodies = {}, .num_symbols = cx.graph().table().symbols().size()};
  for (size_t b = 0; b < graphs.size(); ++b) {
    const auto where = [&] { return b == 0 ? "then_branch" : "else_branch"; };
    TRY(in_context(require(graphs[b]->inputs.empty(), "it has inputs; a branch takes what it reads from around it"),
                   where));
    TRY(in_context(require(graphs[b]->outputs.size() == cx.num_outputs(), "it has ", graphs[b]->outputs.size(),
                           " outputs; the node has ", cx.num_outputs()),
                   where));
    branches.bodies.push_back(TRY(in_context(cx.bodies().import(*graphs[b], {}, captures), where)));
  }
  return branches;
}

}  // namespace

/// An If whose condition the run decides. (One that is known is imported as its branch.)
Status if_(ImportContext& cx) {
  const std::array<const GraphDef*, 2> graphs = {&TRY(cx.node().need_graph("then_branch")).get(),
                                                 &TRY(cx.node().need_graph("else_branch")).get()};
  TRY(require(cx.num_outputs() > 0, "the node has no output"));
  const Captures captures = TRY(cx.bodies().captures(graphs));
  Branches branches = TRY(import_branches(cx, captures, graphs));
  std::map<size_t, MergedParts> sequences;
  std::map<size_t, size_t> tensors;  // the op's outputs, by those of the node
  for (size_t i = 0; i < cx.num_outputs(); ++i) {
    const std::string_view name = graphs[0]->outputs[i].name;
    const std::array<ValueId, 2> values{branches.bodies[0].outputs.values[i], branches.bodies[1].outputs.values[i]};
    if (values[0] != ValueId::kNone && values[1] != ValueId::kNone)
      tensors[i] = branches.add(values, std::string(name));
    else
      sequences[i] = TRY(merge_output(cx, branches, i, name));
  }
  TRY(unify_ranks(branches));
  mark_outputs(branches);
  const auto &then = *branches.bodies[0].graph, &otherwise = *branches.bodies[1].graph;
  ops::If op{.outputs = static_cast<int>(branches.outputs.size()),
             .decided = TRY(ops::differing_axes(ir::output_types(then), ir::output_types(otherwise)))};
  Values inputs{TRY(single(cx, 0, "the condition"))}, outputs;
  inputs.insert(inputs.end(), captures.values.begin(), captures.values.end());
  for (const ImportedBody& body : branches.bodies) cx.bodies().warn(body.outputs.warnings);
  if (op.outputs > 0)
    outputs = TRY(cx.add_all(std::move(op), inputs, {branches.bodies[0].graph, branches.bodies[1].graph}));
  for (const auto& [i, output] : tensors) TRY(cx.output(i, outputs[output]));
  for (auto& [i, parts] : sequences) {
    Sequence sequence{.parts = {}, .kind = branches.bodies[0].outputs.sequences.at(i).kind};
    for (MergedPart& merged : parts) {
      if (merged.output) merged.part.value = outputs[*merged.output];
      sequence.parts.push_back(merged.part);
    }
    TRY(cx.output(i, std::move(sequence)));
  }
  return {};
}

}  // namespace kiln::onnx::importers
