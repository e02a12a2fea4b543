/// Floats to narrow numbers, by scales that are computed from them.
#include "ops/dynamic_quantize.h"

#include "api/base/convert.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

using ops::DynamicQuantize;

class DynamicQuantizeLayer final : public LayerOf<DynamicQuantize, nv::LayerType::kDYNAMIC_QUANTIZE,
                                                  nv::IDynamicQuantizeLayer, nv::apiv::VDynamicQuantizeLayer> {
 public:
  using LayerOf::LayerOf;

  int32_t getAxis() const noexcept override { return op().axis; }
  void setAxis(int32_t axis) noexcept override { set("IDynamicQuantizeLayer::setAxis", &DynamicQuantize::axis, axis); }
  int32_t getBlockSize() const noexcept override { return static_cast<int32_t>(op().block_size); }
  void setBlockSize(int32_t size) noexcept override {
    set("IDynamicQuantizeLayer::setBlockSize", &DynamicQuantize::block_size, size);
  }
  nv::DataType getScaleType() const noexcept override { return to_api(op().scale_type); }
  void setScaleType(nv::DataType scaleType) noexcept override {
    edit("IDynamicQuantizeLayer::setScaleType", [&](DynamicQuantize& op) -> Status {
      op.scale_type = TRY(from_api(scaleType));
      return {};
    });
  }
  nv::DataType getToType() const noexcept override { return to_api(op().to); }
  void setToType(nv::DataType toType) noexcept override {
    edit("IDynamicQuantizeLayer::setToType", [&](DynamicQuantize& op) -> Status {
      op.to = TRY(from_api(toType));
      return {};
    });
  }
  nv::Dims getBlockShape() const noexcept override { return to_api(op().block); }
  void setBlockShape(const nv::Dims& blockShape) noexcept override {
    edit("IDynamicQuantizeLayer::setBlockShape", [&](DynamicQuantize& op) -> Status {
      op.block = TRY(from_api(blockShape));
      return {};
    });
  }
};

Result<nv::IDynamicQuantizeLayer*> add(Network& network, nv::ITensor& input, DynamicQuantize op, nv::DataType to_type,
                                       nv::DataType scale_type) {
  op.to = TRY(from_api(to_type));
  op.scale_type = TRY(from_api(scale_type));
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  return network.add<DynamicQuantizeLayer>(std::move(op), {x}, Settings::kToCome);
}

}  // namespace

Result<nv::IDynamicQuantizeLayer*> add_dynamic_quantize(Network& network, nv::ITensor& input, int32_t axis,
                                                        int32_t block_size, nv::DataType to_type,
                                                        nv::DataType scale_type) {
  return add(network, input, DynamicQuantize{.axis = axis, .block_size = block_size}, to_type, scale_type);
}
Result<nv::IDynamicQuantizeLayer*> add_dynamic_quantize(Network& network, nv::ITensor& input,
                                                        const nv::Dims& block_shape, nv::DataType to_type,
                                                        nv::DataType scale_type) {
  return add(network, input, DynamicQuantize{.block = TRY(from_api(block_shape))}, to_type, scale_type);
}
MakeLayer maker_of(Tag<ops::DynamicQuantize>) { return make<DynamicQuantizeLayer>; }

}  // namespace kiln::api
