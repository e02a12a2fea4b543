/// Insertion of axes of extent 1.
#include "ops/unsqueeze.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

using UnsqueezeLayer =
    LayerOf<ops::Unsqueeze, nv::LayerType::kUNSQUEEZE, nv::IUnsqueezeLayer, nv::apiv::VUnsqueezeLayer>;

}  // namespace

Result<nv::IUnsqueezeLayer*> add_unsqueeze(Network& network, nv::ITensor& input, nv::ITensor& axes) {
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  const ir::ValueId list = TRY(network.value_of(axes, "axes"));
  return network.add<UnsqueezeLayer>(ops::Unsqueeze{}, {x, list}, Settings::kComplete);
}
MakeLayer maker_of(Tag<ops::Unsqueeze>) { return make<UnsqueezeLayer>; }

}  // namespace kiln::api
