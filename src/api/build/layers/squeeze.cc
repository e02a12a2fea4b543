/// Removal of axes of extent 1.
#include "ops/squeeze.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

using SqueezeLayer = LayerOf<ops::Squeeze, nv::LayerType::kSQUEEZE, nv::ISqueezeLayer, nv::apiv::VSqueezeLayer>;

}  // namespace

Result<nv::ISqueezeLayer*> add_squeeze(Network& network, nv::ITensor& input, nv::ITensor& axes) {
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  const ir::ValueId list = TRY(network.value_of(axes, "axes"));
  return network.add<SqueezeLayer>(ops::Squeeze{}, {x, list}, Settings::kComplete);
}
MakeLayer maker_of(Tag<ops::Squeeze>) { return make<SqueezeLayer>; }

}  // namespace kiln::api
