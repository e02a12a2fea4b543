#include "support/tensor_file.h"

#include <cmath>
#include <cstring>
#include <filesystem>

#include "base/mapped_file.h"
#include "onnx/dtypes.h"
#include "onnx/reader.h"
#include "onnx/tensor_data.h"
#include "tensor/view.h"

namespace kiln::conformance {

using onnx::ElementType;

namespace {

/// 8 bits of which `exponent_bits` are the exponent, IEEE-like except where a type says otherwise.
double float8_to_double(uint8_t bits, int exponent_bits, int bias, bool fnuz) {
  const int mantissa_bits = 7 - exponent_bits;
  const int exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = bits & 0x80 ? -1 : 1;
  if (fnuz && bits == 0x80) return NAN;
  if (!fnuz && exponent == (1 << exponent_bits) - 1) return mantissa ? NAN : sign * INFINITY;  // E5M2
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits);
}

template <class T>
T load(const Tensor& tensor, int64_t index) {
  T value;
  std::memcpy(&value, tensor.bytes.data() + static_cast<size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

/// The type of ONNX that is one of those that carry others.
ElementType onnx_type_of(DType dtype) {
  return dtype == DType::kF32 ? ElementType::kFloat : dtype == DType::kI32 ? ElementType::kInt32 : ElementType::kInt64;
}

bool is_byte(ElementType type) { return type == ElementType::kUint8 || type == ElementType::kInt8; }
bool is_exact(ElementType type) {
  switch (type) {
    case ElementType::kUint8:
    case ElementType::kInt8:
    case ElementType::kUint16:
    case ElementType::kInt16:
    case ElementType::kInt32:
    case ElementType::kInt64:
    case ElementType::kBool:
    case ElementType::kUint32:
    case ElementType::kUint64:
    case ElementType::kUint4:
    case ElementType::kInt4:
    case ElementType::kUint2:
    case ElementType::kInt2: return true;
    default: return false;
  }
}

std::string index_text(int64_t index, const std::vector<int64_t>& dims) {
  std::string text;
  for (auto d = dims.rbegin(); d != dims.rend(); ++d) {
    text = str(index % *d, text.empty() ? "" : ",", text);
    index /= *d;
  }
  return str("[", text, "]");
}

bool is_close(double actual, double expected, double bound) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual);
  if (std::isinf(expected) || std::isinf(actual)) return actual == expected;
  return std::abs(actual - expected) <= bound;
}

double max_magnitude(const Tensor& tensor) {
  double largest = 0;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const double value = std::abs(number_at(tensor, i));
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  return largest;
}

}  // namespace

int64_t Tensor::num_elements() const {
  int64_t count = 1;
  for (const int64_t d : dims) count *= d;
  return count;
}

void append(std::string& out, const Tensor& tensor) {
  kiln::append(out, str(tensor.type, "["));
  for (size_t i = 0; i < tensor.dims.size(); ++i) kiln::append(out, str(i ? "," : "", tensor.dims[i]));
  out += "]";
}

Result<Tensor> read_tensor_file(const std::string& path) {
  const auto file = TRY(MappedFile::open(path));
  const auto model = TRY(onnx::read_tensor(file->bytes()));
  TRY(require(model->graph.initializers.size() == 1, path, " holds no tensor"));
  const onnx::TensorDef& def = model->graph.initializers[0];
  TRY(require(def.type != ElementType::kString, path, " holds strings"));
  const auto data = TRY(onnx::tensor_data(*model, def));
  return Tensor{std::string(def.name), data.type, data.dims, {data.bytes.begin(), data.bytes.end()}};
}

Result<std::vector<Tensor>> read_tensor_files(const std::string& folder, const std::string& prefix) {
  std::vector<Tensor> tensors;
  for (int i = 0;; ++i) {
    const std::string path = str(folder, "/", prefix, i, ".pb");
    if (!std::filesystem::exists(path)) return tensors;
    tensors.push_back(TRY(in_context(read_tensor_file(path), [&] { return path; })));
  }
}

