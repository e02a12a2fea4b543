// INetworkDefinition's calls that add layers: layers/<op>.cc has each.
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

/// The layer that `add` made, or null after the reporter was told why not.
template <class L, class F>
L* added(const Reporter& reporter, const char* call, F add) noexcept {
  return guard(reporter, call, static_cast<L*>(nullptr), [&]() -> Result<L*> { return add(); });
}

}  // namespace

nv::IActivationLayer* Network::addActivation(nv::ITensor& input, nv::ActivationType type) noexcept {
  return added<nv::IActivationLayer>(reporter_, "INetworkDefinition::addActivation",
                                     [&] { return add_activation(*this, input, type); });
}

nv::IScaleLayer* Network::addScale(nv::ITensor& input, nv::ScaleMode mode, nv::Weights shift, nv::Weights scale,
                                   nv::Weights power) noexcept {
  return added<nv::IScaleLayer>(reporter_, "INetworkDefinition::addScale", [&]() -> Result<nv::IScaleLayer*> {
    const int rank = TRY(rank_of(TRY(value_of(input, "input"))));
    TRY(require(rank >= 4, "the input has rank ", rank, "; addScale needs 4 at least, addScaleNd does not"));
    return add_scale(*this, input, mode, {shift, scale, power}, 1);
  });
}

nv::ISoftMaxLayer* Network::addSoftMax(nv::ITensor& input) noexcept {
  return added<nv::ISoftMaxLayer>(reporter_, "INetworkDefinition::addSoftMax",
                                  [&] { return add_softmax(*this, input); });
}

nv::IConcatenationLayer* Network::addConcatenation(nv::ITensor* const* inputs, int32_t nbInputs) noexcept {
  return added<nv::IConcatenationLayer>(reporter_, "INetworkDefinition::addConcatenation",
                                        [&] { return add_concatenation(*this, inputs, nbInputs); });
}

nv::IElementWiseLayer* Network::addElementWise(nv::ITensor& input1, nv::ITensor& input2,
                                               nv::ElementWiseOperation op) noexcept {
  return added<nv::IElementWiseLayer>(reporter_, "INetworkDefinition::addElementWise",
                                      [&] { return add_element_wise(*this, input1, input2, op); });
}

nv::IUnaryLayer* Network::addUnary(nv::ITensor& input, nv::UnaryOperation operation) noexcept {
  return added<nv::IUnaryLayer>(reporter_, "INetworkDefinition::addUnary",
                                [&] { return add_unary(*this, input, operation); });
}

nv::IShuffleLayer* Network::addShuffle(nv::ITensor& input) noexcept {
  return added<nv::IShuffleLayer>(reporter_, "INetworkDefinition::addShuffle",
                                  [&] { return add_shuffle(*this, input); });
}

nv::IReduceLayer* Network::addReduce(nv::ITensor& input, nv::ReduceOperation operation, uint32_t reduceAxes,
                                     bool keepDimensions) noexcept {
  return added<nv::IReduceLayer>(reporter_, "INetworkDefinition::addReduce",
                                 [&] { return add_reduce(*this, input, operation, reduceAxes, keepDimensions); });
}

