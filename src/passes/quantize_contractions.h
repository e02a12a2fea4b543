/// Implicit quantization: contractions whose inputs have known ranges get bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "passes/pass.h"
#include "passes/ranges.h"

namespace kiln::passes {

/// A contraction that stays in float, and why.
struct LeftInFloat {
  std::string name, why;
  bool operator==(const LeftInFloat&) const = default;
};

/// x and w of each convolution and matrix product by a constant w whose x has a range are quantized and dequantized: x
/// to i8 by its range, w to i8 by the largest magnitude of each channel of the result. A tensor that only moves numbers
/// of another has that one's range. What has no range stays in float, and so does what has weights that are not finite:
/// `left` gets these. A layer whose precision is a float stays, too.
/// The bytes of a tensor with a name are called after it: see `name_of_floats`.
Status quantize_contractions(ir::Graph& graph, const Ranges& ranges, std::vector<LeftInFloat>& left);

/// `value` through bytes of that range; their name is made of the value's, that of the new nodes is `name`.
Result<ir::ValueId> through_bytes(ir::Graph& graph, ir::ValueId value, float range, const std::string& name);

/// What bytes that this pass makes of a tensor of that name are called.
std::string name_of_bytes(std::string_view floats);
/// The name of the tensor of which these are the bytes; empty: the name is no such bytes'.
std::string_view name_of_floats(std::string_view bytes);

}  // namespace kiln::passes
