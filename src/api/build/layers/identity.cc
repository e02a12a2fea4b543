/// The same tensor under another name.
#include "ops/identity.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

using IdentityLayer = LayerAsIdentity<ops::Identity>;

}  // namespace

Result<nv::IIdentityLayer*> add_identity(Network& network, nv::ITensor& input) {
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  return network.add<IdentityLayer>(ops::Identity{}, {x}, Settings::kComplete);
}
MakeLayer maker_of(Tag<ops::Identity>) { return make<IdentityLayer>; }

}  // namespace kiln::api
