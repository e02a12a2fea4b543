/// Elements picked by computed indices.
#include "ops/gather.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class GatherLayer final
    : public LayerOf<ops::Gather, nv::LayerType::kGATHER, nv::IGatherLayer, nv::apiv::VGatherLayer> {
 public:
  using LayerOf::LayerOf;

  void setGatherAxis(int32_t axis) noexcept override { set("IGatherLayer::setGatherAxis", &ops::Gather::axis, axis); }
  int32_t getGatherAxis() const noexcept override { return from_front(op().axis); }
  void setNbElementWiseDims(int32_t k) noexcept override {
    edit("IGatherLayer::setNbElementWiseDims", [&](ops::Gather& op) -> Status {
      TRY(require(k >= 0 && k < nv::Dims::MAX_DIMS, "k is ", k, ", outside [0, ", int{nv::Dims::MAX_DIMS}, ")"));
      op.num_elementwise_dims = k;
      return {};
    });
  }
  int32_t getNbElementWiseDims() const noexcept override { return op().num_elementwise_dims; }
  void setMode(nv::GatherMode mode) noexcept override { set_enum("IGatherLayer::setMode", &ops::Gather::mode, mode); }
  nv::GatherMode getMode() const noexcept override { return get_enum<nv::GatherMode>(&ops::Gather::mode); }
};

}  // namespace

Result<nv::IGatherLayer*> add_gather(Network& network, nv::ITensor& data, nv::ITensor& indices, nv::GatherMode mode,
                                     int32_t axis) {
  const ir::ValueId x = TRY(network.value_of(data, "data"));
  const ir::ValueId at = TRY(network.value_of(indices, "indices"));
  const ops::Gather op{.mode = TRY(enum_from_api<GatherMode>(mode, "mode")), .axis = axis};
  return network.add<GatherLayer>(op, {x, at}, Settings::kToCome);
}
MakeLayer maker_of(Tag<ops::Gather>) { return make<GatherLayer>; }

}  // namespace kiln::api
