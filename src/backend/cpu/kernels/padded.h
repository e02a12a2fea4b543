/// A copy of x with its padding, for windows whose rows are read as one run of elements.
#pragma once

#include <cstdint>

#include "backend/cpu/device/team.h"
#include "backend/cpu/kernels/window.h"
#include "base/function_ref.h"

namespace kiln::cpu {

/// Whether windows read padding.
bool hangs_over_edges(const Window& window);

/// The same window over an x that has its padding.
Window padded(const Window& window);

/// The first pixel that output pixel `row` reads, of an x that has its padding.
int64_t first_pixel(const Window& padded, int64_t row);

/// Fills `to`, [n, pixels of padded(window), channels]: `copy_line(image, pixel, line)` writes the pixels of a line of
/// x, of which `pixel` is the first in its image, and all around them is `padding`. T is float or uint8_t.
template <class T>
void copy_between_padding(Team& team, const Window& window, int64_t n, int64_t channels, T padding, T* to,
                          FunctionRef<void(int64_t image, int64_t pixel, T* line)> copy_line);

/// x, [n, pixels in, channels], with its padding, as padded(window) has it. `padding` is what pads. `flip`: what is
/// done to all bytes on the way (xor).
void copy_padded(Team& team, const Window& window, int64_t n, int64_t channels, const uint8_t* x, uint8_t padding,
                 uint8_t* to, uint8_t flip = 0);

}  // namespace kiln::cpu
