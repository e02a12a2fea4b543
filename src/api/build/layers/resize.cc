#include "ops/resize.h"

#include <algorithm>
#include <cmath>

#include "api/base/convert.h"
#include "api/build/arguments.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class ResizeLayer final
    : public LayerOf<ops::Resize, nv::LayerType::kRESIZE, nv::IResizeLayer, nv::apiv::VResizeLayer> {
 public:
  using LayerOf::LayerOf;

  void setOutputDimensions(const nv::Dims& dimensions) noexcept override {
    edit("IResizeLayer::setOutputDimensions", [&](ops::Resize& op) -> Status {
      op.dims = TRY(numbers(dimensions, TRY(network().rank_of(input_value(0))), 0, "dimensions"));
      op.scales.clear();
      forget_fit(op);
      put_input(1, ir::ValueId::kNone);
      return {};
    });
  }
  nv::Dims getOutputDimensions() const noexcept override {
    return has_input(1) || op().dims.empty() ? no_dims() : to_api(op().dims);
  }
  void setScales(const float* scales, int32_t nbScales) noexcept override {
    edit("IResizeLayer::setScales", [&](ops::Resize& op) -> Status {
      const int rank = TRY(network().rank_of(input_value(0)));
      TRY(require(scales && nbScales == rank, scales ? "there are " : "scales are null; there are ", nbScales,
                  " scales; the input has rank ", rank));
      for (int32_t i = 0; i < nbScales; ++i)
        TRY(require(std::isfinite(scales[i]) && scales[i] > 0, "scale ", i, " is ", scales[i],
                    "; it must be positive"));
      op.scales.assign(scales, scales + nbScales);
      op.dims.clear();
      forget_fit(op);
      put_input(1, ir::ValueId::kNone);
      return {};
    });
  }
  int32_t getScales(int32_t size, float* scales) const noexcept override {
    const auto& own = op().scales;
    if (scales && size >= static_cast<int32_t>(own.size()))
      std::transform(own.begin(), own.end(), scales, [](double scale) { return static_cast<float>(scale); });
    return static_cast<int32_t>(own.size());
  }
  void setResizeMode(nv::InterpolationMode interpolationMode) noexcept override {
    set_enum("IResizeLayer::setResizeMode", &ops::Resize::mode, interpolationMode);
  }
  nv::InterpolationMode getResizeMode() const noexcept override {
    return get_enum<nv::InterpolationMode>(&ops::Resize::mode);
  }
  void setCoordinateTransformation(nv::ResizeCoordinateTransformation coordTransform) noexcept override {
    edit("IResizeLayer::setCoordinateTransformation", [&](ops::Resize& op) -> Status {
      op.coordinate = TRY(enum_from_api<CoordinateTransformation>(coordTransform, "coordTransform"));
      return {};
    });
  }
  nv::ResizeCoordinateTransformation getCoordinateTransformation() const noexcept override {
    // Only the parser sets ONNX's further rules. The API shows each as the rule that it is a variant of, mostly
    // kHALF_PIXEL.
    return static_cast<nv::ResizeCoordinateTransformation>(
        std::min(op().coordinate, CoordinateTransformation::kHalfPixel));
  }
  void setSelectorForSinglePixel(nv::ResizeSelector selector) noexcept override {
    set_enum("IResizeLayer::setSelectorForSinglePixel", &ops::Resize::selector, selector);
  }
  nv::ResizeSelector getSelectorForSinglePixel() const noexcept override {
    return get_enum<nv::ResizeSelector>(&ops::Resize::selector);
  }
  void setNearestRounding(nv::ResizeRoundMode value) noexcept override {
    set_enum("IResizeLayer::setNearestRounding", &ops::Resize::rounding, value);
  }
  nv::ResizeRoundMode getNearestRounding() const noexcept override {
    return get_enum<nv::ResizeRoundMode>(&ops::Resize::rounding);
  }
  void setCubicCoeff(float value) noexcept override {
    set("IResizeLayer::setCubicCoeff", &ops::Resize::cubic_coeff, value);
  }
  float getCubicCoeff() const noexcept override { return static_cast<float>(op().cubic_coeff); }
  void setExcludeOutside(bool value) noexcept override {
    set("IResizeLayer::setExcludeOutside", &ops::Resize::exclude_outside, value);
  }
  bool getExcludeOutside() const noexcept override { return op().exclude_outside; }

 private:
  /// ONNX's parser may have chosen one scale for all axes. Extents or scales that the program sets replace that choice.
  static void forget_fit(ops::Resize& op) {
    op.fit = ResizeFit::kStretch;
    op.fitted_sizes.clear();
  }
};

}  // namespace

Result<nv::IResizeLayer*> add_resize(Network& network, nv::ITensor& input) {
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  return network.add<ResizeLayer>(ops::Resize{}, {x}, Settings::kToCome);
}

MakeLayer maker_of(Tag<ops::Resize>) { return make<ResizeLayer>; }

}  // namespace kiln::api
