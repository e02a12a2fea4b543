#include "ops/testing/symbolic.h"

#include "ops/reference_context.h"

namespace kiln {

std::string inferred(const Op& op, const std::vector<TensorType>& inputs, sym::Table& table) {
  std::vector<InferInput> types;
  for (const TensorType& type : inputs) types.push_back({&type, nullptr});
  std::vector<sym::Assumption> assumptions;
  const auto outputs = infer_types(op, types, table, &assumptions);
  if (!outputs) return outputs.error().message;
  const TensorType& y = (*outputs)[0];
  std::string text = str(y);
  if (y.values) {
    text += " {";
    for (size_t i = 0; i < y.values->size(); ++i) text += str(i ? ", " : "", (*y.values)[i]);
    text += "}";
  }
  for (size_t i = 0; i < assumptions.size(); ++i) {
    const sym::Assumption& a = assumptions[i];
    text += str(i ? " and " : " if ", a.lhs, " ", name_of(a.relation), " ", a.rhs);
  }
  return text;
}

TensorType values_type(SymbolicValues values) {
  const auto count = static_cast<int64_t>(values.size());
  return TensorType(DType::kI64, {sym::Expr(count)}, std::move(values));
}

CaseInput ints(std::vector<double> values) {
  const auto count = static_cast<int64_t>(values.size());
  return {.extents = {count}, .dtype = DType::kI64, .literal = std::move(values), .constant = true};
}

CaseInput numbers(Extents extents, std::vector<double> values, DType dtype) {
  return {.extents = std::move(extents), .dtype = dtype, .literal = std::move(values)};
}

}  // namespace kiln
