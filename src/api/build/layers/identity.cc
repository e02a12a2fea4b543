/// The same tensor under another name.
#include "ops/identity.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class IdentityLayer final
    : public LayerOf<ops::Identity, nv::LayerType::kIDENTITY, nv::IIdentityLayer, nv::apiv::VIdentityLayer> {
 public:
  using LayerOf::LayerOf;
};

}  // namespace

Result<nv::IIdentityLayer*> add_identity(Network& network, nv::ITensor& input) {
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  return network.add<IdentityLayer>(ops::Identity{}, {x}, Settings::kComplete);
}
std::unique_ptr<Layer> make_identity(Network& network, ir::NodeId node) { return make<IdentityLayer>(network, node); }

}  // namespace kiln::api
