/// Elements converted to another type.
#include "ops/cast.h"
#include "api/base/convert.h"
#include "api/base/shown_type.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class CastLayer final : public LayerOf<ops::Cast, nv::LayerType::kCAST, nv::ICastLayer, nv::apiv::VCastLayer> {
 public:
  using LayerOf::LayerOf;

  void setToType(nv::DataType toType) noexcept override {
    edit("ICastLayer::setToType", [&](ops::Cast& op) -> Status {
      op.to = TRY(from_api(toType));
      return {};
    });
  }
  nv::DataType getToType() const noexcept override {
    return to_api(shown_type(op().to));  // only the parser casts to FP64
  }
};

}  // namespace

Result<nv::ICastLayer*> add_cast(Network& network, nv::ITensor& input, nv::DataType to_type) {
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  return network.add<CastLayer>(ops::Cast{TRY(from_api(to_type))}, {x}, Settings::kComplete);
}
MakeLayer maker_of(Tag<ops::Cast>) { return make<CastLayer>; }

}  // namespace kiln::api
