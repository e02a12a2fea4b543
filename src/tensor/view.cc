#include "tensor/view.h"

#include <cmath>
#include <cstring>

#include "tensor/numeric.h"

namespace kiln {
namespace {
template <class T>
T load(const std::byte* data, int64_t index) {
  T value;
  std::memcpy(&value, data + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}
template <class T>
void store(std::byte* data, int64_t index, T value) {
  std::memcpy(data + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}
uint8_t nibble(const std::byte* data, int64_t index) {
  const auto byte = static_cast<uint8_t>(data[index / 2]);
  return index % 2 ? byte >> 4 : byte & 15;
}
void set_nibble(std::byte* data, int64_t index, uint8_t value) {
  const auto byte = static_cast<uint8_t>(data[index / 2]);
  data[index / 2] = static_cast<std::byte>(index % 2 ? (byte & 0x0f) | (value << 4) : (byte & 0xf0) | (value & 15));
}
/// A double as int64 without undefined behaviour: NaN is 0, the rest saturates.
int64_t to_integer(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 9223372036854775808.0) return INT64_MAX;
  if (value < -9223372036854775808.0) return INT64_MIN;
  return static_cast<int64_t>(value);
}
}  // namespace

double load_number(DType dtype, const std::byte* data, int64_t index) {
  switch (dtype) {
    case DType::kF32: return load<float>(data, index);
    case DType::kF64: return load<double>(data, index);
    case DType::kF16: return half_to_float(load<uint16_t>(data, index));
    case DType::kBF16: return bfloat16_to_float(load<uint16_t>(data, index));
    case DType::kF8E4M3: return f8e4m3_to_float(load<uint8_t>(data, index));
    case DType::kE8M0: return e8m0_to_float(load<uint8_t>(data, index));
    case DType::kF4E2M1: return f4e2m1_to_float(nibble(data, index));
    default: return static_cast<double>(load_integer(dtype, data, index));
  }
}

int64_t load_integer(DType dtype, const std::byte* data, int64_t index) {
  switch (dtype) {
    case DType::kI64: return load<int64_t>(data, index);
    case DType::kI32: return load<int32_t>(data, index);
    case DType::kI8: return load<int8_t>(data, index);
    case DType::kU8: return load<uint8_t>(data, index);
    case DType::kBool: return load<uint8_t>(data, index) != 0;
    case DType::kI4: return (nibble(data, index) ^ 8) - 8;
    default: return to_integer(load_number(dtype, data, index));
  }
}

void store_number(DType dtype, std::byte* data, int64_t index, double value) {
  switch (dtype) {
    case DType::kF32: return store(data, index, static_cast<float>(value));
    case DType::kF64: return store(data, index, value);
    case DType::kF16: return store(data, index, std::bit_cast<uint16_t>(static_cast<_Float16>(value)));
    case DType::kBF16: return store(data, index, float_to_bfloat16(round_to_odd(value)));
    case DType::kF8E4M3: return store(data, index, float_to_f8e4m3(round_to_odd(value)));
    case DType::kE8M0: return store(data, index, float_to_e8m0(static_cast<float>(value)));
    case DType::kF4E2M1: return set_nibble(data, index, float_to_f4e2m1(round_to_odd(value)));
    case DType::kBool: return store(data, index, static_cast<uint8_t>(value != 0));
    default: return store_integer(dtype, data, index, to_integer(value));
  }
}

void store_integer(DType dtype, std::byte* data, int64_t index, int64_t value) {
  switch (dtype) {
    case DType::kI64: return store(data, index, value);
    case DType::kI32: return store(data, index, static_cast<int32_t>(value));
    case DType::kI8: return store(data, index, static_cast<int8_t>(value));
    case DType::kU8: return store(data, index, static_cast<uint8_t>(value));
    case DType::kBool: return store(data, index, static_cast<uint8_t>(value != 0));
    case DType::kI4: return set_nibble(data, index, static_cast<uint8_t>(value & 15));
    default: return store_number(dtype, data, index, static_cast<double>(value));
  }
}

std::vector<int64_t> View::integers() const {
  std::vector<int64_t> result(static_cast<size_t>(volume()));
  for (size_t i = 0; i < result.size(); ++i) result[i] = integer(static_cast<int64_t>(i));
  return result;
}

std::vector<double> View::numbers() const {
  std::vector<double> result(static_cast<size_t>(volume()));
  if (dtype_ == DType::kF32)  // most tensors, without a switch an element
    for (size_t i = 0; i < result.size(); ++i) result[i] = load<float>(data_, static_cast<int64_t>(i));
  else
    for (size_t i = 0; i < result.size(); ++i) result[i] = (*this)[static_cast<int64_t>(i)];
  return result;
}

void MutableView::copy_element(int64_t to, const View& src, int64_t from) const {
  const int bits = bits_of(dtype_);
  if (bits < 8) return set_nibble(data_, to, nibble(src.data(), from));
  const auto size = static_cast<size_t>(bits / 8);
  std::memcpy(data_ + to * static_cast<int64_t>(size), src.data() + from * static_cast<int64_t>(size), size);
}

}  // namespace kiln
