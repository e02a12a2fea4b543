/// Arithmetic of element types that Kiln's ops lack, on the types that carry them (carrier_of): integers wrap to their
/// width, UINT64 is unsigned in the signed i64 that has its bits, FP8 is rounded.
#pragma once

#include "onnx/dtypes.h"
#include "onnx/import/compose.h"

namespace kiln::onnx {

/// An integer of a carrier as one of `type`, modulo 2^bits.
Result<ValueId> wrapped(ImportContext& cx, ValueId x, ElementType type);

/// x, of a type that Kiln has or of the carried type `from`, as the carried type `to`. FP8 beyond its largest number
/// saturates, or is infinite or NaN.
Result<ValueId> as_carried(ImportContext& cx, ValueId x, ElementType from, ElementType to, bool saturate);

/// x, of a type that Kiln has or of the carried type `from`, as the nearest numbers of a float type, or as integers of
/// another type, which wrap.
Result<ValueId> from_carried(ImportContext& cx, ValueId x, ElementType from, DType to);

/// Bits of UINT64 as i64 whose order is theirs, and back.
Result<ValueId> with_signed_order(ImportContext& cx, ValueId bits);
/// The quotient of UINT64s.
Result<ValueId> unsigned_quotient(ImportContext& cx, ValueId a, ValueId b);
/// The upper 63 bits of UINT64s.
Result<ValueId> unsigned_half(ImportContext& cx, ValueId bits);

/// Floats rounded to the numbers of a small float, ties to even.
Result<ValueId> rounded(ImportContext& cx, ValueId x, const SmallFloat& type, bool saturate);

}  // namespace kiln::onnx
