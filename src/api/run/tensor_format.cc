#include "api/run/tensor_format.h"

#include "api/base/convert.h"
#include "tensor/named_format.h"

namespace kiln::api {

Result<nvinfer1::TensorFormat> format_of(const plan::IoTensor& tensor) {
  if (const auto named = to_api(tensor.format, static_cast<int>(tensor.extents.size()))) return *named;
  return error(Code::kUnsupported, "tensor '", tensor.name, "': no TensorFormat is named like ", tensor.format);
}

std::string describe_format(const plan::IoTensor& tensor) {
  const auto rank = static_cast<int>(tensor.extents.size());
  const auto named = to_api(tensor.format, rank);
  const std::string name = named ? name_of(*named) : tensor.format.text();
  if (tensor.format.is_linear()) return str("Row major linear ", type_words(tensor.dtype), " format (", name, ")");
  return str(format_words(tensor.format, tensor.dtype, rank), " (", name, ")");
}

Extents api_strides(const Format& format, std::span<const int64_t> extents) {
  Extents in_vectors(extents.begin(), extents.end());
  if (format.is_blocked()) {
    int64_t& split = in_vectors[static_cast<size_t>(format.block_axis())];
    split = (split + format.block() - 1) / format.block();
  }
  Extents strides(extents.size());
  int64_t stride = 1;
  for (int position = static_cast<int>(extents.size()); position-- > 0;) {
    const auto axis = static_cast<size_t>(format.axis_at(position));
    strides[axis] = stride;
    stride *= in_vectors[axis];
  }
  return strides;
}

}  // namespace kiln::api
