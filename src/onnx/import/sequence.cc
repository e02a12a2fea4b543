// Sequences and optionals: lists that are known while a model is imported. What is done to them makes no node.
#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/concatenation.h"

namespace kiln::onnx::importers {
namespace {

constexpr int64_t kMostElements = 1 << 16;  // of a sequence

/// The position that an input names, from the front, in [0, count); `otherwise` where it is left out.
Result<size_t> position(ImportContext& cx, size_t input, int64_t count, int64_t otherwise) {
  int64_t at = otherwise;
  if (cx.has_input(input)) {
    const Ints given = TRY(cx.ints(TRY(cx.input(input)), "the position"));
    TRY(require(given.size() == 1, "the position has ", given.size(), " elements; one is needed"));
    at = given[0] < 0 ? given[0] + count : given[0];
    TRY(require(at >= 0 && at < count, "position ", given[0], " is outside the sequence of ", count));
  }
  return static_cast<size_t>(at);
}

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

}  // namespace

Status sequence_empty(ImportContext& cx) { return cx.output(Sequence{}); }

Status sequence_construct(ImportContext& cx) {
  Sequence sequence;
  for (size_t i = 0; i < cx.num_inputs(); ++i) sequence.elements.push_back(TRY(cx.input(i)));
  return cx.output(std::move(sequence));
}

Status sequence_insert(ImportContext& cx) {
  Sequence sequence = TRY(cx.sequence(0)).get();
  TRY(require(std::ssize(sequence.elements) < kMostElements, "the sequence has ", kMostElements, " elements already"));
  const int64_t count = std::ssize(sequence.elements);
  const size_t at = TRY(position(cx, 2, count + 1, count));
  sequence.elements.insert(sequence.elements.begin() + static_cast<std::ptrdiff_t>(at), TRY(cx.input(1)));
  return cx.output(std::move(sequence));
}

Status sequence_erase(ImportContext& cx) {
  Sequence sequence = TRY(cx.sequence(0)).get();
  const int64_t count = std::ssize(sequence.elements);
  TRY(require(count > 0, "the sequence is empty"));
  sequence.elements.erase(sequence.elements.begin() +
                          static_cast<std::ptrdiff_t>(TRY(position(cx, 1, count, count - 1))));
  return cx.output(std::move(sequence));
}

Status sequence_at(ImportContext& cx) {
  const Sequence& sequence = TRY(cx.sequence(0));
  TRY(cx.input(1));  // its position
  return cx.output(sequence.elements[TRY(position(cx, 1, std::ssize(sequence.elements), 0))]);
}

Status sequence_length(ImportContext& cx) {
  const int64_t count = std::ssize(TRY(cx.sequence(0)).get().elements);
  return cx.output(TRY(scalar_value(cx, count)));
}

Status split_to_sequence(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const int axis = TRY(cx.axis(TRY(cx.node().get_int("axis", 0)), cx.rank(x)));
  const auto [parts, are_slices] = TRY(parts_of(cx, cx.extent(x, axis)));
  const bool drops_axis = are_slices && TRY(cx.node().get_int("keepdims", 1)) == 0;
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
    sequence.elements.push_back(drops_axis ? TRY(reshape(cx, element, std::move(without))) : element);
    start += part;
  }
  return cx.output(std::move(sequence));
}

Status concat_from_sequence(ImportContext& cx) {
  Values elements = TRY(cx.sequence(0)).get().elements;
  TRY(require(!elements.empty(), "the sequence is empty: its elements have no shape"));
  const bool is_new = TRY(cx.node().get_int("new_axis", 0)) != 0;
  const int axis = TRY(cx.axis(TRY(cx.node().need_int("axis")), cx.rank(elements[0]) + int{is_new}));
  if (is_new)
    for (ValueId& element : elements) element = TRY(unsqueeze(cx, element, {axis}));
  return cx.output(TRY(cx.add(ops::Concatenation{.axis = axis}, elements)));
}

/// An optional without an input is empty; its type is the attribute's.
Status optional(ImportContext& cx) {
  if (cx.is_sequence(0)) return error(Code::kUnsupported, "an optional of a sequence is not supported");
  Sequence held;
  if (cx.has_input(0)) held.elements.push_back(TRY(cx.input(0)));
  return cx.output(std::move(held));
}

/// Since opset 18 a tensor counts as an optional that has it.
Status optional_get_element(ImportContext& cx) {
  if (!cx.is_sequence(0)) return cx.output(TRY(cx.input(0)));
  const Sequence& held = TRY(cx.sequence(0));
  TRY(require(held.elements.size() == 1, "the optional has no element"));
  return cx.output(held.elements[0]);
}

Status optional_has_element(ImportContext& cx) {
  const bool has = cx.is_sequence(0) ? !TRY(cx.sequence(0)).get().elements.empty() : cx.has_input(0);
  return cx.output(cx.add_constant(HostTensor::of_ints(DType::kBool, {}, Ints{has})));
}

}  // namespace kiln::onnx::importers
