// INetworkDefinition's calls that add selections, fills, quantization, and what language models are made of.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "network.h"

namespace kiln::python {

using namespace nvinfer1;

namespace {

/// A method of the network of these arguments, of which several have the name.
template <class R, class... A>
constexpr auto taking(R (N::*method)(A...)) {
  return method;
}

void bind_selections(NetworkClass& network) {
  network
      .def("add_topk", taking<ITopKLayer*, ITensor&, TopKOperation, int32_t, uint32_t>(&N::addTopK), "input"_a, "op"_a,
           "k"_a, "axes"_a, kOwned,
           "Adds the k largest or least elements along the axis whose bit is set, and their indices. None on an error.")
      .def("add_topk", taking<ITopKLayer*, ITensor&, TopKOperation, int32_t, uint32_t, DataType>(&N::addTopK),
           "input"_a, "op"_a, "k"_a, "axes"_a, "indices_type"_a, kOwned)
      .def("add_non_zero", taking<INonZeroLayer*, ITensor&>(&N::addNonZero), "input"_a, kOwned,
           "Adds the indices of the elements that are not zero, [rank, count]. None on an error.")
      .def("add_non_zero", taking<INonZeroLayer*, ITensor&, DataType>(&N::addNonZero), "input"_a, "indices_type"_a,
           kOwned)
      .def("add_nms", taking<INMSLayer*, ITensor&, ITensor&, ITensor&>(&N::addNMS), "boxes"_a, "scores"_a,
           "max_output_boxes_per_class"_a, kOwned, "Adds the best boxes that do not overlap much. None on an error.")
      .def("add_nms", taking<INMSLayer*, ITensor&, ITensor&, ITensor&, DataType>(&N::addNMS), "boxes"_a, "scores"_a,
           "max_output_boxes_per_class"_a, "indices_type"_a, kOwned)
      .def("add_fill", taking<IFillLayer*, const Dims&, FillOperation, DataType>(&N::addFill), "shape"_a, "op"_a,
           "output_type"_a, kOwned, "Adds a tensor of a sequence or of random numbers. None on an error.")
      .def("add_fill", taking<IFillLayer*, const Dims&, FillOperation>(&N::addFill), "shape"_a, "op"_a, kOwned);
}

void bind_quantization(NetworkClass& network) {
  network
      .def("add_quantize", taking<IQuantizeLayer*, ITensor&, ITensor&>(&N::addQuantize), "input"_a, "scale"_a, kOwned,
           "Divides by a scale and rounds to a small type. None on an error.")
      .def("add_quantize", taking<IQuantizeLayer*, ITensor&, ITensor&, DataType>(&N::addQuantize), "input"_a, "scale"_a,
           "output_type"_a, kOwned)
      .def("add_dequantize", taking<IDequantizeLayer*, ITensor&, ITensor&>(&N::addDequantize), "input"_a, "scale"_a,
           kOwned, "Multiplies quantized elements by their scale. None on an error.")
      .def("add_dequantize", taking<IDequantizeLayer*, ITensor&, ITensor&, DataType>(&N::addDequantize), "input"_a,
           "scale"_a, "output_type"_a, kOwned)
      .def("add_dynamic_quantize", &N::addDynamicQuantize, "input"_a, "axis"_a, "block_size"_a, "output_type"_a,
           "scale_type"_a, kOwned, "Quantizes blocks along an axis, by scales of the data. None on an error.")
      .def("add_dynamic_quantize_v2", &N::addDynamicQuantizeV2, "input"_a, "block_shape"_a, "output_type"_a,
           "scale_type"_a, kOwned, "Quantizes blocks of a shape, by scales of the data. None on an error.");
}

IDistCollectiveLayer* add_dist_collective(N& self, ITensor& input, CollectiveOperation collective,
                                          ReduceOperation reduce, int64_t root,
                                          std::optional<std::vector<int64_t>> groups) {
  std::vector<int64_t> ranks = groups.value_or(std::vector<int64_t>());
  return self.addDistCollective(input, collective, reduce, root, ranks.data(), static_cast<int64_t>(ranks.size()));
}

void bind_transformer(NetworkClass& network) {
  network
      .def("add_attention", &N::addAttention, "query"_a, "key"_a, "value"_a, "norm_op"_a, "causal"_a, kOwned,
           "Adds an attention of [batch, heads, length, size] tensors; causal: a query sees no later key. None on an "
           "error.")
      .def("add_rotary_embedding", &N::addRotaryEmbedding, "input"_a, "cos_cache"_a, "sin_cache"_a, "interleaved"_a,
           "rotary_embedding_dim"_a, kOwned, "Rotates pairs of features by angles of the position. None on an error.")
      .def("add_kv_cache_update", &N::addKVCacheUpdate, "cache"_a, "update"_a, "write_indices"_a, "cache_mode"_a,
           kOwned, "Writes new keys or values into a cache at the given rows. None on an error.")
      .def("add_moe", &N::addMoE, "hidden_states"_a, "selected_experts_for_tokens"_a, "scores_for_selected_experts"_a,
           kOwned, "Adds a mixture of experts; its weights are set on the layer. None on an error.")
      .def("add_dist_collective", &add_dist_collective, "input"_a, "dist_collective_op"_a, "reduce_op"_a, "root"_a,
           "groups"_a.none(), kOwned, "Exchanges a tensor between devices. None on an error.");
}

}  // namespace

void bind_network_more_layers(NetworkClass& network) {
  bind_selections(network);
  bind_quantization(network);
  bind_transformer(network);
}

}  // namespace kiln::python
