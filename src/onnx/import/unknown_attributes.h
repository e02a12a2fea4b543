/// Attributes that an operator does not have: a model that has one was written by mistake, or for a newer operator.
#pragma once

#include <string>
#include <vector>

#include "onnx/model.h"

namespace kiln::onnx {

/// A warning for each attribute of the node that no version of its operator has, and which its importer thus ignores.
/// None for operators without an importer.
std::vector<std::string> unknown_attributes(const NodeDef& node);

}  // namespace kiln::onnx
