/// What Faster R-CNN's networks propose, box by box.
#pragma once

#include <utility>
#include <vector>

#include "testing/reference_nms.h"

namespace kiln::plugins::testing {

struct Proposals {
  std::vector<std::pair<double, double>> anchors;  ///< widths and heights
  double first, stride;                            ///< of a cell's centre
  double image_height, image_width;
  double least_side;    ///< boxes with a side shorter than that, corner to corner, come last
  bool least_is_small;  ///< whether a side just so long is, too
  size_t candidates;
  int most;
  double iou_threshold;
};

/// Returns the best boxes of image n: x1, y1, x2, y2; 0 behind them. Scores are [N, A, H, W], deltas [N, A 4, H, W].
std::vector<double> best_proposals(const Proposals& how, int64_t n, const Tensor& scores, const Tensor& deltas);

}  // namespace kiln::plugins::testing
