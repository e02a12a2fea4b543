/// The part of CBOR that plans use, for the encoder and the decoder.
#pragma once

#include <cstdint>

namespace kiln::plan {

/// The upper three bits of an item's first byte.
enum class Major : uint8_t { kUnsigned, kNegative, kBytes, kText, kArray, kMap, kTag, kSimple };

/// RFC 8746's tags of typed arrays, little-endian.
enum class TypedArray : uint8_t { kI8 = 72, kI16 = 77, kI32 = 78, kI64 = 79, kF64 = 86 };

inline constexpr uint8_t kFalse = 20, kTrue = 21, kNull = 22, kFloat32 = 26, kFloat64 = 27;  // infos of Major::kSimple

}  // namespace kiln::plan
