/// GatherBlockQuantized of com.microsoft: rows of a table of 2, 4 or 8 bits a number, in blocks with a scale each. Rows
/// are picked as bytes, and become floats then: the table stays as small as it is in the file.
#include <algorithm>
#include <bit>
#include <cmath>

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/concatenation.h"
#include "ops/gather.h"
#include "tensor/view.h"

namespace kiln::onnx::importers::microsoft {
namespace {

using enum ElementWiseKind;

enum TableInput : size_t { kDataInput, kIndexInput, kScaleInput, kZeroInput };

/// A table of numbers without a sign, several to a byte along the last axis, the first in the low bits.
struct Table {
  ValueId bytes;
  int64_t bits;
  int64_t moved;          ///< what was added to each number to have no sign
  int64_t zero;           ///< point, where none is given: as moved
  int64_t length;         ///< of the axis with blocks, in numbers
  int gather, quantized;  ///< axes
};

/// Bytes of numbers of four bits, two each.
Result<HostTensor> packed(const HostTensor& numbers, int64_t moved) {
  Extents extents = numbers.extents();
  extents.back() /= 2;
  if (numbers.dtype() == DType::kI4) {  // as they lie; 8 more is the other sign bit
    auto bytes = TRY(HostTensor::make(DType::kU8, std::move(extents)));
    std::ranges::transform(numbers.bytes(), bytes.data.begin(), [](std::byte two) { return two ^ std::byte{0x88}; });
    return std::move(bytes.tensor);
  }
  const Ints all = View(numbers).integers();
  Ints bytes;
  for (size_t i = 0; i + 1 < all.size(); i += 2)
    bytes.push_back(((all[i] + moved) & 15) | (((all[i + 1] + moved) & 15) << 4));
  return HostTensor::of_ints(DType::kU8, std::move(extents), bytes);
}
HostTensor bytes_of(const HostTensor& numbers, int64_t moved) {
  Ints all = View(numbers).integers();
  for (int64_t& each : all) each = (each + moved) & 15;
  return HostTensor::of_ints(DType::kU8, numbers.extents(), all);
}

/// Data of INT4 or UINT4, which must be constants.
Result<Table> table_of_nibbles(ImportContext& cx, Table table, ValueId data) {
  const HostTensor numbers = TRY(cx.constant(data, "data"));
  const int last = cx.rank(data) - 1;
  table.moved = cx.dtype(data) == DType::kI4 ? 8 : 0;
  table.zero = table.moved;
  const bool is_packed = table.gather != last && numbers.extents().back() % 2 == 0;
  table.bits = is_packed ? 4 : 8;
  table.bytes = cx.add_constant(is_packed ? TRY(packed(numbers, table.moved)) : bytes_of(numbers, table.moved));
  return table;
}

Result<Table> table_of(ImportContext& cx) {
  const ValueId data = TRY(cx.input(kDataInput));
  const int rank = cx.rank(data);
  Table table{data,
              TRY(cx.node().get_int("bits", 4)),
              0,
              0,
              0,
              TRY(cx.axis(TRY(cx.node().get_int("gather_axis", 0)), rank)),
              TRY(cx.axis(TRY(cx.node().get_int("quantize_axis", 1)), rank))};
  const auto length = cx.extent(data, table.quantized).constant();
  TRY(require(length.has_value(), "data is ", cx.type(data), "; the axis with blocks must be constant"));
  table.length = *length;
  const bool is_uint4 = cx.carried(kDataInput) == ElementType::kUint4;
  if (cx.dtype(data) == DType::kI4 || is_uint4) {
    TRY(require(table.bits == 4, "bits is ", table.bits, " and data has numbers of 4"));
    return table_of_nibbles(cx, table, data);
  }
  if (cx.dtype(data) != DType::kU8)
    return error(Code::kUnsupported, "data is ", cx.type(data), "; INT4, UINT4 and UINT8 are in Kiln");
  TRY(require(table.bits == 2 || table.bits == 4 || table.bits == 8, "bits is ", table.bits,
              "; 2, 4 and 8 are possible"));
  TRY(require(table.gather == 0 && table.quantized == rank - 1 && rank > 1, "gather_axis is ", table.gather,
              " and quantize_axis ", table.quantized, "; of UINT8 data, the first and the last axis are needed"));
  table.zero = int64_t{1} << (table.bits - 1);
  table.length *= 8 / table.bits;
  return table;
}

/// Bytes [..., n] as f32 numbers [..., n * numbers in a byte].
Result<ValueId> unpacked_bytes(ImportContext& cx, ValueId bytes, int64_t bits) {
  const ValueId wide = TRY(cast(cx, bytes, DType::kF32));
  if (bits == 8) return wide;
  const auto shifted = [&](ValueId x, int64_t by) -> Result<ValueId> {  // to the right
    return unary(cx, UnaryKind::kFloor, TRY(binary(cx, kProd, x, std::ldexp(1.0, -static_cast<int>(by)))));
  };
  const int rank = cx.rank(bytes);
  Values fields;
  for (int64_t at = 0; at < 8; at += bits) {
    const ValueId rest = at == 0 ? wide : TRY(shifted(wide, at));
    const ValueId above = TRY(binary(cx, kProd, TRY(shifted(rest, bits)), std::ldexp(1.0, static_cast<int>(bits))));
    fields.push_back(TRY(unsqueeze(cx, TRY(binary(cx, kSub, rest, above)), {rank})));
  }
  Shape shape = cx.type(bytes).shape;
  shape.back() = shape.back() * sym::Expr(8 / bits);
  return reshape(cx, TRY(cx.add(ops::Concatenation{rank}, fields)), shape);
}

/// Checks the shape of scales or zero points: the data's, with a block in place of each `block` numbers.
Status check_blocks(ImportContext& cx, const Table& table, const Shape& shape, int64_t per_block,
                    std::string_view what) {
  const Shape& data = cx.type(TRY(cx.input(kDataInput))).shape;
  TRY(require(shape.size() == data.size(), what, " has ", shape.size(), " axes and data ", data.size()));
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool is_blocked = static_cast<int>(i) == table.quantized;
    const sym::Expr wanted = is_blocked ? sym::Expr((table.length + per_block - 1) / per_block) : data[i];
    TRY(require(sym::provably_equal(shape[i], wanted), "axis ", i, " of ", what, " has ", shape[i], " elements; ",
                wanted, " are needed"));
  }
  return {};
}

/// The zero points, f32, one a block; a scalar where none are given.
Result<ValueId> zeros(ImportContext& cx, const Table& table, int64_t block) {
  if (!cx.has_input(kZeroInput)) return scalar_of(cx, static_cast<double>(table.zero), DType::kF32);
  const ValueId given = TRY(cx.input(kZeroInput));
  TRY(require(cx.dtype(given) == cx.dtype(TRY(cx.input(kDataInput))), "zero_points is ", cx.type(given), " and data ",
              cx.type(TRY(cx.input(kDataInput))), "; one type is needed"));
  if (cx.dtype(given) != DType::kU8) {
    const ValueId moved = cx.add_constant(bytes_of(TRY(cx.constant(given, "zero_points")), table.moved));
    TRY(check_blocks(cx, table, cx.type(moved).shape, block, "zero_points"));
    return cast(cx, moved, DType::kF32);
  }
  const int64_t in_byte = 8 / table.bits;
  TRY(check_blocks(cx, table, cx.type(given).shape, block * in_byte, "zero_points"));
  const ValueId all = TRY(unpacked_bytes(cx, given, table.bits));
  const int64_t blocks = (table.length + block - 1) / block;  // the last byte may have room for more
  return slice(cx, all, {{0}, {blocks}, {1}, {table.quantized}});
}

/// Picks along the gather axis.
Result<ValueId> picked(ImportContext& cx, const Table& table, ValueId from, ValueId at) {
  return cx.add(ops::Gather{GatherMode::kDefault, table.gather, 0}, {from, at});
}

/// Repeats each element of an axis `block` times, and cuts the axis to `length`.
Result<ValueId> repeated(ImportContext& cx, ValueId x, int axis, int64_t block, int64_t length) {
  Ints of(static_cast<size_t>(length));
  for (size_t i = 0; i < of.size(); ++i) of[i] = static_cast<int64_t>(i) / block;
  const ValueId at = cx.add_constant(HostTensor::of_ints(DType::kI64, {length}, of));
  return cx.add(ops::Gather{GatherMode::kDefault, axis, 0}, {x, at});
}

/// Indices that are inside the axis, and whether those that were given are; kNone where all are known to be.
struct Inside {
  ValueId indices, is_inside;
};
Result<Inside> kept_inside(ImportContext& cx, const Table& table) {
  const ValueId indices = TRY(cx.input(kIndexInput));
  const sym::Expr extent = cx.extent(table.bytes, table.gather);
  if (const auto known = cx.ints(indices, "indices"); known && extent.is_const()) {
    const int64_t count = extent.value();
    if (std::ranges::all_of(*known, [&](int64_t i) { return i >= -count && i < count; }))
      return Inside{indices, ValueId::kNone};
  }
  const ValueId length = TRY(with_rank(cx, TRY(scalar_value(cx, extent, cx.dtype(indices))), cx.rank(indices)));
  const ValueId least = TRY(unary(cx, UnaryKind::kNeg, length));
  const ValueId is_outside = TRY(binary(cx, kOr, TRY(binary(cx, kLess, indices, least)),
                                        TRY(unary(cx, UnaryKind::kNot, TRY(binary(cx, kLess, indices, length))))));
  return Inside{TRY(select(cx, is_outside, scalar_like(cx, 0, indices), indices)),
                TRY(unary(cx, UnaryKind::kNot, is_outside))};
}

/// Indices of blocks, by those of numbers.
Result<ValueId> block_indices(ImportContext& cx, ValueId indices, int64_t length, int64_t block) {
  const ValueId is_negative = TRY(binary(cx, kLess, indices, 0));
  const ValueId from_front = TRY(binary(cx, kSum, indices, static_cast<double>(length)));
  const ValueId front = TRY(select(cx, is_negative, from_front, indices));
  return binary(cx, kDiv, front, static_cast<double>(block));
}

}  // namespace

