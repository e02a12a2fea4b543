/// Row-wise nodes: they treat every row of the last axis alike, so that rows may come in any order and under any
/// leading axes.
#pragma once

#include "ir/graph.h"

namespace kiln::passes {

/// The input whose rows a node maps one to one: a MatrixMultiply's by a constant matrix, the one of a pointwise op
/// whose other operand is a constant row or one element, or that of a Quantize or Dequantize by one constant scale. -1
/// where the node is something else.
int row_input(const ir::Graph& graph, ir::NodeId id);
/// The elements of a product's right operand, if they are a constant matrix: its numbers, or the bytes that a
/// Dequantize makes numbers of, by one scale or one a column. Null if they are not.
const HostTensor* matrix_of(const ir::Graph& graph, ir::NodeId product);
/// Whether the node is such a MatrixMultiply.
bool is_row_product(const ir::Graph& graph, ir::NodeId id);

}  // namespace kiln::passes
