/// A deconvolution by phases: outputs whose position has one remainder by the strides are a convolution of stride 1
/// with every stride-th tap, reversed. Each phase is a launch.
#pragma once

#include <vector>

#include "backend/cuda/kernels/conv/conv.h"

namespace kiln::cuda {

/// One phase's share of a deconvolution's window.
struct ConvPhase {
  ConvWindow window;             ///< of the convolution that it is
  int32_t first[3] = {0, 0, 0};  ///< its first output position
  std::vector<int32_t> taps;     ///< of the deconvolution, in the order of the convolution's
};
/// One for each remainder, the innermost axis fastest; `window` is the deconvolution's, without dilation, its kernel at
/// least as large as its strides.
std::vector<ConvPhase> phases_of(const ConvWindow& window);
/// Whether there are phases, each with a tap: what the tactic asks.
bool has_phases(const ConvWindow& window);

/// Elements from one output channel of a phase's packed filter to the next, and of the whole of it.
int64_t phase_pitch(const ConvKernel& kernel, const FilterExtents& filter, const ConvPhase& phase);
int64_t phase_elements(const ConvKernel& kernel, const FilterExtents& filter, const ConvPhase& phase);
/// Filters of all phases, one behind the other.
Bytes pack_phases(const ConvKernel& kernel, const FilterExtents& filter, std::span<const ConvPhase> phases,
                  std::span<const std::byte> elements);

}  // namespace kiln::cuda
