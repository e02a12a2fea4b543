/// A copy of x with its padding, for windows whose rows are read as one run of bytes.
#pragma once

#include "backend/cpu/device/team.h"
#include "backend/cpu/kernels/window.h"

namespace kiln::cpu {

/// Whether windows read padding.
bool hangs_over_edges(const Window& window);

/// The same window over an x that has its padding.
Window padded(const Window& window);

/// The first pixel that output pixel `row` reads, of an x that has its padding.
int64_t first_pixel(const Window& padded, int64_t row);

/// x, [n, pixels in, channels], with its padding, as padded(window) has it. `padding` is what pads. `flip`: what is
/// done to all bytes on the way (xor).
void copy_padded(Team& team, const Window& window, int64_t n, int64_t channels, const uint8_t* x, uint8_t padding,
                 uint8_t* to, uint8_t flip = 0);

}  // namespace kiln::cpu
