/// Names and sizes of resize's kernels, which their sources and launches share.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/str.h"
#include "ops/resize.h"

namespace kiln::cuda {

struct ResizeBandExtents {
  int rows, span;
};
/// The second where x grows to twice its rows or more.
inline constexpr ResizeBandExtents kResizeBands[] = {{1, 2}, {4, 4}};
inline constexpr int kResizeRowsOfNearest = 4;

inline std::string resize_entry(int width) { return str("resize_", width); }
inline std::string resize_band_entry(int width, int rows) { return str("resize_band_", rows, '_', width); }
inline constexpr std::string_view kResizeLinesEntry = "resize_lines";
inline constexpr std::string_view kResizeDoublingEntries[] = {"resize_centered", "resize_from_first"};
inline constexpr int64_t kResizeRowsOfDoubling = 2;  ///< of x
inline constexpr std::string_view kResizeStripsEntry = "resize_strips";
inline constexpr int64_t kResizeVecOfStrips = 4;  ///< 16 bytes of what is mixed
/// Neighbouring columns of a thread where columns lie together.
inline int resize_pack(ResizeMode mode, int element_bytes) {
  return mode == ResizeMode::kNearest ? std::min(8, 16 / element_bytes) : 4;
}

}  // namespace kiln::cuda
