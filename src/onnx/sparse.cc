#include "onnx/sparse.h"

#include <cstring>
#include <memory>
#include <string>

#include "onnx/tensor_data.h"

namespace kiln::onnx {
namespace {

int64_t number_at(const TensorData& data, int64_t index) {
  int64_t number = 0;
  std::memcpy(&number, data.bytes.data() + static_cast<size_t>(index) * sizeof(number), sizeof(number));
  return number;
}

/// The element that value `i` is, in row-major order.
Result<int64_t> place_of(const TensorData& indices, int64_t i, std::span<const int64_t> dims, int64_t count) {
  if (indices.dims.size() == 1) {
    const int64_t at = number_at(indices, i);
    TRY(require(at >= 0 && at < count, "index ", i, " is ", at, "; the tensor has ", count, " elements"));
    return at;
  }
  int64_t at = 0;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const int64_t along = number_at(indices, i * static_cast<int64_t>(dims.size()) + static_cast<int64_t>(axis));
    TRY(require(along >= 0 && along < dims[axis], "index ", i, " is ", along, " along axis ", axis, ", which has ",
                dims[axis]));
    at = at * dims[axis] + along;
  }
  return at;
}

}  // namespace

Result<TensorDef> dense_tensor(const TensorDef& values, const TensorDef& indices, std::vector<int64_t> dims,
                               size_t& budget) {
  const Model none;  // what sparse tensors are made of lies in the file
  TRY(require(!values.external && !indices.external, "its elements lie in another file; that is not in Kiln"));
  const TensorData data = TRY(tensor_data(none, values)), at = TRY(tensor_data(none, indices));
  const auto element = static_cast<size_t>(bits_of(data.type)) / 8;
  const int64_t count = TRY(count_elements(dims)), given = data.num_elements;
  TRY(require(element > 0, "its elements are ", data.type, "; types of whole bytes are supported"));
  TRY(require(static_cast<uint64_t>(count) <= budget / element, "it has ", count, " elements of ", data.type,
              "; the sparse tensors of a model may take 2^30 bytes"));
  const bool fits = at.dims == std::vector{given} || at.dims == std::vector{given, static_cast<int64_t>(dims.size())};
  TRY(require(data.dims.size() == 1 && at.type == ElementType::kInt64 && fits, "its values are ", data.type, data.dims,
              " and its indices ", at.type, at.dims, "; INT64 of one number or ", dims.size(),
              " for each value are needed"));
  auto bytes = std::make_shared<std::string>(static_cast<size_t>(count) * element, '\0');
  for (int64_t i = 0; i < given; ++i) {
    const auto to = static_cast<size_t>(TRY(place_of(at, i, dims, count)));
    std::memcpy(bytes->data() + to * element, data.bytes.data() + static_cast<size_t>(i) * element, element);
  }
  budget -= bytes->size();
  TensorDef dense{.name = values.name, .type = data.type, .dims = std::move(dims)};
  dense.raw_data = std::as_bytes(std::span(*bytes));
  dense.owner = std::move(bytes);
  return dense;
}

}  // namespace kiln::onnx
