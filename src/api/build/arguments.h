/// Checks of arguments of a network's calls and its layers': dimensions of windows, masks of axes, weights.
#pragma once

#include <NvInfer.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tensor/host_tensor.h"

namespace kiln::api {

/// The name that a layer or tensor is to have; fails on null and on more than 4,096 characters.
Result<std::string_view> new_name(const char* name);

/// The numbers of a Dims, at least `least` each; fails on null and on a count other than `count` (-1: any).
Result<Extents> numbers(const nvinfer1::Dims& dims, int count, int64_t least, const char* what);
/// The axes whose bits are set; fails on none, and on bits from `rank` on.
Result<std::vector<int64_t>> axes_of_mask(uint32_t mask, int rank, const char* what);
/// The bits of axes, negative ones counted from the back of `rank`.
uint32_t mask_of_axes(const std::vector<int64_t>& axes, int rank);

/// Checks type, count and address of weights.
Status check_weights(const nvinfer1::Weights& weights, const char* what);
/// The elements of weights that passed `check_weights`, where they are: TensorRT has the program keep them until the
/// network is built. `extents` have as many.
Result<HostTensor> borrow(const nvinfer1::Weights& weights, Extents extents, const char* what);
/// The same elements as another type of floats: `tensor` itself where it has that type, or is not of floats.
Result<HostTensor> as_float_type(HostTensor tensor, DType dtype);
/// The elements of a constant as the API shows them; empty for null.
nvinfer1::Weights to_api(const HostTensor* tensor);

}  // namespace kiln::api
