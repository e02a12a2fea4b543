/// Every kind of layer: how a network adds one, and how the object of a node that the parser made comes about.
#pragma once

#include <NvInfer.h>

#include <memory>
#include <optional>
#include <span>

#include "api/build/network.h"

namespace kiln::ops {
#define OP(name) struct name;
#include "ops/ops.def"
#undef OP
}  // namespace kiln::ops

namespace kiln::api {

/// The object of a node. Nodes of ops that are no layer of the API (an Expand of ONNX) get one with no more than a
/// layer's general slots.
std::unique_ptr<Layer> make_layer(Network& network, ir::NodeId node);

// As INetworkDefinition's calls of these names. A failure says which rule an argument breaks.
Result<nv::IActivationLayer*> add_activation(Network& network, nv::ITensor& input, nv::ActivationType type);
Result<nv::IAssertionLayer*> add_assertion(Network& network, nv::ITensor& condition, const char* message);
Result<nv::IAttention*> add_attention(Network& network, nv::ITensor& query, nv::ITensor& key, nv::ITensor& value,
                                      nv::AttentionNormalizationOp normalization, bool causal);
Result<nv::ICastLayer*> add_cast(Network& network, nv::ITensor& input, nv::DataType to_type);
Result<nv::IConcatenationLayer*> add_concatenation(Network& network, nv::ITensor* const* inputs, int32_t num_inputs);
Result<nv::IConstantLayer*> add_constant(Network& network, const nv::Dims& dimensions, nv::Weights weights);
Result<nv::IConvolutionLayer*> add_convolution(Network& network, nv::ITensor& input, int64_t num_output_maps,
                                               const nv::Dims& kernel_size, nv::Weights kernel, nv::Weights bias);
Result<nv::ICumulativeLayer*> add_cumulative(Network& network, nv::ITensor& input, nv::ITensor& axis,
                                             nv::CumulativeOperation operation, bool exclusive, bool reverse);
Result<nv::IDeconvolutionLayer*> add_deconvolution(Network& network, nv::ITensor& input, int64_t num_output_maps,
                                                   const nv::Dims& kernel_size, nv::Weights kernel, nv::Weights bias);
Result<nv::IDequantizeLayer*> add_dequantize(Network& network, nv::ITensor& input, nv::ITensor& scale,
                                             nv::DataType to_type);
Result<nv::IDynamicQuantizeLayer*> add_dynamic_quantize(Network& network, nv::ITensor& input, int32_t axis,
                                                        int32_t block_size, nv::DataType to_type,
                                                        nv::DataType scale_type);
Result<nv::IDynamicQuantizeLayer*> add_dynamic_quantize(Network& network, nv::ITensor& input,
                                                        const nv::Dims& block_shape, nv::DataType to_type,
                                                        nv::DataType scale_type);
/// `ranks` are those that take part; none: all.
Result<nv::IDistCollectiveLayer*> add_dist_collective(Network& network, nv::ITensor& input,
                                                      nv::CollectiveOperation operation, nv::ReduceOperation reduction,
                                                      int64_t root, std::span<const int64_t> ranks);
Result<nv::IEinsumLayer*> add_einsum(Network& network, nv::ITensor* const* inputs, int32_t num_inputs,
                                     const char* equation);
Result<nv::IElementWiseLayer*> add_element_wise(Network& network, nv::ITensor& a, nv::ITensor& b,
                                                nv::ElementWiseOperation operation);
/// Without a type, the output has that of alpha and beta: kFLOAT, kINT64 or what their tensors have.
Result<nv::IFillLayer*> add_fill(Network& network, const nv::Dims& dimensions, nv::FillOperation operation,
                                 std::optional<nv::DataType> to_type);
Result<nv::INMSLayer*> add_non_max_suppression(Network& network, nv::ITensor& boxes, nv::ITensor& scores,
                                               nv::ITensor& most, nv::DataType indices_type);
Result<nv::INonZeroLayer*> add_non_zero(Network& network, nv::ITensor& input, nv::DataType indices_type);
Result<nv::IGatherLayer*> add_gather(Network& network, nv::ITensor& data, nv::ITensor& indices, nv::GatherMode mode,
                                     int32_t axis);
Result<nv::IGridSampleLayer*> add_grid_sample(Network& network, nv::ITensor& input, nv::ITensor& grid);
Result<nv::IIdentityLayer*> add_identity(Network& network, nv::ITensor& input);
Result<nv::IKVCacheUpdateLayer*> add_kv_cache_update(Network& network, nv::ITensor& cache, nv::ITensor& update,
                                                     nv::ITensor& write_indices, nv::KVCacheMode mode);
nv::IIfConditional* add_conditional(Network& network);
nv::ILoop* add_loop(Network& network);
Result<nv::ILRNLayer*> add_lrn(Network& network, nv::ITensor& input, int64_t window, float alpha, float beta, float k);
Result<nv::IMatrixMultiplyLayer*> add_matrix_multiply(Network& network, nv::ITensor& a, nv::MatrixOperation a_op,
                                                      nv::ITensor& b, nv::MatrixOperation b_op);
Result<nv::IMoELayer*> add_moe(Network& network, nv::ITensor& hidden_states, nv::ITensor& selected_experts,
                               nv::ITensor& scores);
/// `v2`: scale and bias have the shapes of addNormalizationV2, one element a channel.
Result<nv::INormalizationLayer*> add_normalization(Network& network, nv::ITensor& input, nv::ITensor& scale,
                                                   nv::ITensor& bias, uint32_t axes, bool v2);
Result<nv::IOneHotLayer*> add_one_hot(Network& network, nv::ITensor& indices, nv::ITensor& values, nv::ITensor& depth,
                                      int32_t axis);
Result<nv::IPaddingLayer*> add_padding(Network& network, nv::ITensor& input, const nv::Dims& pre, const nv::Dims& post);
Result<nv::IParametricReLULayer*> add_parametric_relu(Network& network, nv::ITensor& input, nv::ITensor& slope);
Result<nv::IPluginV2Layer*> add_plugin_v2(Network& network, nv::ITensor* const* inputs, int32_t num_inputs,
                                          nv::IPluginV2& plugin);
Result<nv::IPluginV3Layer*> add_plugin_v3(Network& network, nv::ITensor* const* inputs, int32_t num_inputs,
                                          nv::ITensor* const* shape_inputs, int32_t num_shape_inputs,
                                          nv::IPluginV3& plugin);
Result<nv::IPoolingLayer*> add_pooling(Network& network, nv::ITensor& input, nv::PoolingType type,
                                       const nv::Dims& window);
Result<nv::IQuantizeLayer*> add_quantize(Network& network, nv::ITensor& input, nv::ITensor& scale,
                                         nv::DataType to_type);
Result<nv::IRaggedSoftMaxLayer*> add_ragged_softmax(Network& network, nv::ITensor& input, nv::ITensor& bounds);
Result<nv::IReduceLayer*> add_reduce(Network& network, nv::ITensor& input, nv::ReduceOperation operation, uint32_t axes,
                                     bool keep);
Result<nv::IResizeLayer*> add_resize(Network& network, nv::ITensor& input);
Result<nv::IReverseSequenceLayer*> add_reverse_sequence(Network& network, nv::ITensor& input,
                                                        nv::ITensor& sequence_lens);
Result<nv::IRotaryEmbeddingLayer*> add_rotary_embedding(Network& network, nv::ITensor& input, nv::ITensor& cos_cache,
                                                        nv::ITensor& sin_cache, bool interleaved, int32_t dim);
struct ScaleWeights {
  nv::Weights shift, scale, power;
};
Result<nv::IScaleLayer*> add_scale(Network& network, nv::ITensor& input, nv::ScaleMode mode,
                                   const ScaleWeights& weights, int32_t channel_axis);
Result<nv::IScatterLayer*> add_scatter(Network& network, nv::ITensor& data, nv::ITensor& indices, nv::ITensor& updates,
                                       nv::ScatterMode mode);
Result<nv::ISelectLayer*> add_select(Network& network, nv::ITensor& condition, nv::ITensor& then_input,
                                     nv::ITensor& else_input);
Result<nv::IShapeLayer*> add_shape(Network& network, nv::ITensor& input);
Result<nv::IShuffleLayer*> add_shuffle(Network& network, nv::ITensor& input);
Result<nv::ISliceLayer*> add_slice(Network& network, nv::ITensor& input, const nv::Dims& start, const nv::Dims& size,
                                   const nv::Dims& stride);
Result<nv::ISoftMaxLayer*> add_softmax(Network& network, nv::ITensor& input);
Result<nv::ISqueezeLayer*> add_squeeze(Network& network, nv::ITensor& input, nv::ITensor& axes);
Result<nv::ITopKLayer*> add_top_k(Network& network, nv::ITensor& input, nv::TopKOperation operation, int32_t k,
                                  uint32_t axes, nv::DataType indices_type);
Result<nv::IUnaryLayer*> add_unary(Network& network, nv::ITensor& input, nv::UnaryOperation operation);
Result<nv::IUnsqueezeLayer*> add_unsqueeze(Network& network, nv::ITensor& input, nv::ITensor& axes);

/// The layer of an op that only the parser makes and the API has no class for: to a program it is one without settings
/// of its own, as an identity is.
template <class T>
using LayerAsIdentity = LayerOf<T, nv::LayerType::kIDENTITY, nv::IIdentityLayer, nv::apiv::VIdentityLayer>;

// The objects of nodes that exist already.
using MakeLayer = std::unique_ptr<Layer> (*)(Network& network, ir::NodeId node);
template <class L>
std::unique_ptr<Layer> make(Network& network, ir::NodeId node) {
  return std::make_unique<L>(network, node);
}
// What makes them, by op. An op without one fails to link.
#define OP(name) MakeLayer maker_of(Tag<ops::name>);
#include "ops/ops.def"
#undef OP

}  // namespace kiln::api
