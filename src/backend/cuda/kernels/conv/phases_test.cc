#include "backend/cuda/kernels/conv/phases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace kiln::cuda {
namespace {

/// Every (output, tap, input) of a deconvolution along one axis, by its definition and by its phases.
TEST(ConvPhases, ReadWhatADeconvolutionReads) {
  for (const auto& [in, out, kernel, stride, pad] :
       {std::array<int32_t, 5>{5, 10, 2, 2, 0}, {5, 11, 3, 2, 0}, {5, 9, 3, 2, 1}, {4, 12, 5, 3, 1}, {6, 6, 3, 1, 1}}) {
    ConvWindow w;
    w.in[2] = in, w.out[2] = out, w.kernel[2] = kernel, w.stride[2] = stride, w.pad[2] = pad;
    ASSERT_TRUE(has_phases(w));
    std::vector<std::array<int32_t, 3>> expected, found;
    for (int32_t o = 0; o < out; ++o)
      for (int32_t tap = 0; tap < kernel; ++tap)
        if (const int32_t reach = o + pad - tap; reach >= 0 && reach % stride == 0 && reach / stride < in)
          expected.push_back({o, tap, reach / stride});
    for (const ConvPhase& phase : phases_of(w))
      for (int32_t m = 0; m < phase.window.out[2]; ++m)
        for (int32_t t = 0; t < phase.window.kernel[2]; ++t)
          if (const int32_t i = m - phase.window.pad[2] + t; i >= 0 && i < in)
            found.push_back({phase.first[2] + m * stride, phase.taps[static_cast<size_t>(t)], i});
    std::ranges::sort(expected);
    std::ranges::sort(found);
    EXPECT_EQ(found, expected) << in << " by " << stride;
  }
}
TEST(ConvPhases, AKernelSmallerThanItsStrideHasNone) {
  ConvWindow w;
  w.kernel[2] = 2, w.stride[2] = 3;
  EXPECT_FALSE(has_phases(w));
}

}  // namespace
}  // namespace kiln::cuda
