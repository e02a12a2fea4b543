#include "onnx/import/sequences.h"

#include <algorithm>

#include "ops/concatenation.h"
#include "ops/gather.h"
#include "ops/squeeze.h"
#include "ops/transpose.h"

namespace kiln::onnx {
namespace {

using Kind = SequencePart::Kind;

sym::Expr length_of(ImportContext& cx, const SequencePart& part) {
  switch (part.kind) {
    case Kind::kElement: return 1;
    case Kind::kStack: return cx.extent(part.value, 0);
    case Kind::kGathered:
    case Kind::kJoined: return part.count;
  }
  return 0;
}

TensorType element_type(ImportContext& cx, const SequencePart& part) {
  const TensorType& type = cx.type(part.value);
  const int skipped = part.kind == Kind::kStack ? 1 : 0;
  return {type.dtype, Shape(type.shape.begin() + skipped, type.shape.end())};
}

/// Tells the loop that gathers these elements that all of them are needed within it.
Error need_whole(const ImportContext& cx, const SequencePart& part, const WholeReason& why) {
  part.loop->is_whole = true;
  // A loop within, which is carried through this one, has named its node.
  part.loop->why_whole = why.names_node ? why : WholeReason{str(cx.def(), ": ", why.text), true};
  return {Code::kUnsupported, str(why.text, ", and a loop around has not gathered them all yet")};
}

/// What is said where elements that are joined would be told apart.
Error only_joined(const SequencePart& part) {
  return {Code::kUnsupported, str("a loop has made elements of the sequence that differ in axis ", part.axis,
                                  ": they can be joined along it, and nothing else can be done with them")};
}

/// The part in which an element stands, and its place in there.
struct Place {
  size_t part;
  sym::Expr offset;
};
/// Nothing where the import cannot tell.
std::optional<Place> find_element(ImportContext& cx, Parts parts, sym::Expr at) {
  sym::Expr start = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const sym::Expr end = start + length_of(cx, parts[i]);
    if (sym::provably_less_equal(start, at) && sym::provably_less(at, end)) return Place{i, at - start};
    start = end;
  }
  return std::nullopt;
}

Result<ValueId> slice_of(ImportContext& cx, ValueId stack, sym::Expr at) {
  const ValueId one = TRY(slice(cx, stack, {{at}, {1}, {1}, {0}}));
  return cx.add(ops::Squeeze{{0}}, {one});
}

}  // namespace

sym::Expr num_elements(ImportContext& cx, Parts parts) {
  sym::Expr count = 0;
  for (const SequencePart& part : parts) count += length_of(cx, part);
  return count;
}

Result<TensorType> element_type(ImportContext& cx, Parts parts) {
  std::optional<TensorType> first;
  for (const SequencePart& part : parts) {
    if (part.kind == Kind::kGathered) continue;
    const TensorType type = element_type(cx, part);
    if (!first) first = type;
    TRY(require(type.dtype == first->dtype && type.rank() == first->rank(), "the sequence has elements of ", *first,
                " and of ", type, "; one type and rank is needed"));
  }
  TRY(require(first.has_value(), "the sequence is empty: its elements have no shape"));
  return *std::move(first);
}

Result<ValueId> stacked(ImportContext& cx, Parts parts, const WholeReason& why) {
  for (const SequencePart& part : parts) {
    if (part.kind == Kind::kGathered) return std::unexpected(need_whole(cx, part, why));
    if (part.kind == Kind::kJoined) return std::unexpected(only_joined(part));
  }
  const TensorType first = TRY(element_type(cx, parts));
  Values stacks;
  for (const SequencePart& part : parts) {
    const TensorType type = element_type(cx, part);
    for (size_t axis = 0; axis < type.shape.size(); ++axis)
      if (sym::provably_different(type.shape[axis], first.shape[axis]))
        return error(Code::kUnsupported, why.text, ", which are of different shapes: ", first, " and ", type);
    stacks.push_back(part.kind == Kind::kElement ? TRY(unsqueeze(cx, part.value, {0})) : part.value);
  }
  if (stacks.size() == 1) return stacks[0];
  return cx.add(ops::Concatenation{.axis = 0}, stacks);
}

Result<ValueId> joined(ImportContext& cx, const SequencePart& part, int axis) {
  if (part.kind == Kind::kElement) return part.value;
  if (part.kind == Kind::kJoined && part.axis != axis) return std::unexpected(only_joined(part));
  if (part.kind == Kind::kJoined) return part.value;
  const ValueId x = TRY(transpose(cx, part.value, front_to_axis(cx.rank(part.value), axis)));
  Shape shape = cx.type(x).shape;
  const auto at = static_cast<size_t>(axis);
  shape[at] = shape[at] * shape[at + 1];
  shape.erase(shape.begin() + axis + 1);
  return reshape(cx, x, std::move(shape));
}

