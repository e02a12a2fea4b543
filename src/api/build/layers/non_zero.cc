/// Coordinates of elements that are not zero.
#include "ops/non_zero.h"
#include "api/build/layers/index_type.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class NonZeroLayer final
    : public LayerOf<ops::NonZero, nv::LayerType::kNON_ZERO, nv::INonZeroLayer, nv::apiv::VNonZeroLayer> {
 public:
  using LayerOf::LayerOf;

  bool setIndicesType(nv::DataType type) noexcept override {
    return edit("INonZeroLayer::setIndicesType", [&](ops::NonZero& op) -> Status {
      op.indices = TRY(index_type_from_api(type));
      return {};
    });
  }
  nv::DataType getIndicesType() const noexcept override { return to_api(op().indices); }
};

}  // namespace

Result<nv::INonZeroLayer*> add_non_zero(Network& network, nv::ITensor& input, nv::DataType indices_type) {
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  const ops::NonZero op{.indices = TRY(index_type_from_api(indices_type))};
  return network.add<NonZeroLayer>(op, {x}, Settings::kToCome);
}
MakeLayer maker_of(Tag<ops::NonZero>) { return make<NonZeroLayer>; }

}  // namespace kiln::api
