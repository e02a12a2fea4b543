/// A tensor of constants.
#include "api/base/convert.h"
#include "api/build/arguments.h"
#include "api/build/layers/layers.h"
#include "ops/fold.h"

namespace kiln::api {
namespace {

class ConstantLayer final
    : public LayerOf<ops::Constant, nv::LayerType::kCONSTANT, nv::IConstantLayer, nv::apiv::VConstantLayer> {
 public:
  using LayerOf::LayerOf;

  void setWeights(nv::Weights weights) noexcept override {
    edit("IConstantLayer::setWeights", [&](ops::Constant& op) -> Status {
      op = {TRY(borrow(weights, op.value.extents(), "the weights"))};
      return {};
    });
  }
  nv::Weights getWeights() const noexcept override { return to_api(&op().value); }
  void setDimensions(const nv::Dims& dimensions) noexcept override {
    edit("IConstantLayer::setDimensions", [&](ops::Constant& op) -> Status {
      Extents extents = TRY(numbers(dimensions, -1, 0, "dimensions"));
      const int64_t volume = TRY(checked_volume(extents));
      TRY(require(volume == op.value.volume(), "dimensions ", extents, " have ", volume, " elements; the weights have ",
                  op.value.volume()));
      op = reshaped(op, extents);
      return {};
    });
  }
  nv::Dims getDimensions() const noexcept override { return to_api(op().value.extents()); }
};

}  // namespace

Result<nv::IConstantLayer*> add_constant(Network& network, const nv::Dims& dimensions, nv::Weights weights) {
  Extents extents = TRY(numbers(dimensions, -1, 0, "dimensions"));
  HostTensor value = TRY(borrow(weights, std::move(extents), "the weights"));
  return network.add<ConstantLayer>(ops::Constant{std::move(value)}, {}, Settings::kComplete);
}
MakeLayer maker_of(Tag<ops::Constant>) { return make<ConstantLayer>; }

}  // namespace kiln::api
