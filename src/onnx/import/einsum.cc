#include <algorithm>

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/matrix_multiply.h"

namespace kiln::onnx::importers {
namespace {

/// Axes by letter, in order. Axes under an ellipsis are digits, counted from the last, so that they align at the right.
using Labels = std::string;

struct Equation {
  std::vector<Labels> inputs;
  Labels output;
};

/// A value whose axes have labels, each once.
struct Labelled {
  ValueId value;
  Labels labels;
};

constexpr std::string_view kEllipsisDigits = "76543210";  // as many axes as a tensor may have

/// The labels of a term of `rank` axes: "...ij" of four axes is "10ij".
Result<Labels> expand_term(std::string_view term, int rank) {
  const size_t dots = term.find("...");
  const auto named = static_cast<int>(term.size()) - (dots == std::string_view::npos ? 0 : 3);
  const int hidden = rank - named;
  TRY(require(dots == std::string_view::npos ? hidden == 0 : hidden >= 0 && hidden <= kMaxRank, "term '", term,
              "' has ", named, " letters; the operand has ", rank, " axes"));
  Labels labels(term);
  if (dots != std::string_view::npos)
    labels.replace(dots, 3, kEllipsisDigits.substr(kEllipsisDigits.size() - static_cast<size_t>(hidden)));
  return labels;
}

/// Without "->" the output has the ellipsis, then the letters that occur once, by the alphabet.
Labels implicit_output(const std::vector<Labels>& inputs) {
  Labels all, once;
  for (const Labels& labels : inputs) all += labels;
  for (const char label : all)
    if (std::ranges::count(all, label) == 1 || (label <= '9' && once.find(label) == Labels::npos)) once += label;
  std::ranges::sort(once, [](char a, char b) {
    const bool hidden_a = a <= '9', hidden_b = b <= '9';
    return hidden_a != hidden_b ? hidden_a : hidden_a ? a > b : a < b;
  });
  return once;
}

Result<Equation> parse(ImportContext& cx) {
  std::string text(TRY(cx.node().need_string("equation")));
  std::erase(text, ' ');
  TRY(require(std::ranges::none_of(text, [](char c) { return c >= '0' && c <= '9'; }), "equation '", text,
              "' has digits; labels are letters"));
  const size_t arrow = text.find("->");
  std::string_view terms = std::string_view(text).substr(0, arrow);
  Equation equation;
  Labels hidden;  // of the operand that has most under its ellipsis
  for (size_t i = 0; i < cx.num_inputs(); ++i) {
    const size_t comma = terms.find(',');
    TRY(require((comma == std::string_view::npos) == (i + 1 == cx.num_inputs()), "equation '", text, "' does not fit ",
                cx.num_inputs(), " operands"));
    equation.inputs.push_back(TRY(expand_term(terms.substr(0, comma), cx.rank(TRY(cx.input(i))))));
    Labels digits = equation.inputs.back();
    std::erase_if(digits, [](char label) { return label > '9'; });
    if (digits.size() > hidden.size()) hidden = digits;
    terms.remove_prefix(comma == std::string_view::npos ? terms.size() : comma + 1);
  }
  if (arrow == std::string::npos) {
    equation.output = implicit_output(equation.inputs);
    return equation;
  }
  equation.output = text.substr(arrow + 2);
  if (const size_t dots = equation.output.find("..."); dots != std::string::npos)
    equation.output.replace(dots, 3, hidden);
  for (const char label : equation.output)
    TRY(require(std::ranges::count(equation.output, label) == 1 &&
                    std::ranges::any_of(equation.inputs, [&](const Labels& in) { return in.contains(label); }),
                "label '", label, "' of the output of '", text, "' must be there once, and in an operand"));
  return equation;
}

/// x with the axes `order` in that order; labels that x lacks get extent 1.
Result<ValueId> arranged(ImportContext& cx, const Labelled& x, const Labels& order) {
  Ints perm, added;
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t at = x.labels.find(order[i]);
    if (at == Labels::npos)
      added.push_back(static_cast<int64_t>(i));
    else
      perm.push_back(static_cast<int64_t>(at));
  }
  const ValueId moved = TRY(transpose(cx, x.value, std::move(perm)));
  return added.empty() ? moved : unsqueeze(cx, moved, std::move(added));
}

/// x summed over the labels that nobody else needs.
Result<Labelled> without(ImportContext& cx, Labelled x, const Labels& needed) {
  Ints gone;
  Labels kept;
  for (size_t i = 0; i < x.labels.size(); ++i) {
    if (needed.contains(x.labels[i]))
      kept += x.labels[i];
    else
      gone.push_back(static_cast<int64_t>(i));
  }
  if (gone.empty()) return x;
  return Labelled{TRY(reduce(cx, ReduceKind::kSum, x.value, std::move(gone), false)), kept};
}

sym::Expr extent_of(ImportContext& cx, const Labelled& x, const Labels& labels) {
  sym::Expr product = 1;
  for (const char label : labels) product *= cx.extent(x.value, static_cast<int>(x.labels.find(label)));
  return product;
}

/// The product of two operands, summed over what `needed` lacks, as one matrix product: labels of both that stay count
/// batches, those of both that go are summed over, the rest are rows and columns.
Result<Labelled> contract(ImportContext& cx, const Labelled& a, const Labelled& b, const Labels& needed) {
  Labels batch, inner, rows, columns;
  for (const char label : a.labels) {
    const bool shared = b.labels.contains(label);
    (!shared ? rows : needed.contains(label) ? batch : inner) += label;
  }
  for (const char label : b.labels)
    if (!a.labels.contains(label)) columns += label;
  const auto shape_of = [&](const Labelled& x, const Labels& labels) {
    Shape shape;
    for (const char label : labels) shape.push_back(extent_of(cx, x, Labels(1, label)));
    return shape;
  };
  Shape left = shape_of(a, batch), right = shape_of(b, batch);
  left.push_back(extent_of(cx, a, rows));
  left.push_back(extent_of(cx, a, inner));
  right.push_back(extent_of(cx, b, inner));
  right.push_back(extent_of(cx, b, columns));
  const ValueId l = TRY(reshape(cx, TRY(arranged(cx, a, batch + rows + inner)), left));
  const ValueId r = TRY(reshape(cx, TRY(arranged(cx, b, batch + inner + columns)), right));
  const ValueId product = TRY(cx.add(ops::MatrixMultiply{}, {l, r}));
  const Shape& batches = cx.type(product).shape;  // an extent of 1 repeats
  Shape result(batches.begin(), batches.begin() + static_cast<ptrdiff_t>(batch.size()));
  for (const sym::Expr& e : shape_of(a, rows)) result.push_back(e);
  for (const sym::Expr& e : shape_of(b, columns)) result.push_back(e);
  return Labelled{TRY(reshape(cx, product, result)), batch + rows + columns};
}

}  // namespace

Status einsum(ImportContext& cx) {
  const Equation equation = TRY(parse(cx));
  Labelled y{};
  for (size_t i = 0; i < equation.inputs.size(); ++i) {
    const Labels& own = equation.inputs[i];
    for (const char label : own)
      if (std::ranges::count(own, label) > 1)
        return error(Code::kUnsupported, "label '", label, "' is twice in an operand of '",
                     TRY(cx.node().need_string("equation")), "': diagonals are not supported");
    Labels later = equation.output;  // labels that are needed beyond this operand
    for (size_t k = i + 1; k < equation.inputs.size(); ++k) later += equation.inputs[k];
    Labelled x = TRY(without(cx, {cx.inputs()[i], own}, later + y.labels));
    y = i == 0 ? x : TRY(contract(cx, TRY(without(cx, y, later + x.labels)), x, later));
  }
  y = TRY(without(cx, y, equation.output));
  return cx.output(TRY(arranged(cx, y, equation.output)));
}

}  // namespace kiln::onnx::importers
