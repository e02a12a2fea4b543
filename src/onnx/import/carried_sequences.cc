#include "onnx/import/carried_sequences.h"

#include <algorithm>
#include <set>

#include "ops/concatenation.h"

namespace kiln::onnx {
namespace {

using Kind = Sequence::Kind;

std::string_view what_is(Kind kind) {
  switch (kind) {
    case Kind::kSequence: return "a sequence";
    case Kind::kEmptyOptional: return "an optional without an element";
    case Kind::kOptionalTensor: return "an optional that has a tensor";
    case Kind::kOptionalSequence: return "an optional that has a sequence";
  }
  return "?";
}

bool is_list(const Sequence& sequence) {
  return sequence.kind == Kind::kSequence || sequence.kind == Kind::kOptionalSequence;
}

}  // namespace

/// What elements are joined to that differ along one axis.
Result<ValueId> CarriedSequences::nothing_joined(const CarriedSequence& how) {
  CHECK(how.element.has_value());
  Shape shape = how.element->shape;
  shape[static_cast<size_t>(*how.joined_axis)] = 0;
  if (!is_known_before(shape, num_symbols_))
    return error(Code::kUnsupported, "iterations add elements of different shapes (", *how.element,
                 "); they may differ in one axis, unless the loop has few iterations, whose number is known");
  return nothing(cx_, how.element->dtype, std::move(shape));
}

/// The type of elements, if there are any.
std::optional<DType> CarriedSequences::dtype_of(Parts parts) const {
  for (const SequencePart& part : parts) {
    if (part.kind != SequencePart::Kind::kGathered) return cx_.dtype(part.value);
    if (part.loop->dtype) return part.loop->dtype;
  }
  return std::nullopt;
}

/// The initial values of what the op carries for a sequence.
Status CarriedSequences::add_to_carry(const Entry& entry, Values& values) {
  const Parts initial = entry.initial.parts;
  const CarriedSequence& how = entry.how;
  if (!is_list(entry.initial)) {
    for (const SequencePart& part : initial) values.push_back(part.value);
  } else if (!how.is_whole) {
    for (int i = how.tail; i > 0; --i) values.push_back(TRY(element_from_back(cx_, initial, i)));
    if (how.joined_axis) values.push_back(TRY(nothing_joined(how)));
  } else if (!initial.empty()) {
    values.push_back(TRY(stacked(cx_, initial, how.why_whole)));
  } else {
    if (!how.element)
      return error(Code::kUnsupported, how.why_whole.text,
                   "; the loop would keep all elements in one tensor, but what type they have is not known before it");
    if (!is_known_before(how.element->shape, num_symbols_))
      return error(Code::kUnsupported, how.why_whole.text,
                   "; the loop would keep all elements in one tensor, but they are ", *how.element,
                   ", of extents that differ from iteration to iteration");
    values.push_back(TRY(empty_stack(cx_, *how.element)));
  }
  return {};
}

Status CarriedSequences::add(size_t c, const Sequence& initial, ir::LoopDraft& loop, LoopBody& body, Values& inputs) {
  CarriedSequence& how = cx_.state().carried_sequences[{&body_, c}];
  how.seen.reset();
  how.given_tail = how.tail;
  how.initial = num_elements(cx_, initial.parts);
  how.dtype = dtype_of(initial.parts);
  entries_.push_back({.c = c, .initial = initial, .how = how, .before = how});
  Entry& entry = entries_.back();
  Values values;
  TRY(in_context(add_to_carry(entry, values), [&] { return str("carried sequence '", name_of(entry), "'"); }));
  entry.first_carried = static_cast<int>(loop.names.size());
  entry.num_carried = static_cast<int>(values.size());
  for (const ValueId value : values) {
    add_carried(cx_, loop, body, name_of(entry), value);
    body.inputs.back().name = {};
    inputs.push_back(value);
  }
  return {};
}

void CarriedSequences::add_stacks(ir::LoopDraft& loop) {
  for (Entry& entry : entries_) {
    if (!is_list(entry.initial) || entry.how.is_whole || sym::provably_equal(entry.how.appended, 0)) continue;
    if (entry.how.joined_axis && !entry.how.counts) continue;
    entry.stack = static_cast<int>(loop.op.stacks.size());
    loop.op.stacks.push_back(1);
  }
}

Result<Sequences> CarriedSequences::within(ir::Graph& graph) {
  Sequences result;
  ImportContext inside(cx_.model(), cx_.def(), cx_.opset(), graph, {}, cx_.state());
  const sym::Expr number = TRY(inside.values(graph.inputs()[0], "the iteration's number"))[0];
  for (Entry& entry : entries_) {
    Sequence sequence{.parts = {}, .kind = entry.initial.kind};
    CarriedSequence& how = entry.how;
    if (is_list(entry.initial) && !how.is_whole) {
      const sym::Expr count = how.initial - how.tail + how.appended * number;
      sequence.parts.push_back({SequencePart::Kind::kGathered, ValueId::kNone, &how, count});
    }
    const int hidden = how.joined_axis && !how.is_whole && is_list(entry.initial) ? 1 : 0;
    for (int i = 0; i < entry.num_carried - hidden; ++i) {
      const ValueId value = graph.inputs()[static_cast<size_t>(1 + entry.first_carried + i)];
      const auto kind =
          how.is_whole && is_list(entry.initial) ? SequencePart::Kind::kStack : SequencePart::Kind::kElement;
      sequence.parts.push_back({kind, value, how.is_whole ? &how : nullptr});
    }
    entry.inside = sequence.parts;
    result[name_of(entry)] = std::move(sequence);
  }
  return result;
}

/// What the body gives for one sequence. Fails where it is to be carried in another way, of which `how` is told.
Status CarriedSequences::results_of(Entry& entry, ImportedBody& imported, std::vector<LoopResult>& carried,
                                    std::vector<LoopResult>& stacks) {
  ImportContext inside(cx_.model(), cx_.def(), cx_.opset(), *imported.graph, {}, cx_.state());
  CarriedSequence& how = entry.how;
  const auto found = imported.outputs.sequences.find(1 + entry.c);
  const std::string_view output = body_.outputs[1 + entry.c].name;
  const bool is_tensor = found == imported.outputs.sequences.end();
  if (is_tensor || found->second.kind != entry.initial.kind)
    return error(Code::kUnsupported, "it is ", what_is(entry.initial.kind), " before an iteration and ",
                 is_tensor ? "a tensor" : what_is(found->second.kind), " behind it");
  const std::vector<SequencePart>& parts = found->second.parts;
  const auto carry = [&](ValueId value) { carried.push_back({value, std::string(output)}); };
  if (how.tail != entry.before.tail || how.is_whole != entry.before.is_whole)
    return error(Code::kUnsupported, how.is_whole ? how.why_whole.text : std::string("its last elements are read"));
  if (!is_list(entry.initial)) {
    for (const SequencePart& part : parts) carry(part.value);
    return {};
  }
  if (how.is_whole) {
    if (parts.empty()) return error(Code::kUnsupported, "the body empties it, and then its elements have no shape");
    carry(TRY(stacked(inside, parts, how.why_whole)));
    return require(!entry.initial.parts.empty() || !how.is_element_new(), "what it adds has changed");
  }
  const std::vector<SequencePart>& given = entry.inside;
  if (parts.size() < given.size() || !std::equal(given.begin(), given.end(), parts.begin())) {
    how.is_whole = true;
    how.why_whole = {"the body does more to the sequence than adding elements at its end"};
    return error(Code::kUnsupported, how.why_whole.text);
  }
  const Parts added = Parts(parts).subspan(given.size());
  const sym::Expr count = num_elements(inside, added);
  if (!sym::provably_equal(count, how.appended)) {
    how.is_whole = !is_known_before(count, num_symbols_);
    if (how.is_whole) how.why_whole = {"iterations add different numbers of elements"};
    how.appended = count;
    return error(Code::kUnsupported, "an iteration adds ", count, " elements");
  }
  for (int i = how.tail; i > 0; --i) carry(TRY(element_from_back(inside, parts, i)));
  if (how.joined_axis) return join(inside, entry, added, carried, stacks);
  if (entry.stack < 0) return {};
  TRY(accept_added(inside, entry, added));
  entry.adds_stacks = added.size() != 1 || added[0].kind != SequencePart::Kind::kElement;
  const WholeReason why{"the elements that an iteration adds are stacked"};
  stacks.push_back({entry.adds_stacks ? TRY(stacked(inside, added, why)) : added[0].value, str(output, "/elements")});
  return {};
}

/// Joins what an iteration adds to what was joined before.
Status CarriedSequences::join(ImportContext& inside, const Entry& entry, Parts added, std::vector<LoopResult>& carried,
                              std::vector<LoopResult>& stacks) {
  const int axis = *entry.how.joined_axis;
  const std::vector<ValueId>& inputs = inside.graph().inputs();
  Values joints{inputs[static_cast<size_t>(entry.first_carried + entry.num_carried)]};
  for (const SequencePart& part : added) joints.push_back(TRY(joined(inside, part, axis)));
  carried.push_back({TRY(inside.add(ops::Concatenation{.axis = axis}, joints)), name_of(entry) + "/joined"});
  if (entry.stack >= 0) stacks.push_back({inputs[0], name_of(entry) + "/numbers"});
  return {};
}

/// Fails where the elements that one iteration adds differ in a way that others do not have: then they are to be
/// joined.
Status CarriedSequences::accept_added(ImportContext& inside, Entry& entry, Parts added) {
  const TensorType first = TRY(element_type(inside, added));
  std::set<int> axes;
  for (const SequencePart& part : added) {
    if (part.kind == SequencePart::Kind::kJoined) axes.insert(part.axis);
    const Shape shape = TRY(element_type(inside, Parts(&part, 1))).shape;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const bool are_known =
          is_known_before(shape[axis], num_symbols_) && is_known_before(first.shape[axis], num_symbols_);
      if (!are_known && !sym::provably_equal(shape[axis], first.shape[axis])) axes.insert(static_cast<int>(axis));
    }
  }
  if (axes.size() != 1) return {};
  entry.how.joined_axis = *axes.begin();
  return error(Code::kUnsupported, "an iteration adds elements of different shapes");
}

