/// Elements combined along axes.
#include "ops/reduce.h"
#include "api/build/arguments.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class ReduceLayer final
    : public LayerOf<ops::Reduce, nv::LayerType::kREDUCE, nv::IReduceLayer, nv::apiv::VReduceLayer> {
 public:
  using LayerOf::LayerOf;

  void setOperation(nv::ReduceOperation op) noexcept override {
    set_enum("IReduceLayer::setOperation", &ops::Reduce::kind, op);
  }
  nv::ReduceOperation getOperation() const noexcept override {
    return get_enum<nv::ReduceOperation>(&ops::Reduce::kind);
  }
  void setReduceAxes(uint32_t reduceAxes) noexcept override {
    edit("IReduceLayer::setReduceAxes", [&](ops::Reduce& op) -> Status {
      op.axes = TRY(axes_of_mask(reduceAxes, TRY(network().rank_of(input_value(0))), "reduceAxes"));
      return {};
    });
  }
  uint32_t getReduceAxes() const noexcept override {
    return mask_of_axes(op().axes, network().rank_of(input_value(0)).value_or(0));
  }
  void setKeepDimensions(bool keepDimensions) noexcept override {
    set("IReduceLayer::setKeepDimensions", &ops::Reduce::keep, keepDimensions);
  }
  bool getKeepDimensions() const noexcept override { return op().keep; }
};

}  // namespace

Result<nv::IReduceLayer*> add_reduce(Network& network, nv::ITensor& input, nv::ReduceOperation operation, uint32_t axes,
                                     bool keep) {
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  const ops::Reduce op{.kind = TRY(enum_from_api<ops::ReduceKind>(operation, "operation")),
                       .axes = TRY(axes_of_mask(axes, TRY(network.rank_of(x)), "reduceAxes")),
                       .keep = keep};
  return network.add<ReduceLayer>(op, {x}, Settings::kComplete);
}
MakeLayer maker_of(Tag<ops::Reduce>) { return make<ReduceLayer>; }

}  // namespace kiln::api
