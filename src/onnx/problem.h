/// What is wrong with a model, in words and for programs.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "onnx/model.h"

namespace kiln::onnx {

/// One thing that is wrong with a model, or not in Kiln yet. `message` is complete; the rest is for programs.
struct Problem {
  Code code = Code::kUnsupported;
  std::string message;
  int node = -1;  ///< index in the main graph, as it was given once a model is imported or queried: of a function's
                  ///< node, that of its call; -1: not of a node
  std::string node_name, op_type, domain;
  std::vector<std::string> functions = {};  ///< of the model, whose calls the node comes out of; the outermost first
};

/// An error as a problem of a node of the main graph; -1: of none.
Problem problem_of(const GraphDef& main, int node, Error error);

}  // namespace kiln::onnx
