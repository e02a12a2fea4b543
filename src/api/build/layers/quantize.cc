/// Floats to narrow numbers and back.
#include "ops/quantize.h"
#include "api/base/convert.h"
#include "api/build/layers/layers.h"
#include "ops/dequantize.h"

namespace kiln::api {
namespace {

/// What both layers have: T is the op, the rest as LayerOf has it.
template <class T, nv::LayerType kType, class I, class V>
class QuantizationLayer : public LayerOf<T, kType, I, V> {
 public:
  using LayerOf<T, kType, I, V>::LayerOf;

  void setAxis(int32_t axis) noexcept override { this->set(kSetAxis, &T::axis, axis); }
  int32_t getAxis() const noexcept override { return this->op().axis; }
  bool setBlockShape(const nv::Dims& blockShape) noexcept override {
    return this->edit(kSetBlockShape, [&](T& op) -> Status {
      Extents block = TRY(from_api(blockShape));
      for (const int64_t extent : block)
        TRY(require(extent > 0 || extent == -1, "blockShape has the extent ", extent,
                    "; extents are positive, or -1 for a whole axis"));
      op.block = std::move(block);
      return {};
    });
  }
  nv::Dims getBlockShape() const noexcept override { return to_api(this->op().block); }
  void setToType(nv::DataType toType) noexcept override {
    this->edit(kSetToType, [&](T& op) -> Status {
      op.to = TRY(from_api(toType));
      return {};
    });
  }
  nv::DataType getToType() const noexcept override { return to_api(this->op().to); }

 private:
  static constexpr bool kIsQuantize = kType == nv::LayerType::kQUANTIZE;
  static constexpr const char* kSetAxis = kIsQuantize ? "IQuantizeLayer::setAxis" : "IDequantizeLayer::setAxis";
  static constexpr const char* kSetBlockShape =
      kIsQuantize ? "IQuantizeLayer::setBlockShape" : "IDequantizeLayer::setBlockShape";
  static constexpr const char* kSetToType = kIsQuantize ? "IQuantizeLayer::setToType" : "IDequantizeLayer::setToType";
};

class QuantizeLayer final
    : public QuantizationLayer<ops::Quantize, nv::LayerType::kQUANTIZE, nv::IQuantizeLayer, nv::apiv::VQuantizeLayer> {
 public:
  using QuantizationLayer::QuantizationLayer;
};
class DequantizeLayer final : public QuantizationLayer<ops::Dequantize, nv::LayerType::kDEQUANTIZE,
                                                       nv::IDequantizeLayer, nv::apiv::VDequantizeLayer> {
 public:
  using QuantizationLayer::QuantizationLayer;
};

}  // namespace

Result<nv::IQuantizeLayer*> add_quantize(Network& network, nv::ITensor& input, nv::ITensor& scale,
                                         nv::DataType to_type) {
  const ir::ValueId x = TRY(network.value_of(input, "input")), s = TRY(network.value_of(scale, "scale"));
  return network.add<QuantizeLayer>(ops::Quantize{.to = TRY(from_api(to_type))}, {x, s}, Settings::kToCome);
}
Result<nv::IDequantizeLayer*> add_dequantize(Network& network, nv::ITensor& input, nv::ITensor& scale,
                                             nv::DataType to_type) {
  const ir::ValueId q = TRY(network.value_of(input, "input")), s = TRY(network.value_of(scale, "scale"));
  return network.add<DequantizeLayer>(ops::Dequantize{.to = TRY(from_api(to_type))}, {q, s}, Settings::kToCome);
}
MakeLayer maker_of(Tag<ops::Quantize>) { return make<QuantizeLayer>; }
MakeLayer maker_of(Tag<ops::Dequantize>) { return make<DequantizeLayer>; }

}  // namespace kiln::api
