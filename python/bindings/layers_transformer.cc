// What language models are made of: attention, rotary embeddings, caches of keys and values, mixtures of experts; and
// exchanges between devices.

#include <NvInfer.h>

#include "layer_class.h"

namespace kiln::python {

using namespace nvinfer1;

namespace {

void set_attention_operation(IAttention& self, AttentionNormalizationOp op) {
  if (!self.setNormalizationOperation(op)) throw std::runtime_error("the attention's norm_op was refused");
}
void set_attention_ranks(IAttention& self, int32_t count) {
  if (!self.setNbRanks(count)) throw std::runtime_error("num_ranks was refused; 1 is the least");
}

void bind_attention(nb::module_& m) {
  using L = IAttention;
  nb::class_<L>(m, "IAttention", nb::is_weak_referenceable(),
                "Normalized products of queries and keys, times values, as one unit.")
      .def_prop_rw("mask", &L::getMask, &L::setMask,
                   "Tensor that chooses (BOOL) or is added to the scores; None if there is none.")
      .def_prop_rw("norm_op", &L::getNormalizationOperation, &set_attention_operation,
                   "AttentionNormalizationOp: what is done to the scores; RuntimeError if it is refused.")
      .def_prop_rw("decomposable", &L::getDecomposable, &L::setDecomposable,
                   "Whether it may become several layers where no kernel does it at once.")
      .def_prop_rw("causal", &L::getCausal, &L::setCausal, "Whether a query sees no later key.")
      .def_prop_rw("name", &L::getName, &L::setName, "Name for messages and profiles.")
      .def_prop_rw("metadata", &L::getMetadata, &L::setMetadata, "Text that the engine inspector shows with it.")
      .def_prop_rw("normalization_quantize_scale", &L::getNormalizationQuantizeScale, &L::setNormalizationQuantizeScale,
                   "Scale that quantizes the normalized scores, or None.")
      .def_prop_rw("normalization_quantize_to_type", &L::getNormalizationQuantizeToType,
                   &L::setNormalizationQuantizeToType, "Type of the quantized scores.")
      .def_prop_ro("num_inputs", &L::getNbInputs, "Number of inputs.")
      .def_prop_ro("num_outputs", &L::getNbOutputs, "Number of outputs.")
      .def("set_input", &L::setInput, "index"_a, "tensor"_a,
           "Replaces queries (0), keys (1) or values (2); False on an error.")
      .def("get_input", &L::getInput, "index"_a, nb::rv_policy::reference_internal, "The input of this index, or None.")
      .def("get_output", &L::getOutput, "index"_a, nb::rv_policy::reference_internal,
           "The output of this index, or None.")
      .def_prop_rw("num_ranks", &L::getNbRanks, &set_attention_ranks,
                   "Number of devices that run it, 1 by default; RuntimeError if it is refused.");
  layer_class<IAttentionBoundaryLayer>(m, "IAttentionBoundaryLayer",
                                       "Base of the layers at the boundary of an attention.")
      .def_prop_ro("attention", &IAttentionBoundaryLayer::getAttention, "The attention.");
  layer_class<IAttentionInputLayer, IAttentionBoundaryLayer>(m, "IAttentionInputLayer",
                                                             "Queries, keys and values that enter an attention.");
  layer_class<IAttentionOutputLayer, IAttentionBoundaryLayer>(m, "IAttentionOutputLayer",
                                                              "The result that leaves an attention.");
}

void set_cache_mode(IKVCacheUpdateLayer& self, KVCacheMode mode) {
  if (!self.setCacheMode(mode)) throw std::runtime_error("the cache mode was refused");
}

void bind_experts(nb::module_& m) {
  using L = IMoELayer;
  layer_class<L>(m, "IMoELayer", "A mixture of experts: each token goes through the experts chosen for it.")
      .def("set_gated_weights", &L::setGatedWeights, "fc_gate_weights"_a, "fc_up_weights"_a, "fc_down_weights"_a,
           "activation_type"_a, "Sets the weights of the experts' three products and the function of the gate.")
      .def("set_gated_biases", &L::setGatedBiases, "fc_gate_biases"_a, "fc_up_biases"_a, "fc_down_biases"_a,
           "Sets what is added behind the experts' three products.")
      .def_prop_rw("activation_type", &L::getActivationType, &L::setActivationType, "MoEActType: function of the gate.")
      .def("set_quantization_static", &L::setQuantizationStatic, "fc_down_activation_scale"_a, "data_type"_a,
           "Quantizes the input of the last product by a scale that is given.")
      .def("set_quantization_dynamic_dbl_q", &L::setQuantizationDynamicDblQ, "fc_down_activation_dbl_q_scale"_a,
           "data_type"_a, "block_shape"_a, "dyn_q_output_scale_type"_a,
           "Quantizes the input of the last product in blocks, by scales that are computed and then quantized.")
      .def_prop_rw("quantization_to_type", &L::getQuantizationToType, &L::setQuantizationToType,
                   "Type that the input of the last product is quantized to.")
      .def_prop_rw("quantization_block_shape", &L::getQuantizationBlockShape, &L::setQuantizationBlockShape,
                   "Extents of the blocks that share a computed scale.")
      .def_prop_rw("dyn_q_output_scale_type", &L::getDynQOutputScaleType, &L::setDynQOutputScaleType,
                   "Type of the computed scales.")
      .def("set_swiglu_params", &L::setSwigluParams, "limit"_a, "alpha"_a, "beta"_a,
           "Sets the three parameters of the gate at once.")
      .def_prop_rw("swiglu_param_limit", &L::getSwigluParamLimit, &L::setSwigluParamLimit,
                   "Limit of the gate's values.")
      .def_prop_rw("swiglu_param_alpha", &L::getSwigluParamAlpha, &L::setSwigluParamAlpha,
                   "Factor inside of the gate's sigmoid.")
      .def_prop_rw("swiglu_param_beta", &L::getSwigluParamBeta, &L::setSwigluParamBeta,
                   "What is added to the gate's other factor.")
      .def("set_input", &L::setInput, "index"_a, "tensor"_a,
           "Replaces hidden states (0), chosen experts (1) or their scores (2).");
}

}  // namespace

void bind_layers_transformer(nb::module_& m) {
  bind_attention(m);
  layer_class<IRotaryEmbeddingLayer>(m, "IRotaryEmbeddingLayer",
                                     "Rotates pairs of features by angles that follow from the position.")
      .def_prop_rw("interleaved", &IRotaryEmbeddingLayer::getInterleaved, &IRotaryEmbeddingLayer::setInterleaved,
                   "Whether pairs are neighbours; else one half of the features pairs with the other.")
      .def_prop_rw("rotary_embedding_dim", &IRotaryEmbeddingLayer::getRotaryEmbeddingDim,
                   &IRotaryEmbeddingLayer::setRotaryEmbeddingDim, "Number of features that are rotated; 0: all.")
      .def("set_input", &IRotaryEmbeddingLayer::setInput, "index"_a, "tensor"_a,
           "Replaces data (0), cosines (1) or sines (2), or gives positions (3).");
  layer_class<IKVCacheUpdateLayer>(m, "IKVCacheUpdateLayer", "Writes new keys or values into a cache.")
      .def_prop_rw("cache_mode", &IKVCacheUpdateLayer::getCacheMode, &set_cache_mode,
                   "KVCacheMode; RuntimeError if it is refused.")
      .def("set_input", &IKVCacheUpdateLayer::setInput, "index"_a, "tensor"_a,
           "Replaces cache (0), update (1) or the rows where updates are written (2).");
  bind_experts(m);
  layer_class<IDistCollectiveLayer>(m, "IDistCollectiveLayer", "Exchanges a tensor between devices.");
}

}  // namespace kiln::python