Result<std::vector<LoopResult>> CarriedSequences::results(ImportedBody& imported, size_t num_carried) {
  std::vector<LoopResult> results, stacks;
  for (size_t c = 0; c < num_carried; ++c) {
    const auto entry = std::ranges::find(entries_, c, &Entry::c);
    if (entry != entries_.end()) {
      const auto where = [&] { return str("carried sequence '", name_of(*entry), "'"); };
      TRY(in_context(results_of(*entry, imported, results, stacks), where));
      continue;
    }
    const ValueId value = imported.outputs.values[1 + c];
    TRY(require(value != ValueId::kNone, "carried value '", body_.inputs[2 + c].name, "' is a tensor before an ",
                "iteration and a sequence or an optional behind it"));
    results.push_back({value, std::string(body_.outputs[1 + c].name)});
  }
  for (size_t i = 1 + num_carried; i < imported.outputs.values.size(); ++i) {
    const std::string_view name = body_.outputs[i].name;
    TRY(require(imported.outputs.values[i] != ValueId::kNone, "output '", name,
                "' is a sequence or an optional; only tensors can be stacked"));
    results.push_back({imported.outputs.values[i], std::string(name)});
  }
  results.insert(results.end(), stacks.begin(), stacks.end());
  return results;
}

Status CarriedSequences::accept(const ir::LoopDraft& loop) const {
  for (const Entry& entry : entries_) {
    const auto where = [&] { return str("carried sequence '", name_of(entry), "'"); };
    if (entry.how.joined_axis && !entry.how.is_whole && entry.stack < 0 && !(loop.is_exact && loop.trips)) {
      entry.how.counts = true;
      return in_context(Status(error(Code::kUnsupported, "how many elements it has is not known")), where);
    }
    if (entry.stack < 0 || entry.how.joined_axis) continue;
    std::set<int> axes;
    for (const DecidedAxis& axis : loop.op.decided)
      if (axis.output == loop.op.carried + entry.stack && axis.axis > 0) axes.insert(axis.axis - 1);
    if (axes.empty()) continue;
    if (axes.size() == 1 && !entry.adds_stacks) entry.how.joined_axis = *axes.begin();
    return in_context(
        Status(error(Code::kUnsupported, "iterations add elements of different shapes",
                     entry.how.seen ? str(" (", *entry.how.seen, ")") : "",
                     "; they may differ in one axis, unless the loop has few iterations, whose number ", "is known")),
        where);
  }
  return {};
}

