/// Mean and variance over axes made 0 and 1, then scaled and shifted.
#include "ops/normalization.h"
#include "api/base/convert.h"
#include "api/build/arguments.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class NormalizationLayer final : public LayerOf<ops::Normalization, nv::LayerType::kNORMALIZATION,
                                                nv::INormalizationLayer, nv::apiv::VNormalizationLayer> {
 public:
  using LayerOf::LayerOf;

  void setEpsilon(float eps) noexcept override {
    set("INormalizationLayer::setEpsilon", &ops::Normalization::epsilon, eps);
  }
  float getEpsilon() const noexcept override { return static_cast<float>(op().epsilon); }
  void setAxes(uint32_t axesMask) noexcept override {
    edit("INormalizationLayer::setAxes", [&](ops::Normalization& op) -> Status {
      op.axes = TRY(axes_of_mask(axesMask, TRY(network().rank_of(input_value(0))), "axesMask"));
      return {};
    });
  }
  uint32_t getAxes() const noexcept override {
    return mask_of_axes(op().axes, network().rank_of(input_value(0)).value_or(0));
  }
  void setNbGroups(int64_t nbGroups) noexcept override {
    edit("INormalizationLayer::setNbGroups", [&](ops::Normalization& op) -> Status {
      TRY(require(nbGroups >= 1, "nbGroups is ", nbGroups, "; 1 is the least"));
      op.groups = nbGroups;
      return {};
    });
  }
  int64_t getNbGroups() const noexcept override { return op().groups; }
  void setComputePrecision(nv::DataType type) noexcept override {
    edit("INormalizationLayer::setComputePrecision", [&](ops::Normalization& op) -> Status {
      TRY(require(type == nv::DataType::kFLOAT || type == nv::DataType::kHALF || type == nv::DataType::kBF16,
                  "the type is neither kFLOAT, kHALF nor kBF16"));
      op.compute = TRY(from_api(type));
      return {};
    });
  }
  nv::DataType getComputePrecision() const noexcept override { return to_api(op().compute); }
  bool isV2() const noexcept override { return v2_; }
  void be_v2() { v2_ = true; }

 private:
  bool v2_ = false;
};

}  // namespace

Result<nv::INormalizationLayer*> add_normalization(Network& network, nv::ITensor& input, nv::ITensor& scale,
                                                   nv::ITensor& bias, uint32_t axes, bool v2) {
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  const ir::ValueId gain = TRY(network.value_of(scale, "scale"));
  const ir::ValueId shift = TRY(network.value_of(bias, "bias"));
  const ops::Normalization op{.axes = TRY(axes_of_mask(axes, TRY(network.rank_of(x)), "axesMask"))};
  NormalizationLayer* const layer = TRY(network.add<NormalizationLayer>(op, {x, gain, shift}, Settings::kToCome));
  if (v2) layer->be_v2();
  return layer;
}
MakeLayer maker_of(Tag<ops::Normalization>) { return make<NormalizationLayer>; }

}  // namespace kiln::api
