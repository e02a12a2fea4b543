/// A function of two elements.
#include "ops/element_wise.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class ElementWiseLayer final : public LayerOf<ops::ElementWise, nv::LayerType::kELEMENTWISE, nv::IElementWiseLayer,
                                              nv::apiv::VElementWiseLayer> {
 public:
  using LayerOf::LayerOf;

  void setOperation(nv::ElementWiseOperation op) noexcept override {
    set_enum("IElementWiseLayer::setOperation", &ops::ElementWise::kind, op);
  }
  nv::ElementWiseOperation getOperation() const noexcept override {
    return get_enum<nv::ElementWiseOperation>(&ops::ElementWise::kind);
  }
};

}  // namespace

Result<nv::IElementWiseLayer*> add_element_wise(Network& network, nv::ITensor& a, nv::ITensor& b,
                                                nv::ElementWiseOperation operation) {
  const ir::ValueId left = TRY(network.value_of(a, "input1"));
  const ir::ValueId right = TRY(network.value_of(b, "input2"));
  const auto kind = TRY(enum_from_api<ops::ElementWiseKind>(operation, "op"));
  return network.add<ElementWiseLayer>(ops::ElementWise{kind}, {left, right}, Settings::kComplete);
}
MakeLayer maker_of(Tag<ops::ElementWise>) { return make<ElementWiseLayer>; }

}  // namespace kiln::api
