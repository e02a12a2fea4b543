// INetworkDefinition's calls that are not in Kiln yet: each says so.
#include "api/build/network.h"

namespace kiln::api {

nv::ILRNLayer* Network::addLRN(nv::ITensor&, int64_t, float, float, float) noexcept {
  return missing(reporter_, "INetworkDefinition::addLRN", nullptr);
}
nv::IRaggedSoftMaxLayer* Network::addRaggedSoftMax(nv::ITensor&, nv::ITensor&) noexcept {
  return missing(reporter_, "INetworkDefinition::addRaggedSoftMax", nullptr);
}
nv::IParametricReLULayer* Network::addParametricReLU(nv::ITensor&, nv::ITensor&) noexcept {
  return missing(reporter_, "INetworkDefinition::addParametricReLU", nullptr);
}
nv::IDequantizeLayer* Network::addDequantize(nv::ITensor&, nv::ITensor&) noexcept {
  return missing(reporter_, "INetworkDefinition::addDequantize", nullptr);
}
nv::IQuantizeLayer* Network::addQuantize(nv::ITensor&, nv::ITensor&) noexcept {
  return missing(reporter_, "INetworkDefinition::addQuantize", nullptr);
}
nv::IQuantizeLayer* Network::addQuantizeV2(nv::ITensor&, nv::ITensor&, nv::DataType) noexcept {
  return missing(reporter_, "INetworkDefinition::addQuantizeV2", nullptr);
}
nv::IDequantizeLayer* Network::addDequantizeV2(nv::ITensor&, nv::ITensor&, nv::DataType) noexcept {
  return missing(reporter_, "INetworkDefinition::addDequantizeV2", nullptr);
}
bool Network::markDebug(nv::ITensor&) noexcept { return missing(reporter_, "INetworkDefinition::markDebug", false); }
bool Network::unmarkDebug(nv::ITensor&) noexcept {
  return missing(reporter_, "INetworkDefinition::unmarkDebug", false);
}
bool Network::markWeightsRefittable(const char*) noexcept {
  return missing(reporter_, "INetworkDefinition::markWeightsRefittable", false);
}
bool Network::unmarkWeightsRefittable(const char*) noexcept {
  return missing(reporter_, "INetworkDefinition::unmarkWeightsRefittable", false);
}
nv::IDynamicQuantizeLayer* Network::addDynamicQuantize(nv::ITensor&, int32_t, int32_t, nv::DataType,
                                                       nv::DataType) noexcept {
  return missing(reporter_, "INetworkDefinition::addDynamicQuantize", nullptr);
}
bool Network::markUnfusedTensorsAsDebugTensors() noexcept {
  return missing(reporter_, "INetworkDefinition::markUnfusedTensorsAsDebugTensors", false);
}
bool Network::unmarkUnfusedTensorsAsDebugTensors() noexcept {
  return missing(reporter_, "INetworkDefinition::unmarkUnfusedTensorsAsDebugTensors", false);
}
nv::IAttention* Network::addAttention(nv::ITensor&, nv::ITensor&, nv::ITensor&, nv::AttentionNormalizationOp,
                                      bool) noexcept {
  return missing(reporter_, "INetworkDefinition::addAttention", nullptr);
}
nv::IRotaryEmbeddingLayer* Network::addRotaryEmbedding(nv::ITensor&, nv::ITensor&, nv::ITensor&, bool,
                                                       int32_t) noexcept {
  return missing(reporter_, "INetworkDefinition::addRotaryEmbedding", nullptr);
}
nv::IDynamicQuantizeLayer* Network::addDynamicQuantizeV2(nv::ITensor&, const nv::Dims&, nv::DataType,
                                                         nv::DataType) noexcept {
  return missing(reporter_, "INetworkDefinition::addDynamicQuantizeV2", nullptr);
}
nv::IKVCacheUpdateLayer* Network::addKVCacheUpdate(nv::ITensor&, nv::ITensor&, nv::ITensor&, nv::KVCacheMode) noexcept {
  return missing(reporter_, "INetworkDefinition::addKVCacheUpdate", nullptr);
}
nv::IMoELayer* Network::addMoE(nv::ITensor&, nv::ITensor&, nv::ITensor&) noexcept {
  return missing(reporter_, "INetworkDefinition::addMoE", nullptr);
}
nv::IDistCollectiveLayer* Network::addDistCollective(nv::ITensor&, nv::CollectiveOperation, nv::ReduceOperation,
                                                     int64_t, int64_t*, int64_t) noexcept {
  return missing(reporter_, "INetworkDefinition::addDistCollective", nullptr);
}

}  // namespace kiln::api