nv::INMSLayer* Network::addNMS(nv::ITensor& boxes, nv::ITensor& scores, nv::ITensor& most) noexcept {
  return addNMSV2(boxes, scores, most, nv::DataType::kINT32);
}
nv::INMSLayer* Network::addNMSV2(nv::ITensor& boxes, nv::ITensor& scores, nv::ITensor& most,
                                 nv::DataType indices_type) noexcept {
  return added<nv::INMSLayer>(reporter_, "INetworkDefinition::addNMS",
                              [&] { return add_non_max_suppression(*this, boxes, scores, most, indices_type); });
}
nv::INonZeroLayer* Network::addNonZero(nv::ITensor& input) noexcept {
  return addNonZeroV2(input, nv::DataType::kINT32);
}
nv::INonZeroLayer* Network::addNonZeroV2(nv::ITensor& input, nv::DataType indices_type) noexcept {
  return added<nv::INonZeroLayer>(reporter_, "INetworkDefinition::addNonZero",
                                  [&] { return add_non_zero(*this, input, indices_type); });
}
nv::IPluginV2Layer* Network::addPluginV2(nv::ITensor* const* inputs, int32_t num_inputs,
                                         nv::IPluginV2& plugin) noexcept {
  return added<nv::IPluginV2Layer>(reporter_, "INetworkDefinition::addPluginV2", [&]() -> Result<nv::IPluginV2Layer*> {
    TRY(require(address_of(plugin) != nullptr, "the plugin is null"));
    return add_plugin_v2(*this, inputs, num_inputs, plugin);
  });
}
nv::IPluginV3Layer* Network::addPluginV3(nv::ITensor* const* inputs, int32_t num_inputs,
                                         nv::ITensor* const* shape_inputs, int32_t num_shape_inputs,
                                         nv::IPluginV3& plugin) noexcept {
  return added<nv::IPluginV3Layer>(reporter_, "INetworkDefinition::addPluginV3", [&]() -> Result<nv::IPluginV3Layer*> {
    TRY(require(address_of(plugin) != nullptr, "the plugin is null"));
    return add_plugin_v3(*this, inputs, num_inputs, shape_inputs, num_shape_inputs, plugin);
  });
}
nv::IGatherLayer* Network::addGather(nv::ITensor& data, nv::ITensor& indices, int32_t axis) noexcept {
  return added<nv::IGatherLayer>(reporter_, "INetworkDefinition::addGather",
                                 [&] { return add_gather(*this, data, indices, nv::GatherMode::kDEFAULT, axis); });
}

nv::IMatrixMultiplyLayer* Network::addMatrixMultiply(nv::ITensor& input0, nv::MatrixOperation op0, nv::ITensor& input1,
                                                     nv::MatrixOperation op1) noexcept {
  return added<nv::IMatrixMultiplyLayer>(reporter_, "INetworkDefinition::addMatrixMultiply",
                                         [&] { return add_matrix_multiply(*this, input0, op0, input1, op1); });
}

nv::IConstantLayer* Network::addConstant(const nv::Dims& dimensions, nv::Weights weights) noexcept {
  return added<nv::IConstantLayer>(reporter_, "INetworkDefinition::addConstant",
                                   [&] { return add_constant(*this, dimensions, weights); });
}

nv::IIdentityLayer* Network::addIdentity(nv::ITensor& input) noexcept {
  return added<nv::IIdentityLayer>(reporter_, "INetworkDefinition::addIdentity",
                                   [&] { return add_identity(*this, input); });
}

nv::ISliceLayer* Network::addSlice(nv::ITensor& input, const nv::Dims& start, const nv::Dims& size,
                                   const nv::Dims& stride) noexcept {
  return added<nv::ISliceLayer>(reporter_, "INetworkDefinition::addSlice",
                                [&] { return add_slice(*this, input, start, size, stride); });
}

nv::IShapeLayer* Network::addShape(nv::ITensor& input) noexcept {
  return added<nv::IShapeLayer>(reporter_, "INetworkDefinition::addShape", [&] { return add_shape(*this, input); });
}

nv::IConvolutionLayer* Network::addConvolutionNd(nv::ITensor& input, int64_t nbOutputMaps, const nv::Dims& kernelSize,
                                                 nv::Weights kernelWeights, nv::Weights biasWeights) noexcept {
  return added<nv::IConvolutionLayer>(reporter_, "INetworkDefinition::addConvolutionNd", [&] {
    return add_convolution(*this, input, nbOutputMaps, kernelSize, kernelWeights, biasWeights);
  });
}

nv::IPoolingLayer* Network::addPoolingNd(nv::ITensor& input, nv::PoolingType type,
                                         const nv::Dims& windowSize) noexcept {
  return added<nv::IPoolingLayer>(reporter_, "INetworkDefinition::addPoolingNd",
                                  [&] { return add_pooling(*this, input, type, windowSize); });
}

nv::IDeconvolutionLayer* Network::addDeconvolutionNd(nv::ITensor& input, int64_t nbOutputMaps,
                                                     const nv::Dims& kernelSize, nv::Weights kernelWeights,
                                                     nv::Weights biasWeights) noexcept {
  return added<nv::IDeconvolutionLayer>(reporter_, "INetworkDefinition::addDeconvolutionNd", [&] {
    return add_deconvolution(*this, input, nbOutputMaps, kernelSize, kernelWeights, biasWeights);
  });
}

