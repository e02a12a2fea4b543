/// A mixture of experts.
#include "ops/moe.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class MoELayer final : public LayerOf<ops::Moe, nv::LayerType::kMOE, nv::IMoELayer, nv::apiv::VMoELayer> {
 public:
  using LayerOf::LayerOf;

  void setGatedWeights(nv::ITensor& fcGateWeights, nv::ITensor& fcUpWeights, nv::ITensor& fcDownWeights,
                       nv::MoEActType activationType) noexcept override {
    edit("IMoELayer::setGatedWeights", [&](ops::Moe& op) -> Status {
      op.activation = TRY(enum_from_api<MoeActivation>(activationType, "activationType"));
      return put_three(ops::Moe::kGate, fcGateWeights, fcUpWeights, fcDownWeights);
    });
  }
  void setGatedBiases(nv::ITensor& fcGateBiases, nv::ITensor& fcUpBiases, nv::ITensor& fcDownBiases) noexcept override {
    guard(reporter(), "IMoELayer::setGatedBiases",
          [&] { return put_three(ops::Moe::kGateBias, fcGateBiases, fcUpBiases, fcDownBiases); });
  }
  void setActivationType(nv::MoEActType activationType) noexcept override {
    set_enum("IMoELayer::setActivationType", &ops::Moe::activation, activationType);
  }
  nv::MoEActType getActivationType() const noexcept override { return get_enum<nv::MoEActType>(&ops::Moe::activation); }

  void setSwigluParams(float limit, float alpha, float beta) noexcept override {
    edit("IMoELayer::setSwigluParams", [&](ops::Moe& op) -> Status {
      TRY(check_limit(limit));
      op.limit = limit, op.alpha = alpha, op.beta = beta;
      return {};
    });
  }
  void setSwigluParamLimit(float limit) noexcept override {
    edit("IMoELayer::setSwigluParamLimit", [&](ops::Moe& op) -> Status {
      TRY(check_limit(limit));
      op.limit = limit;
      return {};
    });
  }
  float getSwigluParamLimit() const noexcept override { return static_cast<float>(op().limit); }
  void setSwigluParamAlpha(float alpha) noexcept override {
    set("IMoELayer::setSwigluParamAlpha", &ops::Moe::alpha, alpha);
  }
  float getSwigluParamAlpha() const noexcept override { return static_cast<float>(op().alpha); }
  void setSwigluParamBeta(float beta) noexcept override { set("IMoELayer::setSwigluParamBeta", &ops::Moe::beta, beta); }
  float getSwigluParamBeta() const noexcept override { return static_cast<float>(op().beta); }

  // Quantized experts wait for FP8 and FP4; the getters answer what TensorRT's defaults are.
  void setQuantizationStatic(nv::ITensor&, nv::DataType) noexcept override {
    missing(reporter(), "IMoELayer::setQuantizationStatic");
  }
  void setQuantizationDynamicDblQ(nv::ITensor&, nv::DataType, const nv::Dims&, nv::DataType) noexcept override {
    missing(reporter(), "IMoELayer::setQuantizationDynamicDblQ");
  }
  void setQuantizationToType(nv::DataType type) noexcept override {
    if (type != nv::DataType::kFLOAT) missing(reporter(), "IMoELayer::setQuantizationToType");
  }
  nv::DataType getQuantizationToType() const noexcept override { return nv::DataType::kFLOAT; }
  void setQuantizationBlockShape(const nv::Dims&) noexcept override {
    missing(reporter(), "IMoELayer::setQuantizationBlockShape");
  }
  nv::Dims getQuantizationBlockShape() const noexcept override { return {}; }
  void setDynQOutputScaleType(nv::DataType) noexcept override {
    missing(reporter(), "IMoELayer::setDynQOutputScaleType");
  }
  nv::DataType getDynQOutputScaleType() const noexcept override { return nv::DataType::kFLOAT; }

  void setInput(int32_t index, nv::ITensor& tensor) noexcept override { Layer::setInput(index, tensor); }

 private:
  static Status check_limit(float limit) { return require(limit >= 0, "limit is ", limit, "; 0 is the least"); }
  /// Puts three tensors in the inputs from `first` on, all or none.
  Status put_three(int first, const nv::ITensor& gate, const nv::ITensor& up, const nv::ITensor& down) {
    const ir::ValueId values[] = {TRY(network().value_of(gate, "fcGate")), TRY(network().value_of(up, "fcUp")),
                                  TRY(network().value_of(down, "fcDown"))};
    for (int i = 0; i < 3; ++i) put_input(first + i, values[i]);
    return {};
  }
};

}  // namespace

Result<nv::IMoELayer*> add_moe(Network& network, nv::ITensor& hidden_states, nv::ITensor& selected_experts,
                               nv::ITensor& scores) {
  const ir::ValueId x = TRY(network.value_of(hidden_states, "hiddenStates"));
  const ir::ValueId selected = TRY(network.value_of(selected_experts, "selectedExpertsForTokens"));
  const ir::ValueId weights = TRY(network.value_of(scores, "scoresForSelectedExperts"));
  return network.add<MoELayer>(ops::Moe{}, {x, selected, weights}, Settings::kToCome);
}
MakeLayer maker_of(Tag<ops::Moe>) { return make<MoELayer>; }

}  // namespace kiln::api
