/// What importers do with sequences: lists of elements and stacks of them.
#pragma once

#include <span>

#include "onnx/import/compose.h"

namespace kiln::onnx {

using Parts = std::span<const SequencePart>;

/// How many elements there are.
sym::Expr num_elements(ImportContext& cx, Parts parts);
/// The type of the elements if all have one rank; extents in which they differ are those of the first.
Result<TensorType> element_type(ImportContext& cx, Parts parts);
/// All elements along a new axis 0. Fails where their shapes differ, or where a loop around has more of them: then it
/// is told why they are needed.
Result<ValueId> stacked(ImportContext& cx, Parts parts, const WholeReason& why);
/// A part as a concatenation along an axis of its elements has it.
Result<ValueId> joined(ImportContext& cx, const SequencePart& part, int axis);
/// Zeros of a shape without elements.
Result<ValueId> nothing(ImportContext& cx, DType dtype, Shape shape);
/// No elements of a type, along a new axis 0.
Result<ValueId> empty_stack(ImportContext& cx, const TensorType& element);

/// A position in a sequence as a node gives it: it counts from the back where it is negative.
struct SequencePosition {
  ValueId value = ValueId::kNone;         ///< single integer
  std::optional<sym::Expr> from_front{};  ///< where the import knows it
};
/// The position that an input of the node names, in a sequence of `count` elements. Fails where it is outside of
/// [0, last].
Result<SequencePosition> position_of(ImportContext& cx, size_t input, sym::Expr count, sym::Expr last);
/// The element at a position.
Result<ValueId> element_at(ImportContext& cx, Parts parts, const SequencePosition& at);
/// The element so far from the back: 1 is the last one.
Result<ValueId> element_from_back(ImportContext& cx, Parts parts, int64_t distance);
/// The sequence cut in two in front of a position, which must be known.
Result<std::pair<Sequence, Sequence>> cut_at(ImportContext& cx, const Sequence& sequence, sym::Expr position);

/// Whether an expression reads none but the first symbols of its table: those that there were before a body.
bool is_known_before(sym::Expr e, size_t num_symbols);
bool is_known_before(const Shape& shape, size_t num_symbols);

}  // namespace kiln::onnx
