/// Detectors' raw outputs as the objects that they mean, for precisions whose numbers wander where nothing is seen.
#pragma once

#include <string>
#include <vector>

#include "support/tensor_file.h"

namespace kiln::conformance {

struct Detection {
  int64_t label = 0;
  double score = 0;
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;  ///< in pixels of the network's input
};

/// Detections of an output [1, cells, 5 + classes] (centre, size, objectness, classes) over square grids of strides 8,
/// 16 and 32: scores of at least 0.3, by class without those that overlap a better one by more than 0.45. Fails for
/// other shapes.
Result<std::vector<Detection>> decode_grid_detections(const Tensor& raw);

/// Whether a network's outputs are boxes that it selected itself: selected_indices [n, 3] (image, class, box),
/// selected_boxes [n, 4] (corners) and selected_scores [n].
bool is_selection(const std::vector<Tensor>& outputs);

/// A selection as objects, in its order. Fails if the three do not fit each other.
Result<std::vector<Detection>> decode_selection(const std::vector<Tensor>& outputs);

/// A selection with its rows sorted by their indices: rows of equal scores have no order of their own. Fails like
/// decode_selection.
Result<std::vector<Tensor>> sorted_selection(const std::vector<Tensor>& outputs);

/// Whether both see the same: each object of `expected` has one of its class with at least `iou` of overlap and a score
/// that differs by at most `score`, and there are no others. Objects near the threshold may be missing.
Status compare_detections(const std::vector<Detection>& actual, const std::vector<Detection>& expected, double iou,
                          double score);

}  // namespace kiln::conformance
