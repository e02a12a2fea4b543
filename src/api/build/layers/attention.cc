/// Attentions: the layers at their boundaries, of which the first computes everything.
#include "ops/attention.h"
#include "api/base/convert.h"
#include "api/build/arguments.h"
#include "api/build/layers/layers.h"
#include "ops/attention_output.h"

namespace kiln::api {
namespace {

template <class T, nv::LayerType kType, class I, class V>
class AttentionBoundary final : public LayerOf<T, kType, I, V>, public nv::apiv::VAttentionBoundaryLayer {
  using Base = LayerOf<T, kType, I, V>;

 public:
  AttentionBoundary(Network& network, ir::NodeId node) : Base(network, node) { this->mBoundary = this; }
  nv::IAttention* getAttention() const noexcept override {
    Group* const group = this->network().group(this->op().group);
    return group ? group->attention() : nullptr;
  }
  // The IAttention calls these.
  using Base::edit;
  using Base::op;
  using Base::put_input;
};

using InputLayer = AttentionBoundary<ops::Attention, nv::LayerType::kATTENTION_INPUT, nv::IAttentionInputLayer,
                                     nv::apiv::VAttentionInputLayer>;
using OutputLayer = AttentionBoundary<ops::AttentionOutput, nv::LayerType::kATTENTION_OUTPUT, nv::IAttentionOutputLayer,
                                      nv::apiv::VAttentionOutputLayer>;

class Attention final : public nv::IAttention, public nv::apiv::VAttention, public Group {
 public:
  Attention(Network& network, int id) : Group(network, id, str("(Unnamed Attention* ", id, ")")) { mImpl = this; }
  nv::IAttention* attention() override { return this; }

  /// Adds the layers; the object is whole only if this succeeds.
  Status open(ops::Attention op, std::span<const ir::ValueId> inputs) {
    op.group = id();
    input_ = TRY(network().add<InputLayer>(op, inputs, Settings::kComplete));
    const ir::ValueId y = network().graph().node(input_->node()).outputs[0];
    output_ = TRY(network().add<OutputLayer>(ops::AttentionOutput{id()}, {y}, Settings::kComplete));
    return {};
  }

  bool setInput(int32_t index, nv::ITensor& input) noexcept override {
    return put("IAttention::setInput", index, input, [&] {
      return require(index >= 0 && index < kNumInputs, "index ", index, " is outside [0, ", kNumInputs,
                     ") of attention '", name(), "'");
    });
  }
  int32_t getNbInputs() const noexcept override { return kNumInputs; }
  nv::ITensor* getInput(int32_t index) const noexcept override {
    return index >= 0 && index < kNumInputs ? input_->getInput(index) : nullptr;
  }
  int32_t getNbOutputs() const noexcept override { return 1; }
  nv::ITensor* getOutput(int32_t index) const noexcept override { return output_->getOutput(index); }
  bool setName(const char* name) noexcept override { return set_name(name, "IAttention::setName"); }
  const char* getName() const noexcept override { return name().c_str(); }

  bool setNormalizationOperation(nv::AttentionNormalizationOp operation) noexcept override {
    return input_->edit("IAttention::setNormalizationOperation", [&](ops::Attention& op) -> Status {
      op.normalization = TRY(enum_from_api<AttentionNormalization>(operation, "op"));
      return {};
    });
  }
  nv::AttentionNormalizationOp getNormalizationOperation() const noexcept override {
    return static_cast<nv::AttentionNormalizationOp>(input_->op().normalization);
  }
  bool setCausal(bool isCausal) noexcept override {
    return input_->edit("IAttention::setCausal", [&](ops::Attention& op) -> Status {
      TRY(require(!isCausal || !getMask(), "attention '", name(), "' has a mask; it cannot be causal as well"));
      op.causal = isCausal;
      return {};
    });
  }
  bool getCausal() const noexcept override { return input_->op().causal; }
  bool setMask(nv::ITensor& mask) noexcept override {
    return put("IAttention::setMask", kMask, mask, [&] {
      return require(!getCausal(), "attention '", name(), "' is causal; it cannot have a mask as well");
    });
  }
  nv::ITensor* getMask() const noexcept override { return input_->getInput(kMask); }
  bool setDecomposable(bool decomposable) noexcept override {
    return input_->edit("IAttention::setDecomposable", [&](ops::Attention& op) { op.decomposable = decomposable; });
  }
  bool getDecomposable() const noexcept override { return input_->op().decomposable; }

