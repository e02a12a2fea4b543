/// The extents of a tensor, as a tensor.
#include "ops/shape.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class ShapeLayer final : public LayerOf<ops::Shape, nv::LayerType::kSHAPE, nv::IShapeLayer, nv::apiv::VShapeLayer> {
 public:
  using LayerOf::LayerOf;
};

}  // namespace

Result<nv::IShapeLayer*> add_shape(Network& network, nv::ITensor& input) {
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  return network.add<ShapeLayer>(ops::Shape{}, {x}, Settings::kComplete);
}
std::unique_ptr<Layer> make_shape(Network& network, ir::NodeId node) { return make<ShapeLayer>(network, node); }

}  // namespace kiln::api
