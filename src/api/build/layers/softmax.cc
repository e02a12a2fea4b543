/// Softmax along one axis.
#include "ops/softmax.h"
#include "api/build/arguments.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class SoftMaxLayer final
    : public LayerOf<ops::Softmax, nv::LayerType::kSOFTMAX, nv::ISoftMaxLayer, nv::apiv::VSoftMaxLayer> {
 public:
  using LayerOf::LayerOf;

  void setAxes(uint32_t axes) noexcept override {
    edit("ISoftMaxLayer::setAxes", [&](ops::Softmax& op) -> Status {
      const auto list = TRY(axes_of_mask(axes, TRY(network().rank_of(input_value(0))), "axes"));
      TRY(require(list.size() == 1, "axes has ", list.size(), " bits; one axis is possible"));
      op.axis = static_cast<int>(list[0]);
      return {};
    });
  }
  uint32_t getAxes() const noexcept override {
    return mask_of_axes({op().axis}, network().rank_of(input_value(0)).value_or(0));
  }
};

}  // namespace

Result<nv::ISoftMaxLayer*> add_softmax(Network& network, nv::ITensor& input) {
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  const int rank = TRY(network.rank_of(x));
  const ops::Softmax op{.axis = std::max(0, rank - 3)};  // until setAxes is called: the channels of an image
  return network.add<SoftMaxLayer>(op, {x}, Settings::kToCome);
}
MakeLayer maker_of(Tag<ops::Softmax>) { return make<SoftMaxLayer>; }

}  // namespace kiln::api
