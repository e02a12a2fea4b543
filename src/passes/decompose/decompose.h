/// Ops that are only conveniences, spelled out. One file an op; the pass runs them all.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// Every kDecomposed op becomes others with the same meaning.
Status decompose(ir::Graph& graph, PassContext& cx);

/// Adds what computes the node's output 0 and returns it.
Result<ir::ValueId> decompose_scale(ir::Graph& graph, ir::NodeId id);
Result<ir::ValueId> decompose_shuffle(ir::Graph& graph, ir::NodeId id);
Result<ir::ValueId> decompose_einsum(ir::Graph& graph, ir::NodeId id);
Result<ir::ValueId> decompose_one_hot(ir::Graph& graph, ir::NodeId id);
Result<ir::ValueId> decompose_padding(ir::Graph& graph, ir::NodeId id);
Result<ir::ValueId> decompose_reverse_sequence(ir::Graph& graph, ir::NodeId id);
Result<ir::ValueId> decompose_parametric_relu(ir::Graph& graph, ir::NodeId id);
Result<ir::ValueId> decompose_lrn(ir::Graph& graph, ir::NodeId id);
Result<ir::ValueId> decompose_ragged_softmax(ir::Graph& graph, ir::NodeId id);
Result<ir::ValueId> decompose_rotary_embedding(ir::Graph& graph, ir::NodeId id);
Result<ir::ValueId> decompose_attention(ir::Graph& graph, ir::NodeId id);
Result<ir::ValueId> decompose_attention_output(ir::Graph& graph, ir::NodeId id);
Result<ir::ValueId> decompose_kv_cache_update(ir::Graph& graph, ir::NodeId id);
Result<ir::ValueId> decompose_dist_collective(ir::Graph& graph, ir::NodeId id);
Result<ir::ValueId> decompose_moe(ir::Graph& graph, ir::NodeId id);

}  // namespace kiln::passes
