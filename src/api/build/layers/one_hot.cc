/// Indices as vectors that are on at one place.
#include "ops/one_hot.h"

#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class OneHotLayer final
    : public LayerOf<ops::OneHot, nv::LayerType::kONE_HOT, nv::IOneHotLayer, nv::apiv::VOneHotLayer> {
 public:
  using LayerOf::LayerOf;

  void setAxis(int32_t axis) noexcept override { set("IOneHotLayer::setAxis", &ops::OneHot::axis, axis); }
  /// Counted from the front of the output, which has an axis more than the indices.
  int32_t getAxis() const noexcept override {
    const int axis = op().axis;
    return axis < 0 ? axis + network().rank_of(input_value(0)).value_or(-1) + 1 : axis;
  }
};

}  // namespace

Result<nv::IOneHotLayer*> add_one_hot(Network& network, nv::ITensor& indices, nv::ITensor& values, nv::ITensor& depth,
                                      int32_t axis) {
  const ir::ValueId at = TRY(network.value_of(indices, "indices")), off_on = TRY(network.value_of(values, "values"));
  const ir::ValueId classes = TRY(network.value_of(depth, "depth"));
  return network.add<OneHotLayer>(ops::OneHot{axis}, {at, off_on, classes}, Settings::kComplete);
}
MakeLayer maker_of(Tag<ops::OneHot>) { return make<OneHotLayer>; }

}  // namespace kiln::api
