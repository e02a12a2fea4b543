/// How a depthwise kernel of bytes has the taps of a row, in words of four. The host and bytes.cu share it.
#pragma once

namespace kiln::cuda {

/// In how many positions it needs them: words of pixels begin at even ones, and outputs at odd ones too where the step
/// is odd.
constexpr int tap_moves(int columns, int stride) { return columns > 1 && stride % 2 == 1 ? 2 : 1; }
/// Words of a row of taps in their last position.
constexpr int tap_words(int kernel_w, int moves) { return (kernel_w + moves - 1 + 3) / 4; }

}  // namespace kiln::cuda
