/// The greatest elements of regions' cells.
#pragma once

#include "library/value.h"

namespace kiln::plugins {

struct MaxPooling {
  int64_t rows, columns;  ///< cells of a region
  double scale;           ///< pixels of the image to elements of the map
};
/// [N, R, C, rows, columns] of a map [N, C, H, W] and corners x1, y1, x2, y2 in pixels, [N, R, 4], none negative. A
/// region's corners are rounded and both belong to it. Cell i of P along an axis of length l has the elements from
/// floor(i l / P) to ceil((i + 1) l / P), those that the map has; without any it is 0. H and W are known.
///
/// Each cell takes four elements of tables that hold the maxima of all windows whose sides are powers of two: log2(2 H)
/// times log2(2 W) maps.
Value max_of_regions(const Value& map, const Value& regions, const MaxPooling& how);

}  // namespace kiln::plugins
