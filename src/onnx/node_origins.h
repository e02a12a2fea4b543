/// Where the nodes of a prepared model come from in the model as it was given.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "onnx/model.h"
#include "onnx/problem.h"

namespace kiln::onnx {

constexpr int64_t kNoOrigin = -1;

/// For each node of `flat`, the index of the node of `given` that it is, or of the function call that it comes from;
/// kNoOrigin where no output of the graph tells.
std::vector<int64_t> node_origins(const GraphDef& given, const GraphDef& flat);

/// Gives problems, which have indices of prepared nodes, those of the nodes' origins.
void renumber_as_given(std::span<const int64_t> origins, std::span<Problem> problems);

}  // namespace kiln::onnx
