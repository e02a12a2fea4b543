#include "ops/einsum.h"

#include <algorithm>
#include <map>

#include "ops/define.h"
#include "ops/movement.h"

namespace kiln {
template const OpInfo& op_info<ops::Einsum>();

namespace {

constexpr std::string_view kEllipsisDigits = "76543210";  // as many axes as a tensor may have
bool is_hidden(char label) { return label <= '9'; }

/// The labels of a term of `rank` axes: "...ij" of four axes is "10ij".
Result<std::string> expand_term(std::string_view term, int rank) {
  const size_t dots = term.find("...");
  const auto named = static_cast<int>(term.size()) - (dots == std::string_view::npos ? 0 : 3);
  const int hidden = rank - named;
  TRY(require(dots == std::string_view::npos ? hidden == 0 : hidden >= 0 && hidden <= kMaxRank, "term '", term,
              "' has ", named, " letters; the operand has ", rank, " axes"));
  std::string labels(term);
  if (dots != std::string_view::npos)
    labels.replace(dots, 3, kEllipsisDigits.substr(kEllipsisDigits.size() - static_cast<size_t>(hidden)));
  return labels;
}

std::string implicit_output(const std::vector<std::string>& inputs) {
  std::string all, once;
  for (const std::string& labels : inputs) all += labels;
  for (const char label : all)
    if (std::ranges::count(all, label) == 1 || (is_hidden(label) && !once.contains(label))) once += label;
  std::ranges::sort(once, [](char a, char b) {
    return is_hidden(a) != is_hidden(b) ? is_hidden(a) : is_hidden(a) ? a > b : a < b;
  });
  return once;
}

}  // namespace

Result<EinsumEquation> EinsumEquation::parse(std::string_view given, std::span<const int> ranks) {
  std::string text(given);
  std::erase(text, ' ');
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  for (const char c : text)
    TRY(require(is_letter(c) || std::string_view(",.->").contains(c), "equation '", text, "' has '", c,
                "'; labels are letters"));
  const size_t arrow = text.find("->");
  std::string_view terms = std::string_view(text).substr(0, arrow);
  EinsumEquation equation;
  std::string hidden;  // of the operand that has most under its ellipsis
  for (size_t i = 0; i < ranks.size(); ++i) {
    const size_t comma = terms.find(',');
    TRY(require((comma == std::string_view::npos) == (i + 1 == ranks.size()), "equation '", text, "' does not fit ",
                ranks.size(), " operands"));
    equation.inputs.push_back(TRY(expand_term(terms.substr(0, comma), ranks[i])));
    std::string digits = equation.inputs.back();
    std::erase_if(digits, [](char label) { return !is_hidden(label); });
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
                    std::ranges::any_of(equation.inputs, [&](const std::string& in) { return in.contains(label); }),
                "label '", label, "' of the output of '", text, "' must be there once, and in an operand"));
  return equation;
}

namespace ops {

Status Einsum::infer(InferContext& cx) const {
  std::vector<int> ranks;
  for (int i = 0; i < cx.num_inputs(); ++i) {
    const TensorType& x = TRY(cx.input(i));
    TRY(cx.require(x.dtype != DType::kBool && x.dtype == TRY(cx.input(0)).get().dtype, "operand ", i, " is ", x,
                   "; numbers of one type are needed"));
    ranks.push_back(x.rank());
  }
  const EinsumEquation parsed = TRY(EinsumEquation::parse(equation, ranks));
  std::map<char, sym::Expr> extents;
  for (int i = 0; i < cx.num_inputs(); ++i) {
    const TensorType& x = TRY(cx.input(i));
    for (size_t axis = 0; axis < x.shape.size(); ++axis) {
      const char label = parsed.inputs[static_cast<size_t>(i)][axis];
      const auto [at, is_new] = extents.emplace(label, x.shape[axis]);
      if (is_new) continue;
      const std::string why = str("axes '", label, "' of '", equation, "'");
      const bool is_summed = !parsed.output.contains(label);  // only a run knows which of two symbols is 1
      if (is_summed && at->second.constant() != 1 && x.shape[axis].constant() != 1)
        TRY(cx.assume_equal(at->second, x.shape[axis], why));
      else
        at->second = TRY(cx.broadcast(at->second, x.shape[axis], why));
    }
  }
  kiln::Shape shape;
  for (const char label : parsed.output) shape.push_back(extents.at(label));
  return cx.set_output(0, TensorType(TRY(cx.input(0)).get().dtype, std::move(shape)));
}

Status Einsum::reference(ReferenceContext& cx) const {
  const MutableView y = TRY(cx.output(0));
  std::vector<View> inputs;
  std::vector<int> ranks;
  for (int i = 0; i < cx.num_inputs(); ++i) {
    inputs.push_back(TRY(cx.input(i)));
    ranks.push_back(inputs.back().rank());
  }
  const EinsumEquation parsed = TRY(EinsumEquation::parse(equation, ranks));
  std::string labels = parsed.output;  // the output's first: its index counts rows
  for (const std::string& input : parsed.inputs)
    for (const char label : input)
      if (!labels.contains(label)) labels += label;
  Extents extents(labels.size(), 1);
  std::vector<Extents> strides(inputs.size(), Extents(labels.size(), 0));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Extents own = row_major_strides(inputs[i].extents());
    for (size_t axis = 0; axis < own.size(); ++axis) {
      const size_t at = labels.find(parsed.inputs[i][axis]);
      extents[at] = std::max(extents[at], inputs[i].extents()[axis]);
      if (inputs[i].extents()[axis] == 0) extents[at] = 0;
      if (inputs[i].extents()[axis] != 1) strides[i][at] += own[axis];
    }
  }
  const size_t kept = parsed.output.size();
  const bool floats = is_float(y.dtype());
  for_each_index(std::span(extents).first(kept), [&](int64_t to, std::span<const int64_t> outer) {
    double sum = 0;
    uint64_t whole = 0;
    for_each_index(std::span(extents).subspan(kept), [&](int64_t, std::span<const int64_t> inner) {
      double product = 1;
      uint64_t factor = 1;
      for (size_t i = 0; i < inputs.size(); ++i) {
        int64_t at = 0;
        for (size_t k = 0; k < labels.size(); ++k) at += strides[i][k] * (k < kept ? outer[k] : inner[k - kept]);
        if (floats)
          product *= inputs[i][at];
        else
          factor *= static_cast<uint64_t>(inputs[i].integer(at));
      }
      sum += product;
      whole += factor;
    });
    floats ? y.set(to, sum) : y.set_integer(to, static_cast<int64_t>(whole));
  });
  return {};
}

}  // namespace ops
}  // namespace kiln
