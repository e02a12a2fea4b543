/// Inference of symbolic types in tests, shown as text.
#pragma once

#include <string>
#include <vector>

#include "ops/infer_context.h"
#include "ops/op.h"
#include "ops/testing/case.h"

namespace kiln {

/// "i64[2] {n, 3} if n = m": output 0's type, its values and what was assumed; or the error's message.
std::string inferred(const Op& op, const std::vector<TensorType>& inputs, sym::Table& table);
/// A vector of i64 with these symbolic values.
TensorType values_type(SymbolicValues values);
/// A constant vector of i64 as a case's input.
CaseInput ints(std::vector<double> values);
/// Known numbers as a case's input.
CaseInput numbers(Extents extents, std::vector<double> values, DType dtype = DType::kF32);

}  // namespace kiln
