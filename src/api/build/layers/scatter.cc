/// Elements written over others at computed indices.
#include "ops/scatter.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class ScatterLayer final
    : public LayerOf<ops::Scatter, nv::LayerType::kSCATTER, nv::IScatterLayer, nv::apiv::VScatterLayer> {
 public:
  using LayerOf::LayerOf;

  void setMode(nv::ScatterMode mode) noexcept override {
    set_enum("IScatterLayer::setMode", &ops::Scatter::mode, mode);
  }
  nv::ScatterMode getMode() const noexcept override { return get_enum<nv::ScatterMode>(&ops::Scatter::mode); }
  void setAxis(int32_t axis) noexcept override { set("IScatterLayer::setAxis", &ops::Scatter::axis, axis); }
  int32_t getAxis() const noexcept override { return from_front(op().axis); }
};

}  // namespace

Result<nv::IScatterLayer*> add_scatter(Network& network, nv::ITensor& data, nv::ITensor& indices, nv::ITensor& updates,
                                       nv::ScatterMode mode) {
  const ir::ValueId x = TRY(network.value_of(data, "data")), at = TRY(network.value_of(indices, "indices"));
  const ir::ValueId over = TRY(network.value_of(updates, "updates"));
  const ops::Scatter op{.mode = TRY(enum_from_api<ScatterMode>(mode, "mode"))};
  return network.add<ScatterLayer>(op, {x, at, over}, Settings::kToCome);
}
MakeLayer maker_of(Tag<ops::Scatter>) { return make<ScatterLayer>; }

}  // namespace kiln::api
