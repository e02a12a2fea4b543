/// Regions that a network proposes: anchors moved by what it says of each, and the best that do not overlap much.
#pragma once

#include <vector>

#include "library/value.h"

namespace kiln::plugins {

/// Boxes [..., 4] as two corners, moved: by deltas [..., 4], the first two in sizes of the box, the others logarithms
/// of how much it grows. `larger_by` is what a box extends beyond the difference of its corners.
struct Refinement {
  double place_deviation = 1, size_deviation = 1;  ///< deltas are multiplied by these
  double larger_by = 0;
  double most_growth = 0;  ///< a limit of the logarithms; 0: none
};
Value refined(const Value& boxes, const Value& deltas, const Refinement& how);
/// Boxes [N, B, 4], y1, x1, y2, x2, clipped to the pixels of an image.
Value in_image(const Value& boxes, int64_t height, int64_t width);

/// The K anchors of each image that have the best scores, the best first: [N, K, 4], [N, K, 4] and [N, K].
struct Ranked {
  Value anchors, deltas, scores;
};
/// Ranks anchors [B, 4] with deltas [N, B, 4] and scores [N, B], and keeps `most` of an image. Where that is more than
/// a TopK takes, all stay as they are.
Ranked best_anchors(const std::vector<float>& anchors, const Value& deltas, const Value& scores, int64_t most);

/// Faster R-CNN's: a grid of cells, each with A anchors around its centre.
struct AnchorGrid {
  std::vector<float> widths, heights;  ///< A each
  double first, stride;                ///< cell i of a row or column has its centre at first + i stride
};
/// Corners x1, y1, x2, y2, [N, A, H, W] each, of anchors moved by deltas [N, A 4, H, W]: dx, dy, log dw, log dh.
std::vector<Value> moved_anchors(const AnchorGrid& grid, const Value& deltas);

struct Choice {
  int64_t candidates = 0, most = 0;  ///< of an image: so many of the best scores are looked at, so many stay
  double iou_threshold = 0.5;        ///< boxes that overlap more go, where a box of one pixel has an area of 1
};
/// [N, most, 4], the best first, 0 where there are fewer. Corners and scores are [N, A, H, W]; those that are small
/// come last of all.
Value chosen(const std::vector<Value>& corners, const Value& scores, const Value& is_small, const Choice& how);

}  // namespace kiln::plugins
