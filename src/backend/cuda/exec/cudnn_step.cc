#include "backend/cuda/exec/cudnn_step.h"

#include <algorithm>

#include "backend/cuda/exec/library_inputs.h"
#include "backend/cuda/kernels/conv/conv.h"

namespace kiln::cuda {

CudnnConvolutionSpec cudnn_convolution(const ContractionTypes& types, const steps::Epilogue& epilogue, bool tf32) {
  return {.types = types,
          .tf32 = tf32,
          .bias = epilogue.bias.has_value(),
          .residual = epilogue.residual.has_value(),
          .relu = is_relu(epilogue)};
}

CudnnConvolutionSpec with_extents(CudnnConvolutionSpec s, const steps::Window& by, const Extents& x, const Extents& w,
                                  const Extents& y) {
  s.x = x, s.w = w, s.y = y;
  // A single spatial axis becomes the second of two; the first has extent 1.
  if (x.size() == 3)
    for (Extents* e : {&s.x, &s.w, &s.y}) e->insert(e->begin() + 2, 1);
  const ConvWindow window = by.bind<ConvWindow>(x, y);
  const size_t axes = s.x.size() - 2;
  for (size_t i = 3 - axes; i < 3; ++i) {
    const int64_t reach = int64_t{window.dilation[i]} * (window.kernel[i] - 1) + 1;
    const int64_t stride = window.stride[i], pre = window.pad[i], in = window.in[i], out = window.out[i];
    s.strides.push_back(stride);
    s.dilations.push_back(window.dilation[i]);
    s.pre_pads.push_back(pre);
    // More engines take equal pads on both sides, so the pad behind equals the one before if that makes as many pixels.
    // Otherwise it covers only what the last window reads.
    const bool even = (in + 2 * pre - reach) / stride + 1 == out;
    s.post_pads.push_back(even ? pre : std::max<int64_t>(0, (out - 1) * stride + reach - in - pre));
  }
  return s;
}

}  // namespace kiln::cuda
