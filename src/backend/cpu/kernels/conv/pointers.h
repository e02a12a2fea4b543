/// The tables of pointers through which a convolution reads its input as if it were a matrix.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/kernels/window.h"

namespace kiln::cpu {

/// How a window is cut into taps of contiguous elements.
enum class Taps : uint8_t {
  kPixels,  ///< a tap a kernel position, of one pixel's channels
  kRows,    ///< a tap a kernel row: kw pixels next to each other; few channels make longer sums that way
};

/// An input of elements T. `zeros` is a pixel of padding (with kRows a row of the kernel).
template <class T>
struct PointerSource {
  const Window& window;
  const T* in;
  ptrdiff_t ld;  ///< from pixel to pixel; with kRows the channels
  const T* zeros;
  Taps taps;

  int64_t num_taps() const {
    return window.kernel[0] * window.kernel[1] * (taps == Taps::kRows ? 1 : window.kernel[2]);
  }
  int64_t row_elements() const { return window.kernel[2] * ld; }  ///< of one tap, with kRows
};

/// Fills the table of output pixels [row0, row0 + rows), in groups of `tile_rows`: see Block::a. With kRows, windows
/// that hang over an edge are copied to `border`, which has room for rows * num_taps() * row_elements() elements. T is
/// float, or uint8_t for bytes of either sign.
template <class T>
void fill_pointers(const PointerSource<T>& source, int64_t row0, int64_t rows, int64_t tile_rows, const T** table,
                   T* border);

/// For windows without padding, whose taps all lie equally far from their first: how far, in elements. `offsets` has
/// room for source.num_taps().
template <class T>
void fill_tap_offsets(const PointerSource<T>& source, ptrdiff_t* offsets);

}  // namespace kiln::cpu
