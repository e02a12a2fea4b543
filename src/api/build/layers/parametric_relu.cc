/// A ReLU whose slope is a tensor.
#include "ops/parametric_relu.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

using ParametricReLULayer = LayerOf<ops::ParametricRelu, nv::LayerType::kPARAMETRIC_RELU, nv::IParametricReLULayer,
                                    nv::apiv::VParametricReLULayer>;

}  // namespace

Result<nv::IParametricReLULayer*> add_parametric_relu(Network& network, nv::ITensor& input, nv::ITensor& slope) {
  const ir::ValueId x = TRY(network.value_of(input, "input")), slopes = TRY(network.value_of(slope, "slope"));
  return network.add<ParametricReLULayer>(ops::ParametricRelu{}, {x, slopes}, Settings::kComplete);
}
MakeLayer maker_of(Tag<ops::ParametricRelu>) { return make<ParametricReLULayer>; }

}  // namespace kiln::api