Result<ValueId> nothing(ImportContext& cx, DType dtype, Shape shape) {
  return expand(cx, scalar_of(cx, 0, dtype, static_cast<int>(shape.size())), std::move(shape));
}

Result<ValueId> empty_stack(ImportContext& cx, const TensorType& element) {
  Shape shape = element.shape;
  shape.insert(shape.begin(), 0);
  return nothing(cx, element.dtype, std::move(shape));
}

Result<SequencePosition> position_of(ImportContext& cx, size_t input, sym::Expr count, sym::Expr last) {
  SequencePosition result{.value = TRY(cx.input(input))};
  const TensorType& type = cx.type(result.value);
  TRY(require(is_index(type.dtype) && !sym::provably_different(type.volume(), 1), "the position is ", type,
              "; a single integer is needed"));
  const auto values = cx.values(result.value, "");
  if (!values) return result;
  const sym::Expr given = (*values)[0];
  const bool is_negative = sym::provably_less(given, 0), is_positive = sym::provably_less_equal(0, given);
  if (!is_negative && !is_positive) return result;
  const sym::Expr at = is_negative ? given + count : given;
  TRY(require(!sym::provably_less(at, 0) && !sym::provably_less(last, at), "position ", given,
              " is outside the sequence of ", count));
  result.from_front = at;
  return result;
}

Result<ValueId> element_at(ImportContext& cx, Parts parts, const SequencePosition& at) {
  if (at.from_front)
    if (const auto place = find_element(cx, parts, *at.from_front)) {
      const SequencePart& part = parts[place->part];
      if (part.kind == Kind::kElement) return part.value;
      if (part.kind == Kind::kStack) return slice_of(cx, part.value, place->offset);
      if (part.kind == Kind::kJoined) return std::unexpected(only_joined(part));
      const sym::Expr distance = length_of(cx, part) - place->offset;  // from the end of what is gathered
      const sym::Expr tail = distance + part.loop->given_tail;
      const bool is_near = tail.is_const() && tail.value() <= CarriedSequence::kLongestTail;
      if (is_near && sym::provably_less_equal(tail, part.loop->initial)) {
        part.loop->tail = std::max(part.loop->tail, static_cast<int>(tail.value()));
        return error(Code::kUnsupported, "an earlier element of a sequence is read in the loop that gathers it");
      }
    }
  const ValueId stack = TRY(stacked(cx, parts, {"a position chooses among all elements"}));
  const ValueId scalar = TRY(reshape(cx, at.value, {}));
  return cx.add(ops::Gather{GatherMode::kDefault, 0, 0}, {stack, scalar});
}

Result<ValueId> element_from_back(ImportContext& cx, Parts parts, int64_t distance) {
  const sym::Expr count = num_elements(cx, parts);
  const ValueId value = TRY(scalar_value(cx, -distance));
  return element_at(cx, parts, {value, count - distance});
}

Result<std::pair<Sequence, Sequence>> cut_at(ImportContext& cx, const Sequence& sequence, sym::Expr position) {
  sym::Expr start = 0;
  Sequence front, back;
  for (const SequencePart& part : sequence.parts) {
    const sym::Expr length = length_of(cx, part), end = start + length;
    // A position is not in front of the first part or behind the last one: the slices are checked when extents are
    // known.
    const bool is_behind_start = &part == &sequence.parts.front() || sym::provably_less_equal(start, position);
    const bool is_before_end = &part == &sequence.parts.back() || sym::provably_less_equal(position, end);
    if (sym::provably_less_equal(end, position)) {
      front.parts.push_back(part);
    } else if (sym::provably_less_equal(position, start)) {
      back.parts.push_back(part);
    } else if (part.kind == Kind::kJoined) {
      return std::unexpected(only_joined(part));
    } else if (part.kind == Kind::kGathered) {
      return std::unexpected(need_whole(cx, part, {str("the sequence is cut at position ", position)}));
    } else if (is_behind_start && is_before_end) {
      const sym::Expr here = position - start;
      front.append_stack(TRY(slice(cx, part.value, {{0}, {here}, {1}, {0}})));
      back.append_stack(TRY(slice(cx, part.value, {{here}, {length - here}, {1}, {0}})));
    } else {
      return error(Code::kUnsupported, "position ", position, " in a sequence of ", num_elements(cx, sequence.parts),
                   " elements: in which part of it this is must be known before the network runs");
    }
    start = end;
  }
  return std::pair(std::move(front), std::move(back));
}

bool is_known_before(sym::Expr e, size_t num_symbols) {
  std::vector<sym::Expr> symbols;
  sym::collect_symbols(e, symbols);
  return std::ranges::all_of(symbols,
                             [&](sym::Expr symbol) { return static_cast<size_t>(symbol.symbol_id()) < num_symbols; });
}

bool is_known_before(const Shape& shape, size_t num_symbols) {
  return std::ranges::all_of(shape, [&](sym::Expr extent) { return is_known_before(extent, num_symbols); });
}

}  // namespace kiln::onnx
