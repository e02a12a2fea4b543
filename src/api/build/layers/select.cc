/// Elements of one of two tensors, as a third says.
#include "ops/select.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class SelectLayer final
    : public LayerOf<ops::Select, nv::LayerType::kSELECT, nv::ISelectLayer, nv::apiv::VSelectLayer> {
 public:
  using LayerOf::LayerOf;
};

}  // namespace

Result<nv::ISelectLayer*> add_select(Network& network, nv::ITensor& condition, nv::ITensor& then_input,
                                     nv::ITensor& else_input) {
  const ir::ValueId when = TRY(network.value_of(condition, "condition"));
  const ir::ValueId then = TRY(network.value_of(then_input, "thenInput"));
  const ir::ValueId otherwise = TRY(network.value_of(else_input, "elseInput"));
  return network.add<SelectLayer>(ops::Select{}, {when, then, otherwise}, Settings::kComplete);
}
std::unique_ptr<Layer> make_select(Network& network, ir::NodeId node) { return make<SelectLayer>(network, node); }

}  // namespace kiln::api
