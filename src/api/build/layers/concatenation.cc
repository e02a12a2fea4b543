/// Tensors joined along an axis.
#include "ops/concatenation.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class ConcatenationLayer final : public LayerOf<ops::Concatenation, nv::LayerType::kCONCATENATION,
                                                nv::IConcatenationLayer, nv::apiv::VConcatenationLayer> {
 public:
  using LayerOf::LayerOf;

  void setAxis(int32_t axis) noexcept override { set("IConcatenationLayer::setAxis", &ops::Concatenation::axis, axis); }
  int32_t getAxis() const noexcept override { return from_front(op().axis); }
};

}  // namespace

Result<nv::IConcatenationLayer*> add_concatenation(Network& network, nv::ITensor* const* inputs, int32_t num_inputs) {
  TRY(require(inputs != nullptr, "inputs are null"));
  TRY(require(num_inputs >= 1, "nbInputs is ", num_inputs, "; 1 is the least"));
  std::vector<ir::ValueId> values;
  for (int32_t i = 0; i < num_inputs; ++i) {
    TRY(require(inputs[i] != nullptr, "input ", i, " is null"));
    values.push_back(TRY(network.value_of(*inputs[i], "an input")));
  }
  const int rank = TRY(network.rank_of(values[0]));
  const ops::Concatenation op{.axis = std::max(0, rank - 3)};  // until setAxis is called: the channels of an image
  return network.add<ConcatenationLayer>(op, values, Settings::kToCome);
}
MakeLayer maker_of(Tag<ops::Concatenation>) { return make<ConcatenationLayer>; }

}  // namespace kiln::api
