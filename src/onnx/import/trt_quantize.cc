/// Operators of domain trt, by which NVIDIA's tools say more of quantization than ONNX's operators do.
#include <algorithm>
#include <cstring>

#include "onnx/dtypes.h"
#include "onnx/import/importers.h"
#include "onnx/import/quantization.h"
#include "ops/dequantize.h"
#include "ops/dynamic_quantize.h"
#include "ops/quantize.h"

namespace kiln::onnx::importers::trt {
namespace {

/// A type that an attribute names, or `otherwise` where it names none.
Result<DType> dtype_attribute(ImportContext& cx, std::string_view attribute, DType otherwise) {
  const int64_t given = TRY(cx.node().get_int(attribute, 0));
  if (given == 0) return otherwise;
  return in_context(need_dtype(static_cast<ElementType>(given)), [&] { return str("attribute '", attribute, "'"); });
}

/// Input i, whose elements are `type`. ONNX's files have no E8M0, and some have no FP8: constants may be bytes of it.
Result<ValueId> of_type(ImportContext& cx, size_t i, DType type) {
  const ValueId x = TRY(cx.input(i));
  if (cx.dtype(x) == type) return x;
  const bool is_bytes = cx.dtype(x) == DType::kU8 && bits_of(type) == 8 && cx.is_constant(x);
  TRY(require(is_bytes, "input ", i, " '", cx.input_name(i), "' is ", cx.type(x), "; ", type, " is needed",
              bits_of(type) == 8 ? ", or bytes of it that are constants" : ""));
  const HostTensor bytes = TRY(cx.constant(x, cx.input_name(i)));
  HostTensor::Fresh fresh = TRY(HostTensor::make(type, bytes.extents()));
  if (!bytes.bytes().empty()) std::memcpy(fresh.data.data(), bytes.bytes().data(), bytes.bytes().size());
  return cx.add_constant(std::move(fresh.tensor));
}

/// How x is quantized by input 1, whose scales are of `scale_type` where that is known, along attribute `axis`, and in
/// blocks of `size` elements where scales have x's rank. Without a size their extents say the blocks.
struct Rule {
  DType to;
  int64_t axis = 1;
  int64_t size = 0;
  std::optional<DType> scale_type;
};
Result<Quantization> quantization_of(ImportContext& cx, ValueId x, const Rule& rule) {
  const ValueId scale = rule.scale_type ? TRY(of_type(cx, 1, *rule.scale_type)) : TRY(scales(cx, 1));
  Quantization by{scale, TRY(zero_points(cx, 2, rule.to)), -1, {}};
  const int64_t axis = TRY(cx.node().get_int("axis", rule.axis)),
                size = TRY(cx.node().get_int("block_size", rule.size));
  TRY(require(size >= 0, "block_size is ", size));
  const int rank = cx.rank(x), scale_rank = cx.rank(scale);
  const bool is_one = sym::provably_equal(cx.type(scale).volume(), 1);
  if (is_one || rank == 0) return by;  // TensorRT's parser ignores the axis of a single scale
  by.axis = TRY(cx.axis(axis, rank));
  if (size == 0 || scale_rank != rank || rank == 1) return by;
  by.block.assign(static_cast<size_t>(rank), 1);
  by.block[static_cast<size_t>(by.axis)] = size;
  return by;
}

Status quantize_to(ImportContext& cx, const Rule& rule) {
  cx.node().pass_over("precision");  // TensorRT warns that it computes as it does without
  const ValueId x = TRY(cx.input(0));
  const DType to = TRY(dtype_attribute(cx, "output_dtype", rule.to));
  TRY(require(to == rule.to, "output_dtype is ", to, "; ", cx.def().op_type, " makes ", rule.to));
  return cx.output(TRY(quantize(cx, x, TRY(quantization_of(cx, x, rule)), to)));
}

Status dequantize_from(ImportContext& cx, const Rule& rule) {
  const ValueId q = TRY(of_type(cx, 0, rule.to));
  const Quantization by = TRY(quantization_of(cx, q, rule));
  const DType type = cx.dtype(by.scale);
  const DType to = TRY(dtype_attribute(cx, "output_dtype", is_kernel_float(type) ? type : DType::kF32));
  return cx.output(TRY(dequantize(cx, q, by, to)));
}

constexpr int64_t kMicroscaled = 32, kFloat4Block = 16;

/// Quantizes in blocks along attribute `axis`; input 1 may be the scale of the scales.
Status quantize_dynamically(ImportContext& cx, ops::DynamicQuantize op, int64_t axis, int64_t size,
                            std::string_view kind) {
  const ValueId x = TRY(cx.input(0));
  op.axis = TRY(cx.axis(TRY(cx.node().get_int("axis", axis)), cx.rank(x)));
  op.block_size = TRY(cx.node().get_int("block_size", size));
  TRY(require(op.block_size == size, "block_size is ", op.block_size, "; ", kind, " has blocks of ", size));
  Values inputs{x};
  if (cx.has_input(1)) inputs.push_back(TRY(cx.input(1)));
  const Values made = TRY(cx.add_all(std::move(op), inputs));
  TRY(cx.output(0, made[0]));
  return cx.output(1, made[1]);
}

/// Attribute `block_shape`: extents of x that share a scale.
Result<std::vector<int64_t>> block_shape(ImportContext& cx) {
  Ints block = TRY(cx.node().get_ints("block_shape", {}));
  TRY(require(!block.empty(), "block_shape is missing or empty"));
  return std::vector<int64_t>(block.begin(), block.end());
}

}  // namespace

Status fp8_quantize_linear(ImportContext& cx) { return quantize_to(cx, {.to = DType::kF8E4M3}); }
Status fp8_dequantize_linear(ImportContext& cx) { return dequantize_from(cx, {.to = DType::kF8E4M3}); }
Status int4_quantize_linear(ImportContext& cx) { return quantize_to(cx, {.to = DType::kI4}); }
Status int4_dequantize_linear(ImportContext& cx) { return dequantize_from(cx, {.to = DType::kI4}); }

Status mxfp8_quantize_linear(ImportContext& cx) {
  return quantize_to(cx, {.to = DType::kF8E4M3, .axis = -1, .scale_type = DType::kE8M0});
}
Status mxfp8_dequantize_linear(ImportContext& cx) {
  return dequantize_from(cx, {.to = DType::kF8E4M3, .axis = -1, .scale_type = DType::kE8M0});
}
Status mxfp8_dynamic_quantize(ImportContext& cx) {
  const DType to = TRY(dtype_attribute(cx, "output_dtype", DType::kF8E4M3));
  TRY(require(to == DType::kF8E4M3, "output_dtype is ", to, "; ", cx.def().op_type, " makes ", DType::kF8E4M3));
  return quantize_dynamically(cx, {.to = DType::kF8E4M3, .scale_type = DType::kE8M0}, -1, kMicroscaled, "MXFP8");
}
Status fp4_dynamic_quantize(ImportContext& cx) {
  const DType scale = TRY(dtype_attribute(cx, "scale_type", DType::kF8E4M3));
  TRY(require(scale == DType::kF8E4M3, "scale_type is ", scale, "; ", DType::kF8E4M3, " is needed"));
  return quantize_dynamically(cx, {.to = DType::kF4E2M1, .scale_type = scale}, 1, kFloat4Block, "FP4");
}
/// FP4 weights, quantized and dequantized at once: no operator of TensorRT's parser either.
Status fp4_qdq(ImportContext& cx) {
  return error(Code::kUnsupported, cx.def().op_type,
               " of domain 'trt' stands for weights that ModelOpt quantizes when ",
               "it writes the file (fp4qdq_to_2dq): export the model by ModelOpt's own exporter");
}

Status block_quantize(ImportContext& cx) {
  const DType to = TRY(dtype_attribute(cx, "output_dtype", DType::kF8E4M3));
  const ValueId x = TRY(cx.input(0));
  return cx.output(TRY(quantize(cx, x, {TRY(scales(cx, 1)), ValueId::kNone, -1, TRY(block_shape(cx))}, to)));
}
Status block_dequantize(ImportContext& cx) {
  const ValueId q = TRY(cx.input(0)), scale = TRY(scales(cx, 1));
  const DType type = cx.dtype(scale);
  const DType to = TRY(dtype_attribute(cx, "output_dtype", is_kernel_float(type) ? type : DType::kF32));
  return cx.output(TRY(dequantize(cx, q, {scale, ValueId::kNone, -1, TRY(block_shape(cx))}, to)));
}
Status dynamic_quantize(ImportContext& cx) {
  ops::DynamicQuantize op;
  op.to = TRY(dtype_attribute(cx, "output_type", DType::kF32));
  op.scale_type = TRY(dtype_attribute(cx, "scale_type", DType::kF32));
  op.block = TRY(block_shape(cx));
  Values inputs{TRY(cx.input(0))};
  if (cx.has_input(1)) inputs.push_back(TRY(cx.input(1)));
  const Values made = TRY(cx.add_all(std::move(op), inputs));
  TRY(cx.output(0, made[0]));
  return cx.output(1, made[1]);
}

}  // namespace kiln::onnx::importers::trt
