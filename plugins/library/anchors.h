/// Boxes of fixed sizes around the cells of a grid.
#pragma once

#include "library/value.h"

namespace kiln::plugins {

/// The most boxes around the cells of one grid. Those of fields alone are constants, which a build computes: in some 10
/// seconds for as many, and with 128 MiB. Networks have some 10,000 to 300,000.
constexpr int64_t kMostAnchors = 1 << 22;

/// What SSD's plugins make of a grid of H x W cells and P sizes, cells row by row: [1, 2, H W P 4, 1], corners
/// x1, y1, x2, y2 in the first half, the variance of each in the second. A cell in row h has its centre at
/// (h + offset) step_y, and all numbers are divided by the image's.
struct Grid {
  Extent height, width;
  Value step_y, step_x, image_height, image_width;  ///< f32, one element each
  double offset = 0.5;
  std::vector<float> widths, heights;  ///< P each
  std::vector<float> variance;         ///< 4
  bool clips = false;                  ///< corners to 0 ... 1
};
Value anchors(Layers& layers, const Grid& grid);

}  // namespace kiln::plugins
