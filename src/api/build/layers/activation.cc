/// A function of one variable, applied to every element.
#include "ops/activation.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class ActivationLayer final
    : public LayerOf<ops::Activation, nv::LayerType::kACTIVATION, nv::IActivationLayer, nv::apiv::VActivationLayer> {
 public:
  using LayerOf::LayerOf;

  void setActivationType(nv::ActivationType type) noexcept override {
    set_enum("IActivationLayer::setActivationType", &ops::Activation::kind, type);
  }
  nv::ActivationType getActivationType() const noexcept override {
    return get_enum<nv::ActivationType>(&ops::Activation::kind);
  }
  void setAlpha(float alpha) noexcept override { set("IActivationLayer::setAlpha", &ops::Activation::alpha, alpha); }
  void setBeta(float beta) noexcept override { set("IActivationLayer::setBeta", &ops::Activation::beta, beta); }
  float getAlpha() const noexcept override { return static_cast<float>(op().alpha); }
  float getBeta() const noexcept override { return static_cast<float>(op().beta); }
};

}  // namespace

Result<nv::IActivationLayer*> add_activation(Network& network, nv::ITensor& input, nv::ActivationType type) {
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  const auto kind = TRY(enum_from_api<ops::ActivationKind>(type, "type"));
  return network.add<ActivationLayer>(ops::Activation{.kind = kind}, {x}, Settings::kComplete);
}
MakeLayer maker_of(Tag<ops::Activation>) { return make<ActivationLayer>; }

}  // namespace kiln::api
