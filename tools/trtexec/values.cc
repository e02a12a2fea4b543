#include "values.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "cli/json.h"
#include "cli/text.h"

namespace kiln::cli::trtexec {
namespace {

using nvinfer1::DataType;

constexpr std::string_view kNames[] = {"fp32", "fp16", "int8",  "int32", "bool", "uint8",
                                       "fp8",  "bf16", "int64", "int4",  "fp4",  "e8m0"};
constexpr int kBits[] = {32, 16, 8, 32, 8, 8, 8, 16, 64, 4, 4, 8};

template <class T>
T element(const void* data, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

float bf16_value(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

/// Four bits of exponent with a bias of 7, three of mantissa; all ones is NaN, there are no infinities.
float fp8_value(uint8_t bits) {
  const int exponent = bits >> 3 & 15, mantissa = bits & 7;
  const float sign = bits & 128 ? -1.0f : 1.0f;
  if (exponent == 15 && mantissa == 7) return std::numeric_limits<float>::quiet_NaN();
  return sign * (exponent ? std::ldexp(1 + mantissa / 8.0f, exponent - 7) : std::ldexp(mantissa / 8.0f, -6));
}

uint8_t nibble(const void* data, int64_t index) {
  const auto both = element<uint8_t>(data, index / 2);
  return index % 2 ? both >> 4 : both & 15;
}

float fp4_value(uint8_t bits) {
  constexpr float kValues[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  return bits & 8 ? -kValues[bits & 7] : kValues[bits & 7];
}

float e8m0_value(uint8_t bits) {
  return bits == 255 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(std::ldexp(1.0, bits - 127));
}

std::string text_of(const void* data, DataType type, int64_t i, Notation notation) {
  const auto written = [&](float number) {
    return notation == Notation::kJson ? json_number(number) : number_text(number);
  };
  switch (type) {
    case DataType::kFLOAT: return written(element<float>(data, i));
    case DataType::kHALF: return written(static_cast<float>(element<_Float16>(data, i)));
    case DataType::kBF16: return written(bf16_value(element<uint16_t>(data, i)));
    case DataType::kINT8: return std::to_string(element<int8_t>(data, i));
    case DataType::kUINT8: return std::to_string(element<uint8_t>(data, i));
    case DataType::kINT32: return std::to_string(element<int32_t>(data, i));
    case DataType::kINT64: return std::to_string(element<int64_t>(data, i));
    case DataType::kBOOL: return element<uint8_t>(data, i) ? "1" : "0";
    case DataType::kFP8: return written(fp8_value(element<uint8_t>(data, i)));
    case DataType::kINT4: return std::to_string(static_cast<int8_t>(nibble(data, i) << 4) >> 4);
    case DataType::kFP4: return written(fp4_value(nibble(data, i)));
    case DataType::kE8M0: break;
  }
  return written(e8m0_value(element<uint8_t>(data, i)));
}

template <class T, class Make>
void fill(void* data, int64_t count, Make make) {
  char* out = static_cast<char*>(data);
  for (int64_t i = 0; i < count; ++i, out += sizeof(T)) {
    const T value = static_cast<T>(make());
    std::memcpy(out, &value, sizeof value);
  }
}

}  // namespace

double number_of(const void* data, DataType type, int64_t i) {
  switch (type) {
    case DataType::kFLOAT: return element<float>(data, i);
    case DataType::kHALF: return static_cast<float>(element<_Float16>(data, i));
    case DataType::kBF16: return bf16_value(element<uint16_t>(data, i));
    case DataType::kINT8: return element<int8_t>(data, i);
    case DataType::kUINT8: return element<uint8_t>(data, i);
    case DataType::kINT32: return element<int32_t>(data, i);
    case DataType::kINT64: return static_cast<double>(element<int64_t>(data, i));
    case DataType::kBOOL: return element<uint8_t>(data, i) ? 1 : 0;
    case DataType::kFP8: return fp8_value(element<uint8_t>(data, i));
    case DataType::kINT4: return static_cast<int8_t>(nibble(data, i) << 4) >> 4;
    case DataType::kFP4: return fp4_value(nibble(data, i));
    case DataType::kE8M0: break;
  }
  return e8m0_value(element<uint8_t>(data, i));
}

std::string_view type_name(DataType type) { return kNames[static_cast<int>(type)]; }

int64_t size_bytes(DataType type, int64_t count) {
  int64_t bits = 0;
  require(!__builtin_mul_overflow(count, kBits[static_cast<int>(type)], &bits) && bits <= INT64_MAX - 7, count,
          " elements of ", type_name(type), " do not fit 64 bits");
  return (bits + 7) / 8;
}

void fill_random(void* data, DataType type, int64_t count, uint64_t seed) {
  std::mt19937_64 engine(seed);
  const auto real = [&] { return static_cast<float>(static_cast<double>(engine() >> 40) * 0x1p-23 - 1); };
  const auto bit = [&] { return engine() & 1; };
  switch (type) {
    case DataType::kFLOAT: return fill<float>(data, count, real);
    case DataType::kHALF: return fill<_Float16>(data, count, real);
    case DataType::kBF16:
      return fill<uint16_t>(data, count, [&] {
        const float value = real();
        uint32_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        return bits >> 16;
      });
    case DataType::kINT32: return fill<int32_t>(data, count, bit);
    case DataType::kINT64: return fill<int64_t>(data, count, bit);
    case DataType::kINT8:
    case DataType::kUINT8:
    case DataType::kBOOL: return fill<uint8_t>(data, count, bit);
    case DataType::kFP8:  // without the highest bit of the exponent: below 2, and no NaN
      return fill<uint8_t>(data, count, [&] { return engine() & 0xbf; });
    case DataType::kINT4:
    case DataType::kFP4: return fill<uint8_t>(data, (count + 1) / 2, [&] { return engine() & 0x77; });
    case DataType::kE8M0: return fill<uint8_t>(data, count, [&] { return 126 + bit(); });
  }
}

void append_values(std::string& out, const void* data, DataType type, int64_t first, int64_t last,
                   std::string_view separator, Notation notation) {
  for (int64_t i = first; i < last; ++i) {
    if (i > first) out += separator;
    out += text_of(data, type, i, notation);
  }
}

}  // namespace kiln::cli::trtexec
