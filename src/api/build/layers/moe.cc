/// A mixture of experts.
#include "ops/moe.h"
#include "api/base/convert.h"
#include "api/build/arguments.h"
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

  void setQuantizationStatic(nv::ITensor& fcDownActivationScale, nv::DataType dataType) noexcept override {
    edit("IMoELayer::setQuantizationStatic", [&](ops::Moe& op) -> Status {
      TRY(require(dataType == nv::DataType::kFP8, "dataType is ", static_cast<int32_t>(dataType),
                  "; kFP8 is the only one"));
      const ir::ValueId scale = TRY(network().value_of(fcDownActivationScale, "fcDownActivationScale"));
      op.quantization = MoeQuantization::kStatic;
      op.quantize_to = TRY(from_api(dataType));
      put_input(ops::Moe::kDownScale, scale);
      return {};
    });
  }
  void setQuantizationDynamicDblQ(nv::ITensor& fcDownActivationDblQScale, nv::DataType dataType,
                                  const nv::Dims& blockShape, nv::DataType dynQOutputScaleType) noexcept override {
    edit("IMoELayer::setQuantizationDynamicDblQ", [&](ops::Moe& op) -> Status {
      const ir::ValueId scale = TRY(network().value_of(fcDownActivationDblQScale, "fcDownActivationDblQScale"));
      TRY(check_type(dataType));
      TRY(check_scale_type(dynQOutputScaleType));
      op.block = TRY(block_of(blockShape));
      op.quantization = MoeQuantization::kDynamic;
      op.quantize_to = TRY(from_api(dataType));
      op.scale_type = TRY(from_api(dynQOutputScaleType));
      put_input(ops::Moe::kDownScale, scale);
      return {};
    });
  }
  void setQuantizationToType(nv::DataType type) noexcept override {
    edit("IMoELayer::setQuantizationToType", [&](ops::Moe& op) -> Status {
      TRY(check_type(type));
      op.quantize_to = TRY(from_api(type));
      return {};
    });
  }
  nv::DataType getQuantizationToType() const noexcept override { return to_api(op().quantize_to); }
  void setQuantizationBlockShape(const nv::Dims& blockShape) noexcept override {
    edit("IMoELayer::setQuantizationBlockShape", [&](ops::Moe& op) -> Status {
      op.block = TRY(block_of(blockShape));
      return {};
    });
  }
  nv::Dims getQuantizationBlockShape() const noexcept override { return to_api(op().block); }
  void setDynQOutputScaleType(nv::DataType type) noexcept override {
    edit("IMoELayer::setDynQOutputScaleType", [&](ops::Moe& op) -> Status {
      TRY(check_scale_type(type));
      op.scale_type = TRY(from_api(type));
      return {};
    });
  }
  nv::DataType getDynQOutputScaleType() const noexcept override { return to_api(op().scale_type); }

  void setInput(int32_t index, nv::ITensor& tensor) noexcept override { Layer::setInput(index, tensor); }

 private:
  static Status check_limit(float limit) { return require(limit >= 0, "limit is ", limit, "; 0 is the least"); }
  static Status check_type(nv::DataType type) {
    return require(type == nv::DataType::kFP4 || type == nv::DataType::kFP8, "the type is ", static_cast<int32_t>(type),
                   "; kFP4 or kFP8 is needed");
  }
  static Status check_scale_type(nv::DataType type) {
    return require(type == nv::DataType::kFP8 || type == nv::DataType::kE8M0, "the type of scales is ",
                   static_cast<int32_t>(type), "; kFP8 or kE8M0 is needed");
  }
  /// The extents of a block; which of them are possible depends on weights that may come later.
  static Result<Extents> block_of(const nv::Dims& shape) { return numbers(shape, -1, 1, "blockShape"); }
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