nv::IScaleLayer* Network::addScaleNd(nv::ITensor& input, nv::ScaleMode mode, nv::Weights shift, nv::Weights scale,
                                     nv::Weights power, int32_t channelAxis) noexcept {
  return added<nv::IScaleLayer>(reporter_, "INetworkDefinition::addScaleNd", [&] {
    return add_scale(*this, input, mode, {shift, scale, power}, channelAxis);
  });
}

nv::IResizeLayer* Network::addResize(nv::ITensor& input) noexcept {
  return added<nv::IResizeLayer>(reporter_, "INetworkDefinition::addResize", [&] { return add_resize(*this, input); });
}

nv::ISelectLayer* Network::addSelect(nv::ITensor& condition, nv::ITensor& thenInput, nv::ITensor& elseInput) noexcept {
  return added<nv::ISelectLayer>(reporter_, "INetworkDefinition::addSelect",
                                 [&] { return add_select(*this, condition, thenInput, elseInput); });
}

nv::IFillLayer* Network::addFill(const nv::Dims& dimensions, nv::FillOperation op) noexcept {
  return added<nv::IFillLayer>(reporter_, "INetworkDefinition::addFill",
                               [&] { return add_fill(*this, dimensions, op, std::nullopt); });
}

nv::IPaddingLayer* Network::addPaddingNd(nv::ITensor& input, const nv::Dims& prePadding,
                                         const nv::Dims& postPadding) noexcept {
  return added<nv::IPaddingLayer>(reporter_, "INetworkDefinition::addPaddingNd",
                                  [&] { return add_padding(*this, input, prePadding, postPadding); });
}

nv::IGatherLayer* Network::addGatherV2(nv::ITensor& data, nv::ITensor& indices, nv::GatherMode mode) noexcept {
  return added<nv::IGatherLayer>(reporter_, "INetworkDefinition::addGatherV2",
                                 [&] { return add_gather(*this, data, indices, mode, 0); });
}

nv::INormalizationLayer* Network::addNormalization(nv::ITensor& input, nv::ITensor& scale, nv::ITensor& bias,
                                                   uint32_t axesMask) noexcept {
  return added<nv::INormalizationLayer>(reporter_, "INetworkDefinition::addNormalization",
                                        [&] { return add_normalization(*this, input, scale, bias, axesMask, false); });
}

nv::ICastLayer* Network::addCast(nv::ITensor& input, nv::DataType toType) noexcept {
  return added<nv::ICastLayer>(reporter_, "INetworkDefinition::addCast",
                               [&] { return add_cast(*this, input, toType); });
}

nv::IFillLayer* Network::addFillV2(const nv::Dims& dimensions, nv::FillOperation op, nv::DataType outputType) noexcept {
  return added<nv::IFillLayer>(reporter_, "INetworkDefinition::addFill",
                               [&] { return add_fill(*this, dimensions, op, outputType); });
}

nv::ISqueezeLayer* Network::addSqueeze(nv::ITensor& input, nv::ITensor& axes) noexcept {
  return added<nv::ISqueezeLayer>(reporter_, "INetworkDefinition::addSqueeze",
                                  [&] { return add_squeeze(*this, input, axes); });
}

nv::IUnsqueezeLayer* Network::addUnsqueeze(nv::ITensor& input, nv::ITensor& axes) noexcept {
  return added<nv::IUnsqueezeLayer>(reporter_, "INetworkDefinition::addUnsqueeze",
                                    [&] { return add_unsqueeze(*this, input, axes); });
}

nv::IGridSampleLayer* Network::addGridSample(nv::ITensor& input, nv::ITensor& grid) noexcept {
  return added<nv::IGridSampleLayer>(reporter_, "INetworkDefinition::addGridSample",
                                     [&] { return add_grid_sample(*this, input, grid); });
}

nv::IScatterLayer* Network::addScatter(nv::ITensor& data, nv::ITensor& indices, nv::ITensor& updates,
                                       nv::ScatterMode mode) noexcept {
  return added<nv::IScatterLayer>(reporter_, "INetworkDefinition::addScatter",
                                  [&] { return add_scatter(*this, data, indices, updates, mode); });
}

