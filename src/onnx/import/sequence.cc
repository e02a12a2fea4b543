// Sequences: lists of tensors, and stacks that loops make, of which the import knows what is where. What is done to
// them makes few nodes or none.
#include <algorithm>

#include "onnx/import/importers.h"
#include "onnx/import/sequences.h"
#include "ops/concatenation.h"
#include "ops/expand.h"
#include "ops/transpose.h"
#include "tensor/view.h"

namespace kiln::onnx::importers {
namespace {

constexpr int64_t kMostElements = 1 << 16;  // of a sequence

/// The extents of the parts that SplitToSequence makes, and whether each is one slice whose axis may go.
Result<std::pair<SymbolicValues, bool>> parts_of(ImportContext& cx, sym::Expr extent) {
  const bool is_given = cx.has_input(1), is_list = is_given && cx.rank(TRY(cx.input(1))) > 0;
  if (is_list) return std::pair(TRY(cx.values(TRY(cx.input(1)), "split")), false);
  TRY(require(extent.is_const(), "the axis has extent ", extent, "; how many parts there are must be known"));
  const Ints given = is_given ? TRY(cx.ints(TRY(cx.input(1)), "split")) : Ints{1};
  TRY(require(given.size() == 1 && given[0] > 0, "split is ", given, "; a positive number is needed"));
  const int64_t count = extent.value() / given[0] + (extent.value() % given[0] != 0);
  TRY(require(count <= kMostElements, "there would be ", count, " parts; at most ", kMostElements, " are possible"));
  SymbolicValues parts(static_cast<size_t>(count), given[0]);
  if (count > 0) parts.back() = extent - given[0] * (count - 1);
  return std::pair(std::move(parts), !is_given);
}

/// Whether each part is one slice: the split is left out, a 1, or a list of ones that is as long as the axis.
Result<bool> is_by_ones(ImportContext& cx, sym::Expr extent) {
  if (!cx.has_input(1)) return true;
  const ValueId split = TRY(cx.input(1));
  if (cx.rank(split) == 0) return TRY(cx.ints(split, "split")) == Ints{1};
  if (!cx.graph().producer_as<ops::Expand>(split)) return false;
  const HostTensor* element = cx.graph().constant(cx.graph().node(cx.graph().value(split).producer).inputs[0]);
  if (!element || element->volume() != 1 || View(*element)[0] != 1) return false;
  // Exporters call the extents of two inputs by two names: whether they are equal, the run says.
  TRY(require_equal(cx, cx.extent(split, 0), extent, "parts of one and elements of the axis"));
  return true;
}

/// An axis of unknown extent, slice by slice: a stack.
Result<Sequence> slices_of(ImportContext& cx, ValueId x, int axis, bool drops_axis) {
  ValueId stack = TRY(transpose(cx, x, axis_to_front(cx.rank(x), axis)));
  if (!drops_axis) stack = TRY(unsqueeze(cx, stack, {axis + 1}));
  Sequence result;
  result.append_stack(stack);
  return result;
}

/// Remembers what loops around add to their sequence.
void note_element(ImportContext& cx, const Sequence& sequence, ValueId element) {
  for (const SequencePart& part : sequence.parts)
    if (part.loop && !part.loop->seen) part.loop->seen = TensorType(cx.dtype(element), cx.type(element).shape);
}

/// Fails the run where a position is outside of [0, last]. Slices of stacks would say so of their extents.
Status assert_within(ImportContext& cx, sym::Expr at, sym::Expr last) {
  const sym::Expr is_within = sym::min(sym::less(-1, at), sym::less(at, last + 1));
  return assert_true(cx, is_within, "the position is within the sequence");
}

}  // namespace

Status sequence_empty(ImportContext& cx) {
  cx.node().pass_over("dtype");  // elements that are inserted bring their type
  return cx.output(Sequence{});
}

Status sequence_construct(ImportContext& cx) {
  Sequence sequence;
  for (size_t i = 0; i < cx.num_inputs(); ++i) sequence.append(TRY(cx.input(i)));
  return cx.output(std::move(sequence));
}

Status sequence_insert(ImportContext& cx) {
  Sequence sequence = TRY(cx.sequence(0)).get();
  const ValueId element = TRY(cx.input(1));
  TRY(require(std::ssize(sequence.parts) < kMostElements, "the sequence has ", kMostElements, " elements already"));
  note_element(cx, sequence, element);
  if (!cx.has_input(2)) {
    sequence.append(element);
    return cx.output(std::move(sequence));
  }
  const sym::Expr count = num_elements(cx, sequence.parts);
  const SequencePosition at = TRY(position_of(cx, 2, count, count));
  if (!at.from_front) return error(Code::kUnsupported, "the position must be known before the network runs");
  TRY(assert_within(cx, *at.from_front, count));
  auto [result, back] = TRY(cut_at(cx, sequence, *at.from_front));
  result.append(element);
  result.parts.insert(result.parts.end(), back.parts.begin(), back.parts.end());
  return cx.output(std::move(result));
}

Status sequence_erase(ImportContext& cx) {
  const Sequence sequence = TRY(cx.sequence(0)).get();
  const sym::Expr count = num_elements(cx, sequence.parts);
  TRY(require(!sym::provably_equal(count, 0), "the sequence is empty"));
  SequencePosition at{.value = ValueId::kNone, .from_front = count - 1};
  if (cx.has_input(1)) at = TRY(position_of(cx, 1, count, count - 1));
  if (!at.from_front) return error(Code::kUnsupported, "the position must be known before the network runs");
  TRY(assert_within(cx, *at.from_front, count - 1));
  auto [result, rest] = TRY(cut_at(cx, sequence, *at.from_front));
  const auto [erased, back] = TRY(cut_at(cx, rest, 1));
  result.parts.insert(result.parts.end(), back.parts.begin(), back.parts.end());
  return cx.output(std::move(result));
}

Status sequence_at(ImportContext& cx) {
  const Sequence& sequence = TRY(cx.sequence(0));
  const sym::Expr count = num_elements(cx, sequence.parts);
  const SequencePosition at = TRY(position_of(cx, 1, count, count - 1));
  return cx.output(TRY(element_at(cx, sequence.parts, at)));
}

Status sequence_length(ImportContext& cx) {
  return cx.output(TRY(scalar_value(cx, num_elements(cx, TRY(cx.sequence(0)).get().parts))));
}

Status split_to_sequence(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const int axis = TRY(cx.axis(TRY(cx.node().get_int("axis", 0)), cx.rank(x)));
  const bool keeps = TRY(cx.node().get_int("keepdims", 1)) != 0;
  if (!cx.extent(x, axis).is_const() && TRY(is_by_ones(cx, cx.extent(x, axis))))
    return cx.output(TRY(slices_of(cx, x, axis, !keeps && !cx.has_input(1))));
  const auto [parts, are_slices] = TRY(parts_of(cx, cx.extent(x, axis)));
  TRY(require(std::ssize(parts) <= kMostElements, "split has ", parts.size(), " parts; at most ", kMostElements,
              " are possible"));
  Sequence sequence;
  sym::Expr start = 0;
  for (const sym::Expr& part : parts) start += part;
  TRY(require(!sym::provably_different(start, cx.extent(x, axis)), "split is of ", start, "; the axis has ",
              cx.extent(x, axis)));
  start = 0;
  for (const sym::Expr& part : parts) {
    ValueId element = TRY(slice(cx, x, {{start}, {part}, {1}, {axis}}));
    Shape without = cx.type(element).shape;
    without.erase(without.begin() + axis);
    sequence.append(are_slices && !keeps ? TRY(reshape(cx, element, std::move(without))) : element);
    start += part;
  }
  return cx.output(std::move(sequence));
}

Status concat_from_sequence(ImportContext& cx) {
  const std::vector<SequencePart> parts = TRY(cx.sequence(0)).get().parts;
  const auto gathered = std::ranges::find(parts, SequencePart::Kind::kGathered, &SequencePart::kind);
  const bool is_new = TRY(cx.node().get_int("new_axis", 0)) != 0;
  const auto is_joined = [](const SequencePart& part) { return part.kind == SequencePart::Kind::kJoined; };
  if (gathered != parts.end() || (is_new && std::ranges::any_of(parts, is_joined)))
    TRY(stacked(cx, parts, {"it reads all elements"}));  // says what is wrong, and tells a loop around
  const int rank = TRY(element_type(cx, parts)).rank();
  const int axis = TRY(cx.axis(TRY(cx.node().need_int("axis")), rank + int{is_new}));
  Values joints;
  for (const SequencePart& part : parts) {
    if (!is_new)
      joints.push_back(TRY(joined(cx, part, axis)));
    else if (part.kind == SequencePart::Kind::kElement)
      joints.push_back(TRY(unsqueeze(cx, part.value, {axis})));
    else
      joints.push_back(TRY(transpose(cx, part.value, front_to_axis(rank + 1, axis))));
  }
  return cx.output(joints.size() == 1 ? joints[0] : TRY(cx.add(ops::Concatenation{.axis = axis}, joints)));
}

}  // namespace kiln::onnx::importers
