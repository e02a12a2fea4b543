/// Numbers made of extents, which only the parser makes: to a program they are the shape of something.
#include "ops/dim_values.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class DimValuesLayer final
    : public LayerOf<ops::DimValues, nv::LayerType::kSHAPE, nv::IShapeLayer, nv::apiv::VShapeLayer> {
 public:
  using LayerOf::LayerOf;
};

}  // namespace

std::unique_ptr<Layer> make_dim_values(Network& network, ir::NodeId node) {
  return make<DimValuesLayer>(network, node);
}

}  // namespace kiln::api
