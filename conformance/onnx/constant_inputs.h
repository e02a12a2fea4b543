/// Inputs of a model turned into constants of it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "onnx/model.h"

namespace kiln::conformance {

/// Positions in `model.graph.inputs` of floats that decide the shapes of Resize, Upsample, OneHot and Range: scales, a
/// region, a depth, limits. TensorRT takes these from constants only, and a shape tensor holds integers.
std::vector<size_t> float_shape_inputs(const onnx::Model& model);

/// The bytes of a ModelProto with one more initializer: `tensor` is a TensorProto, which gets the name `name`.
Result<std::string> with_initializer(std::string_view model, std::string_view tensor, std::string_view name);

}  // namespace kiln::conformance