nv::ICumulativeLayer* Network::addCumulative(nv::ITensor& input, nv::ITensor& axis, nv::CumulativeOperation operation,
                                             bool exclusive, bool reverse) noexcept {
  return added<nv::ICumulativeLayer>(reporter_, "INetworkDefinition::addCumulative",
                                     [&] { return add_cumulative(*this, input, axis, operation, exclusive, reverse); });
}

nv::IQuantizeLayer* Network::addQuantize(nv::ITensor& input, nv::ITensor& scale) noexcept {
  return addQuantizeV2(input, scale, nv::DataType::kINT8);
}

nv::IQuantizeLayer* Network::addQuantizeV2(nv::ITensor& input, nv::ITensor& scale, nv::DataType outputType) noexcept {
  return added<nv::IQuantizeLayer>(reporter_, "INetworkDefinition::addQuantize",
                                   [&] { return add_quantize(*this, input, scale, outputType); });
}

nv::IDequantizeLayer* Network::addDequantize(nv::ITensor& input, nv::ITensor& scale) noexcept {
  return addDequantizeV2(input, scale, nv::DataType::kFLOAT);
}

nv::IDequantizeLayer* Network::addDequantizeV2(nv::ITensor& input, nv::ITensor& scale,
                                               nv::DataType outputType) noexcept {
  return added<nv::IDequantizeLayer>(reporter_, "INetworkDefinition::addDequantize",
                                     [&] { return add_dequantize(*this, input, scale, outputType); });
}

nv::IDynamicQuantizeLayer* Network::addDynamicQuantize(nv::ITensor& input, int32_t axis, int32_t blockSize,
                                                       nv::DataType toType, nv::DataType scaleType) noexcept {
  return added<nv::IDynamicQuantizeLayer>(reporter_, "INetworkDefinition::addDynamicQuantize", [&] {
    return add_dynamic_quantize(*this, input, axis, blockSize, toType, scaleType);
  });
}

nv::IDynamicQuantizeLayer* Network::addDynamicQuantizeV2(nv::ITensor& input, const nv::Dims& blockShape,
                                                         nv::DataType toType, nv::DataType scaleType) noexcept {
  return added<nv::IDynamicQuantizeLayer>(reporter_, "INetworkDefinition::addDynamicQuantizeV2", [&] {
    return add_dynamic_quantize(*this, input, blockShape, toType, scaleType);
  });
}

nv::IAssertionLayer* Network::addAssertion(nv::ITensor& condition, const char* message) noexcept {
  return added<nv::IAssertionLayer>(reporter_, "INetworkDefinition::addAssertion",
                                    [&] { return add_assertion(*this, condition, message); });
}

nv::IEinsumLayer* Network::addEinsum(nv::ITensor* const* inputs, int32_t nbInputs, const char* equation) noexcept {
  return added<nv::IEinsumLayer>(reporter_, "INetworkDefinition::addEinsum",
                                 [&] { return add_einsum(*this, inputs, nbInputs, equation); });
}

nv::IOneHotLayer* Network::addOneHot(nv::ITensor& indices, nv::ITensor& values, nv::ITensor& depth,
                                     int32_t axis) noexcept {
  return added<nv::IOneHotLayer>(reporter_, "INetworkDefinition::addOneHot",
                                 [&] { return add_one_hot(*this, indices, values, depth, axis); });
}

nv::IReverseSequenceLayer* Network::addReverseSequence(nv::ITensor& input, nv::ITensor& sequenceLens) noexcept {
  return added<nv::IReverseSequenceLayer>(reporter_, "INetworkDefinition::addReverseSequence",
                                          [&] { return add_reverse_sequence(*this, input, sequenceLens); });
}

nv::ITopKLayer* Network::addTopK(nv::ITensor& input, nv::TopKOperation op, int32_t k, uint32_t reduceAxes) noexcept {
  return addTopKV2(input, op, k, reduceAxes, nv::DataType::kINT32);
}

nv::ITopKLayer* Network::addTopKV2(nv::ITensor& input, nv::TopKOperation op, int32_t k, uint32_t reduceAxes,
                                   nv::DataType indicesType) noexcept {
  return added<nv::ITopKLayer>(reporter_, "INetworkDefinition::addTopK",
                               [&] { return add_top_k(*this, input, op, k, reduceAxes, indicesType); });
}

