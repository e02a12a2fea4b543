#include "ops/scale.h"

#include "api/build/arguments.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

/// Inputs of the op behind x; the layer shows them as weights only.
enum Input : int { kShift = 1, kScale = 2, kPower = 3 };

class ScaleLayer final : public LayerOf<ops::Scale, nv::LayerType::kSCALE, nv::IScaleLayer, nv::apiv::VScaleLayer> {
 public:
  using LayerOf::LayerOf;

  void setMode(nv::ScaleMode mode) noexcept override { set_enum("IScaleLayer::setMode", &ops::Scale::mode, mode); }
  nv::ScaleMode getMode() const noexcept override { return get_enum<nv::ScaleMode>(&ops::Scale::mode); }
  void setShift(nv::Weights shift) noexcept override { set_slot("IScaleLayer::setShift", kShift, shift); }
  nv::Weights getShift() const noexcept override { return weights(kShift); }
  void setScale(nv::Weights scale) noexcept override { set_slot("IScaleLayer::setScale", kScale, scale); }
  nv::Weights getScale() const noexcept override { return weights(kScale); }
  void setPower(nv::Weights power) noexcept override { set_slot("IScaleLayer::setPower", kPower, power); }
  nv::Weights getPower() const noexcept override { return weights(kPower); }
  int32_t getChannelAxis() const noexcept override { return op().channel_axis; }
  void setChannelAxis(int32_t channelAxis) noexcept override {
    edit("IScaleLayer::setChannelAxis", [&](ops::Scale& op) -> Status {
      const int rank = TRY(network().rank_of(input_value(0)));
      TRY(require(channelAxis >= 0 && channelAxis < rank, "channelAxis is ", channelAxis, ", outside [0, ", rank, ")"));
      op.channel_axis = channelAxis;
      return {};
    });
  }

  Status put_weights(int input, const nv::Weights& weights, const char* what) {
    TRY(check_weights(weights, what));
    const ir::ValueId before = ir_node().input(input);
    ir::ValueId value = ir::ValueId::kNone;
    if (weights.count > 0)
      value = network().add_weights(TRY(borrow(weights, {weights.count}, what)), str(getName(), ' ', what));
    put_input(input, value);
    network().drop_weights(before);
    return {};
  }

 private:
  Status check_input(int index) const override {
    return require(index == 0, "index is ", index, "; a scale layer has one input");
  }
  void set_slot(const char* call, int input, const nv::Weights& weights) noexcept {
    guard(reporter(), call, [&] { return put_weights(input, weights, "weights"); });
  }
  nv::Weights weights(int input) const {
    const ir::ValueId value = ir_node().input(input);
    return to_api(value != ir::ValueId::kNone ? graph().constant(value) : nullptr);
  }
};

}  // namespace

Result<nv::IScaleLayer*> add_scale(Network& network, nv::ITensor& input, nv::ScaleMode mode,
                                   const ScaleWeights& weights, int32_t channel_axis) {
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  const ops::Scale op{.mode = TRY(enum_from_api<ops::ScaleMode>(mode, "mode")), .channel_axis = channel_axis};
  const int rank = TRY(network.rank_of(x));
  TRY(require(channel_axis >= 0 && channel_axis < rank, "channelAxis is ", channel_axis, ", outside [0, ", rank, ")"));
  TRY(check_weights(weights.shift, "shift"));
  TRY(check_weights(weights.scale, "scale"));
  TRY(check_weights(weights.power, "power"));
  ScaleLayer* const layer = TRY(network.add<ScaleLayer>(op, {x}, Settings::kToCome));
  TRY(layer->put_weights(kShift, weights.shift, "shift"));
  TRY(layer->put_weights(kScale, weights.scale, "scale"));
  TRY(layer->put_weights(kPower, weights.power, "power"));
  return layer;
}

MakeLayer maker_of(Tag<ops::Scale>) { return make<ScaleLayer>; }

}  // namespace kiln::api
