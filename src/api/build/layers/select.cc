/// Elements of one of two tensors, as a third says.
#include "ops/select.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

using SelectLayer = LayerOf<ops::Select, nv::LayerType::kSELECT, nv::ISelectLayer, nv::apiv::VSelectLayer>;

}  // namespace

Result<nv::ISelectLayer*> add_select(Network& network, nv::ITensor& condition, nv::ITensor& then_input,
                                     nv::ITensor& else_input) {
  const ir::ValueId when = TRY(network.value_of(condition, "condition"));
  const ir::ValueId then = TRY(network.value_of(then_input, "thenInput"));
  const ir::ValueId otherwise = TRY(network.value_of(else_input, "elseInput"));
  return network.add<SelectLayer>(ops::Select{}, {when, then, otherwise}, Settings::kComplete);
}
MakeLayer maker_of(Tag<ops::Select>) { return make<SelectLayer>; }

}  // namespace kiln::api
