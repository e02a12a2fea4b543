/// A function of one element without parameters.
#include "ops/unary.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class UnaryLayer final : public LayerOf<ops::Unary, nv::LayerType::kUNARY, nv::IUnaryLayer, nv::apiv::VUnaryLayer> {
 public:
  using LayerOf::LayerOf;

  void setOperation(nv::UnaryOperation op) noexcept override {
    set_enum("IUnaryLayer::setOperation", &ops::Unary::kind, op);
  }
  nv::UnaryOperation getOperation() const noexcept override { return get_enum<nv::UnaryOperation>(&ops::Unary::kind); }
};

}  // namespace

Result<nv::IUnaryLayer*> add_unary(Network& network, nv::ITensor& input, nv::UnaryOperation operation) {
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  const auto kind = TRY(enum_from_api<ops::UnaryKind>(operation, "operation"));
  return network.add<UnaryLayer>(ops::Unary{kind}, {x}, Settings::kComplete);
}
MakeLayer maker_of(Tag<ops::Unary>) { return make<UnaryLayer>; }

}  // namespace kiln::api