Result<Sequence> CarriedSequences::after(size_t c, std::span<const ValueId> outputs, const ir::LoopDraft& loop) const {
  const Entry& entry = *std::ranges::find(entries_, c, &Entry::c);
  Sequence result{.parts = {}, .kind = entry.initial.kind};
  const ValueId* carried = outputs.data() + entry.first_carried;
  const auto stack_of = [&](const Entry& of) { return outputs[static_cast<size_t>(loop.op.carried + of.stack)]; };
  if (is_list(entry.initial) && !entry.how.is_whole) result.parts = entry.initial.parts;
  if (!is_list(entry.initial)) {
    for (int i = 0; i < entry.num_carried; ++i) result.append(carried[i]);
  } else if (entry.how.is_whole) {
    result.append_stack(carried[0]);
  } else if (entry.how.joined_axis) {
    const sym::Expr trips = entry.stack < 0 ? *loop.trips : cx_.extent(stack_of(entry), 0);
    result.parts.push_back({.kind = SequencePart::Kind::kJoined,
                            .value = carried[entry.num_carried - 1],
                            .loop = nullptr,
                            .count = entry.how.appended * trips,
                            .axis = *entry.how.joined_axis});
  } else if (entry.stack >= 0) {
    ValueId stack = stack_of(entry);
    Shape shape = cx_.type(stack).shape;
    if (entry.adds_stacks) {
      shape[1] = shape[0] * shape[1];
      shape.erase(shape.begin());
      stack = TRY(reshape(cx_, stack, std::move(shape)));
    }
    result.append_stack(stack);
  }
  return result;
}

}  // namespace kiln::onnx
