/// A copy of x with its padding, for windows whose rows are read as one run of bytes.
#pragma once

#include "backend/cpu/device/team.h"
#include "backend/cpu/kernels/window.h"

namespace kiln::cpu {

/// Whether windows read padding.
bool hangs_over_edges(const Window& window);

/// The same window over an x that has its padding.
Window padded(const Window& window);

/// x, [n, pixels in, channels], with its padding, as padded(window) has it. `padding` is what pads.
void copy_padded(Team& team, const Window& window, int64_t n, int64_t channels, const uint8_t* x, uint8_t padding,
                 uint8_t* to);

}  // namespace kiln::cpu