nv::INormalizationLayer* Network::addNormalizationV2(nv::ITensor& input, nv::ITensor& scale, nv::ITensor& bias,
                                                     uint32_t axesMask) noexcept {
  return added<nv::INormalizationLayer>(reporter_, "INetworkDefinition::addNormalizationV2",
                                        [&] { return add_normalization(*this, input, scale, bias, axesMask, true); });
}

nv::ILoop* Network::addLoop() noexcept {
  return added<nv::ILoop>(reporter_, "INetworkDefinition::addLoop", [&] { return add_loop(*this); });
}

nv::IIfConditional* Network::addIfConditional() noexcept {
  return added<nv::IIfConditional>(reporter_, "INetworkDefinition::addIfConditional",
                                   [&] { return add_conditional(*this); });
}

nv::IParametricReLULayer* Network::addParametricReLU(nv::ITensor& input, nv::ITensor& slope) noexcept {
  return added<nv::IParametricReLULayer>(reporter_, "INetworkDefinition::addParametricReLU",
                                         [&] { return add_parametric_relu(*this, input, slope); });
}

nv::ILRNLayer* Network::addLRN(nv::ITensor& input, int64_t window, float alpha, float beta, float k) noexcept {
  return added<nv::ILRNLayer>(reporter_, "INetworkDefinition::addLRN",
                              [&] { return add_lrn(*this, input, window, alpha, beta, k); });
}

nv::IRaggedSoftMaxLayer* Network::addRaggedSoftMax(nv::ITensor& input, nv::ITensor& bounds) noexcept {
  return added<nv::IRaggedSoftMaxLayer>(reporter_, "INetworkDefinition::addRaggedSoftMax",
                                        [&] { return add_ragged_softmax(*this, input, bounds); });
}

nv::IRotaryEmbeddingLayer* Network::addRotaryEmbedding(nv::ITensor& input, nv::ITensor& cosCache, nv::ITensor& sinCache,
                                                       bool interleaved, int32_t rotaryEmbeddingDim) noexcept {
  return added<nv::IRotaryEmbeddingLayer>(reporter_, "INetworkDefinition::addRotaryEmbedding", [&] {
    return add_rotary_embedding(*this, input, cosCache, sinCache, interleaved, rotaryEmbeddingDim);
  });
}

nv::IAttention* Network::addAttention(nv::ITensor& query, nv::ITensor& key, nv::ITensor& value,
                                      nv::AttentionNormalizationOp normOp, bool isCausal) noexcept {
  return added<nv::IAttention>(reporter_, "INetworkDefinition::addAttention",
                               [&] { return add_attention(*this, query, key, value, normOp, isCausal); });
}

nv::IKVCacheUpdateLayer* Network::addKVCacheUpdate(nv::ITensor& cache, nv::ITensor& update, nv::ITensor& writeIndices,
                                                   nv::KVCacheMode cacheMode) noexcept {
  return added<nv::IKVCacheUpdateLayer>(reporter_, "INetworkDefinition::addKVCacheUpdate", [&] {
    return add_kv_cache_update(*this, cache, update, writeIndices, cacheMode);
  });
}

nv::IDistCollectiveLayer* Network::addDistCollective(nv::ITensor& input, nv::CollectiveOperation distCollectiveOp,
                                                     nv::ReduceOperation reduceOp, int64_t root, int64_t* groups,
                                                     int64_t groupSize) noexcept {
  return added<nv::IDistCollectiveLayer>(
      reporter_, "INetworkDefinition::addDistCollective", [&]() -> Result<nv::IDistCollectiveLayer*> {
        TRY(require(groupSize >= 0, "groupSize is ", groupSize, "; 0 is the least"));
        TRY(require(groupSize == 0 || groups != nullptr, "groups is null, and groupSize ", groupSize));
        return add_dist_collective(*this, input, distCollectiveOp, reduceOp, root,
                                   std::span<const int64_t>(groups, static_cast<size_t>(groupSize)));
      });
}

nv::IMoELayer* Network::addMoE(nv::ITensor& hiddenStates, nv::ITensor& selectedExpertsForTokens,
                               nv::ITensor& scoresForSelectedExperts) noexcept {
  return added<nv::IMoELayer>(reporter_, "INetworkDefinition::addMoE", [&] {
    return add_moe(*this, hiddenStates, selectedExpertsForTokens, scoresForSelectedExperts);
  });
}

}  // namespace kiln::api
