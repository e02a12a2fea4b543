/// Softmax along sequences of different lengths.
#include "ops/ragged_softmax.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

using RaggedSoftMaxLayer =
    LayerOf<ops::RaggedSoftmax, nv::LayerType::kRAGGED_SOFTMAX, nv::IRaggedSoftMaxLayer, nv::apiv::VRaggedSoftMaxLayer>;

}  // namespace

Result<nv::IRaggedSoftMaxLayer*> add_ragged_softmax(Network& network, nv::ITensor& input, nv::ITensor& bounds) {
  const ir::ValueId x = TRY(network.value_of(input, "input")), lengths = TRY(network.value_of(bounds, "bounds"));
  return network.add<RaggedSoftMaxLayer>(ops::RaggedSoftmax{}, {x, lengths}, Settings::kComplete);
}
MakeLayer maker_of(Tag<ops::RaggedSoftmax>) { return make<RaggedSoftMaxLayer>; }

}  // namespace kiln::api
