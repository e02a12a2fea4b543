/// A broadcast, which only the parser makes: to a program it is a slice that takes elements again with strides of 0.
#include "ops/expand.h"

#include "api/base/convert.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class ExpandLayer final : public LayerOf<ops::Expand, nv::LayerType::kSLICE, nv::ISliceLayer, nv::apiv::VSliceLayer> {
 public:
  using LayerOf::LayerOf;

  void setStart(const nv::Dims&) noexcept override { refuse("ISliceLayer::setStart"); }
  nv::Dims getStart() const noexcept override { return to_api(Extents(op().dims.size(), 0)); }
  void setSize(const nv::Dims&) noexcept override { refuse("ISliceLayer::setSize"); }
  /// Unknown where the shape is a tensor; every slice whose size is a tensor answers so.
  nv::Dims getSize() const noexcept override { return has_input(kShape) ? no_dims() : to_api(op().dims); }
  void setStride(const nv::Dims&) noexcept override { refuse("ISliceLayer::setStride"); }
  nv::Dims getStride() const noexcept override {
    return guard(reporter(), "ISliceLayer::getStride", no_dims(), [&]() -> Result<nv::Dims> {
      const TensorType& x = TRY(graph().inferred_type(ir_node().inputs[0]));
      const TensorType& y = TRY(graph().inferred_type(ir_node().outputs[0]));
      Extents strides(static_cast<size_t>(y.rank()), 0);
      const size_t added = strides.size() - x.shape.size();
      for (size_t axis = 0; axis < x.shape.size(); ++axis)
        if (x.shape[axis].constant() != 1) strides[added + axis] = 1;
      return to_api(strides);
    });
  }
  void setMode(nv::SampleMode) noexcept override { refuse("ISliceLayer::setMode"); }
  nv::SampleMode getMode() const noexcept override { return nv::SampleMode::kSTRICT_BOUNDS; }
  void setAxes(const nv::Dims&) noexcept override { refuse("ISliceLayer::setAxes"); }
  nv::Dims getAxes() const noexcept override { return to_api(Extents()); }

 private:
  static constexpr int kShape = 1;
  void refuse(const char* call) const {
    guard(reporter(), call, [&]() -> Status {
      return error(Code::kUnsupported, "layer '", ir_node().name, "' is a broadcast; only its inputs can be changed");
    });
  }
};

}  // namespace

MakeLayer maker_of(Tag<ops::Expand>) { return make<ExpandLayer>; }

}  // namespace kiln::api
