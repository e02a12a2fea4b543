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

/// Gives problems, from number `first` on, which have indices in `flat`, those of `given`.
void renumber_as_given(const GraphDef& given, const GraphDef& flat, std::vector<Problem>& problems, size_t first);

}  // namespace kiln::onnx
