#include "api/build/arguments.h"

#include <bit>

#include "api/base/convert.h"
#include "api/base/guard.h"
#include "api/base/network_handle.h"
#include "tensor/view.h"

namespace kiln::api {

Result<std::string_view> new_name(const char* name) {
  constexpr size_t kLongest = 4096;
  const std::string_view text = TRY(name_argument(name, "name"));
  TRY(require(text.size() <= kLongest, "the name has ", text.size(), " characters; at most ", kLongest,
              " are possible"));
  return text;
}

Result<Extents> numbers(const nvinfer1::Dims& dims, int count, int64_t least, const char* what) {
  const nvinfer1::Dims* const address = address_of(dims);
  TRY(require(address != nullptr, what, " is null"));
  Extents result = TRY(in_context(from_api(*address), [&] { return std::string(what); }));
  TRY(require(count < 0 || static_cast<int>(result.size()) == count, what, " ", text(*address), " has ", result.size(),
              " numbers; ", count, " needed"));
  for (const int64_t n : result)
    TRY(require(n >= least, what, " ", text(*address), " has ", n, "; the least is ", least));
  return result;
}

Result<std::vector<int64_t>> axes_of_mask(uint32_t mask, int rank, const char* what) {
  TRY(require(mask != 0, what, " is 0; at least one axis is needed"));
  TRY(require(static_cast<int>(std::bit_width(mask)) <= rank, what, " has bit ", std::bit_width(mask) - 1,
              "; the tensor has rank ", rank));
  std::vector<int64_t> axes;
  for (int axis = 0; axis < rank; ++axis)
    if ((mask >> axis) & 1U) axes.push_back(axis);
  return axes;
}

uint32_t mask_of_axes(const std::vector<int64_t>& axes, int rank) {
  uint32_t mask = 0;
  for (const int64_t axis : axes)
    if (const int64_t from_front = axis < 0 ? axis + rank : axis; from_front >= 0 && from_front < 32)
      mask |= 1U << from_front;
  return mask;
}

Status check_weights(const nvinfer1::Weights& weights, const char* what) {
  TRY(in_context(from_api(weights.type), [&] { return std::string(what); }));
  TRY(require(weights.count >= 0, what, " have count ", weights.count, "; it must not be negative"));
  return require(weights.count == 0 || weights.values, what, " have count ", weights.count, " and null values");
}

Result<HostTensor> borrow(const nvinfer1::Weights& weights, Extents extents, const char* what) {
  TRY(check_weights(weights, what));
  const DType dtype = TRY(from_api(weights.type));
  const int64_t volume = TRY(checked_volume(extents));
  TRY(require(volume == weights.count, what, " have ", weights.count, " elements; ", extents, " has ", volume));
  const auto* const bytes = static_cast<const std::byte*>(weights.values);
  return HostTensor(dtype, std::move(extents), std::span(bytes, static_cast<size_t>(size_bytes(dtype, volume))),
                    nullptr);
}

Result<HostTensor> as_float_type(HostTensor tensor, DType dtype) {
  if (tensor.dtype() == dtype || !is_float(tensor.dtype()) || !is_float(dtype)) return tensor;
  HostTensor::Fresh result = TRY(HostTensor::make(dtype, tensor.extents()));
  const View from(tensor);
  const MutableView to(dtype, tensor.extents(), result.data.data());
  for (int64_t i = 0; i < from.volume(); ++i) to.set(i, from[i]);
  return std::move(result.tensor);
}

nvinfer1::Weights to_api(const HostTensor* tensor) {
  if (!tensor || tensor->dtype() == DType::kF64) return {nvinfer1::DataType::kFLOAT, nullptr, 0};
  return {to_api(tensor->dtype()), tensor->bytes().data(), tensor->volume()};
}

}  // namespace kiln::api
