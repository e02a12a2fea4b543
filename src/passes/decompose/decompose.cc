#include "passes/decompose/decompose.h"

#include "ops/attention.h"
#include "ops/attention_output.h"
#include "ops/dist_collective.h"
#include "ops/einsum.h"
#include "ops/kv_cache_update.h"
#include "ops/lrn.h"
#include "ops/moe.h"
#include "ops/one_hot.h"
#include "ops/padding.h"
#include "ops/parametric_relu.h"
#include "ops/ragged_softmax.h"
#include "ops/reverse_sequence.h"
#include "ops/rotary_embedding.h"
#include "ops/scale.h"
#include "ops/shuffle.h"

namespace kiln::passes {
namespace {

using Decomposition = Result<ir::ValueId> (*)(ir::Graph&, ir::NodeId);

Decomposition decomposition_of(const Op& op) {
  if (op.as<ops::Scale>()) return decompose_scale;
  if (op.as<ops::Shuffle>()) return decompose_shuffle;
  if (op.as<ops::Einsum>()) return decompose_einsum;
  if (op.as<ops::OneHot>()) return decompose_one_hot;
  if (op.as<ops::Padding>()) return decompose_padding;
  if (op.as<ops::ReverseSequence>()) return decompose_reverse_sequence;
  if (op.as<ops::ParametricRelu>()) return decompose_parametric_relu;
  if (op.as<ops::Lrn>()) return decompose_lrn;
  if (op.as<ops::RaggedSoftmax>()) return decompose_ragged_softmax;
  if (op.as<ops::RotaryEmbedding>()) return decompose_rotary_embedding;
  if (op.as<ops::Attention>()) return decompose_attention;
  if (op.as<ops::AttentionOutput>()) return decompose_attention_output;
  if (op.as<ops::KvCacheUpdate>()) return decompose_kv_cache_update;
  if (op.as<ops::DistCollective>()) return decompose_dist_collective;
  if (op.as<ops::Moe>()) return decompose_moe;
  return nullptr;
}

}  // namespace

Status decompose(ir::Graph& graph, PassContext&) {
  for (const ir::NodeId id : TRY(graph.topological_order())) {
    const ir::Node& node = graph.node(id);
    if (!node.op.has(Trait::kDecomposed)) continue;
    const Decomposition rule = decomposition_of(node.op);
    if (!rule) return error(Code::kInternal, node.op.name(), " is to be decomposed and has no rule");
    const int first_new = graph.num_nodes();
    const std::vector<std::string> provenance = node.provenance;
    const std::string name = node.name;
    const ir::ValueId output = node.outputs[0];
    const ir::ValueId made = TRY(in_context(rule(graph, id), [&] { return str("decomposing '", name, "'"); }));
    for (int i = first_new; i < graph.num_nodes(); ++i) {
      graph.set_provenance(static_cast<ir::NodeId>(i), provenance);
      if (graph.node(static_cast<ir::NodeId>(i)).name.empty()) graph.set_name(static_cast<ir::NodeId>(i), name);
    }
    const std::string value_name = graph.value(output).name;
    graph.replace_uses(output, made);
    if (graph.value(made).name.empty()) graph.set_name(made, value_name);
    graph.remove(id);
  }
  return graph.infer();
}

}  // namespace kiln::passes
