/// An image sampled at the positions of a grid.
#include "ops/grid_sample.h"

#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class GridSampleLayer final
    : public LayerOf<ops::GridSample, nv::LayerType::kGRID_SAMPLE, nv::IGridSampleLayer, nv::apiv::VGridSampleLayer> {
 public:
  using LayerOf::LayerOf;

  void setInterpolationMode(nv::InterpolationMode mode) noexcept override {
    set_enum("IGridSampleLayer::setInterpolationMode", &ops::GridSample::mode, mode);
  }
  nv::InterpolationMode getInterpolationMode() const noexcept override {
    return get_enum<nv::InterpolationMode>(&ops::GridSample::mode);
  }
  void setAlignCorners(bool alignCorners) noexcept override {
    set("IGridSampleLayer::setAlignCorners", &ops::GridSample::align_corners, alignCorners);
  }
  bool getAlignCorners() const noexcept override { return op().align_corners; }
  bool setSampleMode(nv::SampleMode mode) noexcept override {
    return edit("IGridSampleLayer::setSampleMode", [&](ops::GridSample& op) -> Status {
      op.outside = TRY(enum_from_api<SliceMode>(mode, "mode"));
      return require(op.outside >= SliceMode::kClamp, "mode is ",
                     enum_names(op.outside)[static_cast<size_t>(op.outside)], "; kFILL, kCLAMP or kREFLECT is needed");
    });
  }
  nv::SampleMode getSampleMode() const noexcept override { return get_enum<nv::SampleMode>(&ops::GridSample::outside); }
};

}  // namespace

Result<nv::IGridSampleLayer*> add_grid_sample(Network& network, nv::ITensor& input, nv::ITensor& grid) {
  const ir::ValueId x = TRY(network.value_of(input, "input")), at = TRY(network.value_of(grid, "grid"));
  return network.add<GridSampleLayer>(ops::GridSample{}, {x, at}, Settings::kComplete);
}
MakeLayer maker_of(Tag<ops::GridSample>) { return make<GridSampleLayer>; }

}  // namespace kiln::api
