/// Probabilities of classes by decisions between two of them each.
#pragma once

#include "onnx/import/compose.h"

namespace kiln::onnx {

/// Decisions of all pairs of classes, f32 [rows, pairs], as probabilities of the classes, [rows, classes]: each
/// decision becomes the pair's probability by a sigmoid of slope `a` and offset `b`, and these are coupled as libsvm
/// does it (Wu, Lin and Weng, "Probability estimates for multi-class classification by pairwise coupling", 2004).
Result<ValueId> coupled_probabilities(ImportContext& cx, ValueId decisions, int64_t classes,
                                      const std::vector<double>& a, const std::vector<double>& b);

}  // namespace kiln::onnx
