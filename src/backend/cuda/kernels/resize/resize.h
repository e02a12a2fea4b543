/// Resampling: ops::Resize along up to three neighbouring axes, in any unblocked format, by tables made when shapes are
/// bound.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/cuda/device/module.h"
#include "backend/cuda/kernels/nest/walk.h"
#include "backend/cuda/kernels/resize/arguments.h"
#include "ops/resize.h"
#include "tensor/dtype.h"
#include "tensor/format.h"

namespace kiln::cuda {

struct ResizeTuning {
  int width = 1;  ///< elements of a load

  static void reflect(auto& self, auto f) { f("width", self.width); }
  Status check() const {
    return require(width == 1 || width == 2 || width == 4 || width == 8 || width == 16, "a resize loads ", width,
                   " elements at once");
  }
};
/// How bilinear sampling shares rows of x: `rows` of y, which need `span` rows of x at most. Where its tables are.
struct ResizeBands {
  int rows, span;
  int32_t first_rows, weights;
};
/// How resize/double.cuh finds twice as many elements.
enum class ResizeDoubling : uint8_t { kCentered, kFromFirst };
struct ResizePlan {
  std::vector<int32_t> index;
  std::vector<float> weight;
  int64_t planes = 1, inner = 1;  ///< axes before and behind the resized ones
  int64_t out[3] = {1, 1, 1};
  ResizeArgument argument;                 ///< but for what a width decides
  std::vector<ResizeBands> bands;          ///< the most rows last; none but for two taps
                                           ///< along the last two axes
  std::optional<ResizeDoubling> doubling;  ///< along both of these
};
struct ResizeLaunch {
  std::string entry;
  LaunchShape shape;
  ResizeArgument argument;
  int64_t align = 1;  ///< that x and y need
};
/// The fastest first; the last takes any address. In vectors of `width` channels where it divides `inner`.
std::vector<ResizeLaunch> resize_launches(const ResizePlan& plan, ResizeMode mode, int element_bytes, int width,
                                          int num_sms);
/// Most axes from the first one that is resampled to the last, in memory's order.
inline constexpr int kMostResizedAxes = 3;
/// `in` and `out` are the tensor's own extents, whatever the format. `from_sizes`: the op has its sizes input, so that
/// scales follow from the extents. kUnsupported along more than three axes, and for 2^31 outputs.
Result<ResizePlan> plan_resize(const ops::Resize& resize, bool from_sizes, std::span<const int64_t> in,
                               std::span<const int64_t> out, const Format& format);

}  // namespace kiln::cuda