Status gather_block_quantized(ImportContext& cx) {
  const Table table = TRY(table_of(cx));
  const int64_t block = TRY(cx.node().get_int("block_size", 128));
  TRY(require(block >= 16 && block <= INT32_MAX && std::has_single_bit(static_cast<uint64_t>(block)), "block_size is ",
              block, "; a power of 2 from 16 on is needed"));
  const ValueId scale = TRY(cx.input(kScaleInput));
  TRY(require(is_kernel_float(cx.dtype(scale)), "scales is ", cx.type(scale), "; floats are needed"));
  TRY(check_blocks(cx, table, cx.type(scale).shape, block, "scales"));
  const Inside at = TRY(kept_inside(cx, table));
  const int added = cx.rank(at.indices) - 1;
  const bool is_same = table.gather == table.quantized;
  const int axis = table.quantized > table.gather ? table.quantized + added : table.quantized;
  const ValueId of_blocks = is_same ? TRY(block_indices(cx, at.indices, table.length, block)) : at.indices;
  const auto for_numbers = [&](ValueId of) -> Result<ValueId> {
    const ValueId rows = TRY(picked(cx, table, of, of_blocks));
    return is_same ? rows : repeated(cx, rows, axis, block, table.length);
  };
  const ValueId numbers = TRY(unpacked_bytes(cx, TRY(picked(cx, table, table.bytes, at.indices)), table.bits));
  const ValueId zero = TRY(zeros(cx, table, block));
  const ValueId off = TRY(binary(cx, kSub, numbers, cx.rank(zero) == 0 ? zero : TRY(for_numbers(zero))));
  ValueId y = TRY(binary(cx, kProd, off, TRY(cast(cx, TRY(for_numbers(scale)), DType::kF32))));
  if (at.is_inside != ValueId::kNone) {
    const int behind = cx.rank(y) - table.gather - cx.rank(at.is_inside);
    ValueId is_inside = at.is_inside;
    for (int i = 0; i < behind; ++i) is_inside = TRY(unsqueeze(cx, is_inside, {cx.rank(is_inside)}));
    y = TRY(select(cx, is_inside, y, scalar_like(cx, 0, y)));
  }
  return cx.output(TRY(cast(cx, y, cx.dtype(scale))));
}

}  // namespace kiln::onnx::importers::microsoft
