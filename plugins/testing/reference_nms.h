/// Non-maximum suppression, box by box.
#pragma once

#include <array>
#include <vector>

#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {

using Box = std::array<double, 4>;

struct Candidate {
  double score;
  int box_class, index;
  Box box;
};

struct NmsRules {
  double iou_threshold = 0.5;
  bool touches_at_threshold = false;  ///< whether the threshold itself is too much
  bool ignores_classes = false;
  int most = 100, most_of_class = 100;
  double larger_by = 0;  ///< each way, when overlaps count
};

/// Returns the candidates that stay, the best first.
std::vector<Candidate> suppress(std::vector<Candidate> candidates, const NmsRules& rules);

/// Boxes [images, boxes, per_place, 4], as corners within a picture of 1 x 1, many of which overlap.
Tensor overlapping_boxes(int64_t images, int64_t boxes, int64_t per_place, int seed);
Box box_at(const Tensor& boxes, size_t index);

}  // namespace kiln::plugins::testing
