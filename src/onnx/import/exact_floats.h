/// Floats that a network computes from extents: what exporters write to round the quotient of a length and a stride.
#pragma once

#include <optional>

#include "onnx/import/context.h"

namespace kiln::onnx {

/// The elements of float `value` as a cast to an integer has them, rounded towards zero. None where they do not follow
/// from constants, extents and shape inputs by the steps that can be taken exactly: sums, products, quotients by
/// constants, roundings, the larger and the smaller. Kiln's arithmetic does not round: it differs from that of floats
/// only where their digits do not suffice, for lengths of millions.
std::optional<SymbolicValues> exact_whole_numbers(ImportContext& cx, ValueId value);

}  // namespace kiln::onnx
