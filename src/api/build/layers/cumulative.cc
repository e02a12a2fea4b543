/// Running sums along an axis. Products are ops that the parser alone makes.
#include "ops/cumulative.h"

#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class CumulativeLayer final
    : public LayerOf<ops::Cumulative, nv::LayerType::kCUMULATIVE, nv::ICumulativeLayer, nv::apiv::VCumulativeLayer> {
 public:
  using LayerOf::LayerOf;

  bool setOperation(nv::CumulativeOperation op) noexcept override {
    return set_enum("ICumulativeLayer::setOperation", &ops::Cumulative::operation, op);
  }
  nv::CumulativeOperation getOperation() const noexcept override {
    return get_enum<nv::CumulativeOperation>(&ops::Cumulative::operation);
  }
  void setExclusive(bool exclusive) noexcept override {
    set("ICumulativeLayer::setExclusive", &ops::Cumulative::exclusive, exclusive);
  }
  bool getExclusive() const noexcept override { return op().exclusive; }
  void setReverse(bool reverse) noexcept override {
    set("ICumulativeLayer::setReverse", &ops::Cumulative::reverse, reverse);
  }
  bool getReverse() const noexcept override { return op().reverse; }
};

}  // namespace

Result<nv::ICumulativeLayer*> add_cumulative(Network& network, nv::ITensor& input, nv::ITensor& axis,
                                             nv::CumulativeOperation operation, bool exclusive, bool reverse) {
  const ir::ValueId x = TRY(network.value_of(input, "input")), along = TRY(network.value_of(axis, "axis"));
  const ops::Cumulative op{.operation = TRY(enum_from_api<CumulativeOperation>(operation, "operation")),
                           .exclusive = exclusive,
                           .reverse = reverse};
  return network.add<CumulativeLayer>(op, {x, along}, Settings::kComplete);
}
MakeLayer maker_of(Tag<ops::Cumulative>) {
  return [](Network& network, ir::NodeId node) -> std::unique_ptr<Layer> {
    const auto& op = *network.graph().node(node).op.as<ops::Cumulative>();
    if (op.operation == CumulativeOperation::kSum) return make<CumulativeLayer>(network, node);
    return make<LayerAsIdentity<ops::Cumulative>>(network, node);
  };
}

}  // namespace kiln::api
