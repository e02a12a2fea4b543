#include "onnx/dtypes.h"
#include "onnx/import/four_bits.h"
#include "onnx/import/importers.h"
#include "onnx/import/quantization.h"
#include "ops/quantization.h"

namespace kiln::onnx::importers {
namespace {

/// How QuantizeLinear and DequantizeLinear quantize x, with zero points of `type`.
Result<Quantization> quantization_of(ImportContext& cx, ValueId x, DType type) {
  Quantization by = TRY(quantization(cx, 1, type));
  const int64_t size = TRY(cx.node().get_int("block_size", 0));
  TRY(require(size >= 0, "block_size is ", size));
  const TensorType& scale = cx.type(by.scale);
  const bool is_vector = scale.rank() == 1 && cx.rank(x) > 1 && scale.shape[0].constant() != 1;
  cx.node().pass_over("axis");  // a single scale has none
  if (is_vector || size > 0) by.axis = TRY(cx.axis(TRY(cx.node().get_int("axis", 1)), cx.rank(x)));
  if (size == 0) return by;
  TRY(require(scale.rank() == cx.rank(x), "block_size is ", size, " and x ", cx.type(x), ", so that the scale has ",
              cx.rank(x), " axes; it is ", scale));
  by.block.assign(static_cast<size_t>(cx.rank(x)), 1);
  by.block[static_cast<size_t>(by.axis)] = size;
  return by;
}

/// A type that an attribute names, or `otherwise` where it names none.
Result<DType> dtype_attribute(ImportContext& cx, std::string_view attribute, DType otherwise) {
  const int64_t given = TRY(cx.node().get_int(attribute, 0));
  if (given == 0) return otherwise;
  return in_context(need_dtype(static_cast<ElementType>(given)), [&] { return str("attribute '", attribute, "'"); });
}

}  // namespace

Status quantize_linear(ImportContext& cx) {
  ValueId x = TRY(cx.input(0));
  const DType given = cx.has_input(2) ? cx.dtype(TRY(cx.input(2))) : DType::kU8;
  const DType to = TRY(dtype_attribute(cx, "output_dtype", given));
  TRY(require(is_quantized(to), cx.node().find("output_dtype") ? "output_dtype" : "the zero point's type", " is ", to,
              "; QuantizeLinear makes i8, u8, i4, f8e4m3 or f4e2m1"));
  const bool saturates = TRY(cx.node().get_int("saturate", 1)) != 0;  // says nothing about integers
  TRY(require(to != DType::kF8E4M3 || saturates, "QuantizeLinear to ", to, " without saturation is not in Kiln yet"));
  if (cx.dtype(x) == DType::kI32) x = TRY(cast(cx, x, DType::kF32));
  return cx.output(TRY(quantize(cx, x, TRY(quantization_of(cx, x, to)), to)));
}

Status dequantize_linear(ImportContext& cx) {
  ValueId x = TRY(cx.input(0));
  const DType type = cx.dtype(TRY(cx.input(1)));
  const DType to = TRY(dtype_attribute(cx, "output_dtype", is_kernel_float(type) ? type : DType::kF32));
  Quantization by = TRY(quantization_of(cx, x, cx.dtype(x)));
  TRY(narrow_to_int4(cx, x, by));
  return cx.output(TRY(dequantize(cx, x, by, to)));
}

Status dynamic_quantize_linear(ImportContext& cx) {
  const DynamicallyQuantized y = TRY(quantize_dynamically(cx, TRY(cx.input(0))));
  TRY(cx.output(0, y.q));
  TRY(cx.output(1, y.by.scale));
  return cx.output(2, y.by.zero);
}

}  // namespace kiln::onnx::importers