double number_at(const Tensor& tensor, int64_t index) {
  switch (tensor.type) {
    case ElementType::kUint16: return load<uint16_t>(tensor, index);
    case ElementType::kInt16: return load<int16_t>(tensor, index);
    case ElementType::kUint32: return load<uint32_t>(tensor, index);
    case ElementType::kUint64: return static_cast<double>(load<uint64_t>(tensor, index));
    case ElementType::kUint2: return (load<uint8_t>(tensor, index / 4) >> (index % 4 * 2)) & 3;
    case ElementType::kInt2: return ((load<uint8_t>(tensor, index / 4) >> (index % 4 * 2) & 3) ^ 2) - 2;
    case ElementType::kUint4: return (load<uint8_t>(tensor, index / 2) >> (index % 2 * 4)) & 15;
    case ElementType::kFloat8E5M2: return float8_to_double(load<uint8_t>(tensor, index), 5, 15, false);
    case ElementType::kFloat8E5M2FNUZ: return float8_to_double(load<uint8_t>(tensor, index), 5, 16, true);
    case ElementType::kFloat8E4M3FNUZ: return float8_to_double(load<uint8_t>(tensor, index), 4, 8, true);
    default: break;
  }
  const auto dtype = onnx::dtype_of(tensor.type);
  return dtype ? load_number(*dtype, tensor.bytes.data(), index) : NAN;
}

Tensor as_in_network(Tensor tensor) {
  const auto carrier = onnx::carrier_of(tensor.type);
  if (!carrier && tensor.type != ElementType::kDouble) return tensor;
  const DType dtype = carrier.value_or(DType::kF32);
  Tensor result{tensor.name, onnx_type_of(dtype), tensor.dims, tensor.bytes};
  if (tensor.type == ElementType::kUint64) return result;
  result.bytes.resize(static_cast<size_t>(size_bytes(dtype, tensor.num_elements())));
  for (int64_t i = 0; i < tensor.num_elements(); ++i) store_number(dtype, result.bytes.data(), i, number_at(tensor, i));
  return result;
}

std::vector<int64_t> integers_of(const Tensor& tensor) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) values.push_back(static_cast<int64_t>(number_at(tensor, i)));
  return values;
}

Status compare(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance) {
  const std::string& name = expected.name;
  TRY(require(actual.type == expected.type && actual.dims == expected.dims, "output '", name, "' is ", actual,
              " instead of ", expected));
  TRY(require(actual.bytes.size() == expected.bytes.size(), "output '", name, "' has ", actual.bytes.size(),
              " bytes instead of ", expected.bytes.size()));
  if (actual.bytes == expected.bytes) return {};
  const bool exact = is_exact(expected.type);
  const double levels = is_byte(expected.type) ? tolerance.levels : 0;
  const double floor = tolerance.atol + (tolerance.rel_to_max ? tolerance.rel_to_max * max_magnitude(expected) : 0);
  int64_t num_wrong = 0, worst = 0;
  double worst_difference = -1;
  for (int64_t i = 0; i < expected.num_elements(); ++i) {
    const double a = number_at(actual, i), e = number_at(expected, i);
    const bool is_same = expected.type == ElementType::kInt64  // of which a double has not all digits
                             ? load<int64_t>(actual, i) == load<int64_t>(expected, i)
                             : is_close(a, e, exact ? levels : floor + tolerance.rtol * std::abs(e));
    if (is_same) continue;
    ++num_wrong;
    const double difference = std::isfinite(a - e) ? std::abs(a - e) : INFINITY;
    if (difference > worst_difference) worst_difference = difference, worst = i;
  }
  return require(num_wrong == 0, "output '", name, "': ", num_wrong, " of ", expected.num_elements(),
                 " elements differ, the worst at ", index_text(worst, expected.dims), ": ", number_at(actual, worst),
                 " instead of ", number_at(expected, worst));
}

Spread spread(const Tensor& actual, const Tensor& expected) {
  Spread result{0, max_magnitude(expected)};
  if (actual.type != expected.type || actual.dims != expected.dims) return {INFINITY, result.max_magnitude};
  for (int64_t i = 0; i < expected.num_elements(); ++i) {
    const double difference = std::abs(number_at(actual, i) - number_at(expected, i));
    if (!std::isfinite(difference)) return {INFINITY, result.max_magnitude};
    result.max_difference = std::max(result.max_difference, difference);
  }
  return result;
}

}  // namespace kiln::conformance
