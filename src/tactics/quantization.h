/// Quantize and Dequantize as instructions of a nest.
#pragma once

#include <span>
#include <string>

#include "ops/nest_program.h"
#include "tactics/tactic.h"

namespace kiln {

bool is_quantization(const Op& op);

/// Most instructions that one of them becomes.
inline constexpr size_t kQuantizationCode = 7;

/// Why a nest cannot compute the node; empty if it can. Its inputs and output have types of nests.
std::string quantization_refusal(const ir::Graph& graph, ir::NodeId node);

/// Appends the node's instructions; `inputs` are its operands, in order. Returns its result.
NestOperand append_quantization(NestProgram& program, const ir::Graph& graph, ir::NodeId node,
                                std::span<const NestOperand> inputs);

/// Bytes that kernels of a backend make of their results.
enum class QuantizedTo : uint8_t { kNothing, kIntegers, kIntegersAndFp8 };
/// A Quantize that a step may do before it writes its result (steps/quantized_result.h).
struct QuantizedResult {
  ir::ValueId x, scale, zero;  ///< the last one is kNone where it is 0
};
/// The root, if it is such a node.
std::expected<QuantizedResult, Reject> quantized_result(const ir::Graph& graph, ir::NodeId root, QuantizedTo reach);

}  // namespace kiln