  bool setNormalizationQuantizeScale(nv::ITensor& tensor) noexcept override {
    return put("IAttention::setNormalizationQuantizeScale", kScale, tensor, [&]() -> Status {
      const nv::Dims extents = tensor.getDimensions();
      return require(extents.nbDims == 0 || (extents.nbDims == 1 && extents.d[0] == 1), "tensor has ", extents.nbDims,
                     extents.nbDims == 1 ? str(" axis of ", extents.d[0]) : std::string(" axes"),
                     "; one number scales the normalized scores of attention '", name(), "'");
    });
  }
  nv::ITensor* getNormalizationQuantizeScale() const noexcept override { return input_->getInput(kScale); }
  bool setNormalizationQuantizeToType(nv::DataType type) noexcept override {
    return input_->edit("IAttention::setNormalizationQuantizeToType", [&](ops::Attention& op) -> Status {
      TRY(require(type == nv::DataType::kFP8 || type == nv::DataType::kINT8, "type is ", static_cast<int32_t>(type),
                  "; kFP8 or kINT8 is needed for the normalized scores of attention '", name(), "'"));
      op.quantize_to = TRY(from_api(type));
      return {};
    });
  }
  nv::DataType getNormalizationQuantizeToType() const noexcept override { return to_api(input_->op().quantize_to); }

  bool setMetadata(const char* docString) noexcept override {
    return guard(network().reporter(), "IAttention::setMetadata", [&]() -> Status {
      TRY(new_name(docString));  // its limits are those of a name
      input_->Layer::setMetadata(docString);
      return {};
    });
  }
  const char* getMetadata() const noexcept override { return input_->Layer::getMetadata(); }
  bool setNbRanks(int32_t nbRanks) noexcept override { return input_->Layer::setNbRanks(nbRanks); }
  int32_t getNbRanks() const noexcept override { return input_->Layer::getNbRanks(); }

 private:
  static constexpr int32_t kNumInputs = 3, kMask = ops::Attention::kMask, kScale = ops::Attention::kScale;

  template <class F>
  bool put(const char* call, int32_t index, const nv::ITensor& tensor, F check) noexcept {
    return guard(network().reporter(), call, [&]() -> Status {
      const char* const what = index == kMask ? "mask" : index == kScale ? "tensor" : "input";
      const ir::ValueId value = TRY(network().value_of(tensor, what));
      TRY(check());
      input_->put_input(index, value);
      return {};
    });
  }

  InputLayer* input_ = nullptr;
  OutputLayer* output_ = nullptr;
};

}  // namespace

Result<nv::IAttention*> add_attention(Network& network, nv::ITensor& query, nv::ITensor& key, nv::ITensor& value,
                                      nv::AttentionNormalizationOp normalization, bool causal) {
  const ir::ValueId inputs[] = {TRY(network.value_of(query, "query")), TRY(network.value_of(key, "key")),
                                TRY(network.value_of(value, "value"))};
  const ops::Attention op{.normalization = TRY(enum_from_api<AttentionNormalization>(normalization, "normOp")),
                          .causal = causal};
  Attention& attention = network.add_group<Attention>();
  TRY(attention.open(op, inputs));
  return &attention;
}
MakeLayer maker_of(Tag<ops::Attention>) { return make<InputLayer>; }
MakeLayer maker_of(Tag<ops::AttentionOutput>) { return make<OutputLayer>; }

}  // namespace kiln::api
