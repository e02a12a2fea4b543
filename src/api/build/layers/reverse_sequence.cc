/// The first elements of sequences in reverse order.
#include "ops/reverse_sequence.h"

#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class ReverseSequenceLayer final : public LayerOf<ops::ReverseSequence, nv::LayerType::kREVERSE_SEQUENCE,
                                                  nv::IReverseSequenceLayer, nv::apiv::VReverseSequenceLayer> {
 public:
  using LayerOf::LayerOf;

  void setBatchAxis(int32_t batchAxis) noexcept override {
    set("IReverseSequenceLayer::setBatchAxis", &ops::ReverseSequence::batch_axis, batchAxis);
  }
  int32_t getBatchAxis() const noexcept override { return from_front(op().batch_axis); }
  void setSequenceAxis(int32_t sequenceAxis) noexcept override {
    set("IReverseSequenceLayer::setSequenceAxis", &ops::ReverseSequence::sequence_axis, sequenceAxis);
  }
  int32_t getSequenceAxis() const noexcept override { return from_front(op().sequence_axis); }
};

}  // namespace

Result<nv::IReverseSequenceLayer*> add_reverse_sequence(Network& network, nv::ITensor& input,
                                                        nv::ITensor& sequence_lens) {
  const ir::ValueId x = TRY(network.value_of(input, "input")),
                    lens = TRY(network.value_of(sequence_lens, "sequenceLens"));
  return network.add<ReverseSequenceLayer>(ops::ReverseSequence{}, {x, lens}, Settings::kToCome);
}
MakeLayer maker_of(Tag<ops::ReverseSequence>) { return make<ReverseSequenceLayer>; }

}  // namespace kiln::api
