/// Quantize and Dequantize as instructions of a nest.
#pragma once

#include <span>
#include <string>

#include "ir/graph.h"
#include "ops/nest_program.h"

namespace kiln {

bool is_quantization(const Op& op);

/// Most instructions that one of them becomes.
inline constexpr size_t kQuantizationCode = 7;

/// Why a nest cannot compute the node; empty if it can. Its inputs and output have types of nests.
std::string quantization_refusal(const ir::Graph& graph, ir::NodeId node);

/// Appends the node's instructions; `inputs` are its operands, in order. Returns its result.
NestOperand append_quantization(NestProgram& program, const ir::Graph& graph, ir::NodeId node,
                                std::span<const NestOperand> inputs);

}  // namespace kiln
