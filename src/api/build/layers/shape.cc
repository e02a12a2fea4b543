/// The extents of a tensor, as a tensor.
#include "ops/shape.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

using ShapeLayer = LayerOf<ops::Shape, nv::LayerType::kSHAPE, nv::IShapeLayer, nv::apiv::VShapeLayer>;

}  // namespace

Result<nv::IShapeLayer*> add_shape(Network& network, nv::ITensor& input) {
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  return network.add<ShapeLayer>(ops::Shape{}, {x}, Settings::kComplete);
}
MakeLayer maker_of(Tag<ops::Shape>) { return make<ShapeLayer>; }

}  // namespace kiln::api
