#include "tactics/quantization.h"

#include "ops/dequantize.h"
#include "ops/quantization.h"
#include "ops/quantize.h"

namespace kiln {
namespace {

/// Appends instructions to a program.
class Writer {
 public:
  explicit Writer(NestProgram& program) : program_(program) {}

  NestOperand cast(NestOperand x, DType to) {
    const DType from = program_.type_of(x);
    return from == to ? x : add({.fn = ScalarFn::kCast, .type = from, .result = to, .args = {x}});
  }
  NestOperand apply(ScalarFn fn, NestOperand a, NestOperand b = 0) {
    const DType type = program_.type_of(a);
    return add({.fn = fn, .type = type, .result = type, .args = {a, b}});
  }

 private:
  NestOperand add(NestInstruction instruction) {
    program_.code.push_back(instruction);
    return static_cast<NestOperand>(program_.code.size()) - 1;
  }

  NestProgram& program_;
};

/// saturate(round(x / scale) + zero): FP32 has every integer that does not saturate. FP8 is rounded by its cast alone.
NestOperand quantized(Writer writer, std::span<const NestOperand> inputs, DType to) {
  const NestOperand x = writer.cast(inputs[0], DType::kF32), scale = writer.cast(inputs[1], DType::kF32);
  NestOperand y = writer.apply(ScalarFn::kDiv, x, scale);
  if (is_integer(to)) y = writer.apply(ScalarFn::kRound, y);
  if (inputs.size() > 2) y = writer.apply(ScalarFn::kSum, y, writer.cast(inputs[2], DType::kF32));
  return writer.cast(y, to);
}

/// (q - zero) * scale
NestOperand dequantized(Writer writer, std::span<const NestOperand> inputs, DType to) {
  NestOperand y = writer.cast(inputs[0], DType::kF32);
  if (inputs.size() > 2) y = writer.apply(ScalarFn::kSub, y, writer.cast(inputs[2], DType::kF32));
  return writer.cast(writer.apply(ScalarFn::kProd, y, writer.cast(inputs[1], DType::kF32)), to);
}

}  // namespace

bool is_quantization(const Op& op) { return op.as<ops::Quantize>() || op.as<ops::Dequantize>(); }

std::string quantization_refusal(const ir::Graph& graph, ir::NodeId node) {
  const TensorType &x = graph.input_type(node, 0), &scale = graph.input_type(node, 1);
  return broadcasts_over(scale.shape, x.shape) ? "" : str("scales ", scale, " do not broadcast over ", x);
}

NestOperand append_quantization(NestProgram& program, const ir::Graph& graph, ir::NodeId node,
                                std::span<const NestOperand> inputs) {
  const DType to = graph.output_type(node).dtype;
  const Writer writer(program);
  return graph.node(node).op.as<ops::Quantize>() ? quantized(writer, inputs, to) : dequantized(writer, inputs, to);
}

std::expected<QuantizedResult, Reject> quantized_result(const ir::Graph& graph, ir::NodeId root, QuantizedTo reach) {
  const ir::Node& node = graph.node(root);
  if (!node.op.as<ops::Quantize>()) return reject(node.op.name(), " does not quantize");
  const QuantizedResult result{node.inputs[0], node.inputs[1],
                               node.inputs.size() > 2 ? node.inputs[2] : ir::ValueId::kNone};
  const DType to = graph.output_type(root).dtype;
  const bool is_taken = reach != QuantizedTo::kNothing &&
                        (is_byte(to) || (reach == QuantizedTo::kIntegersAndFp8 && to == DType::kF8E4M3));
  if (!is_taken) return reject("no kernel that computes in floats writes ", to);
  for (const ir::ValueId operand : {result.scale, result.zero}) {
    if (operand == ir::ValueId::kNone) continue;
    const HostTensor* constant = graph.constant(operand);
    if (!constant || constant->volume() != 1)
      return reject("it is quantized by ", graph.type(operand), "; a constant of one element is needed");
  }
  if (!is_kernel_float(graph.type(result.x).dtype) || !is_kernel_float(graph.type(result.scale).dtype))
    return reject("it quantizes ", graph.type(result.x), " by ", graph.type(result.scale));
  if (to == DType::kF8E4M3 && result.zero != ir::ValueId::kNone) return reject("FP8 with a zero point");
  return result;
}

}  // namespace kiln
