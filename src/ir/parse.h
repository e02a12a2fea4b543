/// Reads the text that `print` writes: golden tests say their graphs in it.
#pragma once

#include <string_view>

#include "ir/graph.h"

namespace kiln::ir {

/// Statements, one a line or separated by semicolons; "#" begins a comment that ends with the line:
///   x: f32[batch, 3]
///   two = Constant{value=f32[1, 1](2)}()
///   y = ElementWise{kind=prod}(x, two)
///   return y as scaled
/// Attributes that are left out keep their defaults, "_" is an absent input, and an extent that is no number makes
/// symbols with the bounds of any extent. Bodies and abbreviated constants cannot be read.
Result<Graph> parse(std::string_view text);
/// The op of "Softmax{axis=1}".
Result<Op> parse_op(std::string_view text, sym::Table& table);

}  // namespace kiln::ir
