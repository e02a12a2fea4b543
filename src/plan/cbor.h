/// Records as CBOR (RFC 8949): the metadata of plans, timing caches and whatever else is written to be read again.
#pragma once

#include <cstddef>
#include <span>

#include "base/error.h"
#include "base/record.h"

namespace kiln::plan {

inline constexpr int kMaxCborDepth = 64;      ///< nested records and lists, the outermost included
inline constexpr int kMaxCborEntries = 1024;  ///< of one record

/// Equal records give equal bytes, and `from_cbor` gives the record back, kinds included: lists of integers and of
/// floats are typed arrays (RFC 8746, the narrowest signed integers that hold all values), other lists are arrays.
/// Fails where `from_cbor` would refuse the bytes: nested too deeply, too many entries, two of one name.
Result<Bytes> to_cbor(const Record& record);

/// Accepts bytes from anywhere: what `to_cbor` writes, with any width of numbers. Indefinite lengths, other tags and
/// duplicate names are errors; errors name the byte. Does not recurse; memory is at most proportional to the bytes.
Result<Record> from_cbor(std::span<const std::byte> bytes);

}  // namespace kiln::plan
