/// Insertion of axes of extent 1.
#include "ops/unsqueeze.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class UnsqueezeLayer final
    : public LayerOf<ops::Unsqueeze, nv::LayerType::kUNSQUEEZE, nv::IUnsqueezeLayer, nv::apiv::VUnsqueezeLayer> {
 public:
  using LayerOf::LayerOf;
};

}  // namespace

Result<nv::IUnsqueezeLayer*> add_unsqueeze(Network& network, nv::ITensor& input, nv::ITensor& axes) {
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  const ir::ValueId list = TRY(network.value_of(axes, "axes"));
  return network.add<UnsqueezeLayer>(ops::Unsqueeze{}, {x, list}, Settings::kComplete);
}
std::unique_ptr<Layer> make_unsqueeze(Network& network, ir::NodeId node) { return make<UnsqueezeLayer>(network, node); }

}  // namespace kiln::api
