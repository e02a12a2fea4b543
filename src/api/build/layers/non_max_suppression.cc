/// Boxes that do not overlap much.
#include "ops/non_max_suppression.h"
#include "api/build/layers/index_type.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class NonMaxSuppressionLayer final
    : public LayerOf<ops::NonMaxSuppression, nv::LayerType::kNMS, nv::INMSLayer, nv::apiv::VNMSLayer> {
 public:
  using LayerOf::LayerOf;

  void setBoundingBoxFormat(nv::BoundingBoxFormat fmt) noexcept override {
    set_enum("INMSLayer::setBoundingBoxFormat", &ops::NonMaxSuppression::format, fmt);
  }
  nv::BoundingBoxFormat getBoundingBoxFormat() const noexcept override {
    return get_enum<nv::BoundingBoxFormat>(&ops::NonMaxSuppression::format);
  }
  void setTopKBoxLimit(int32_t limit) noexcept override {
    edit("INMSLayer::setTopKBoxLimit", [&](ops::NonMaxSuppression& op) -> Status {
      TRY(require(limit >= 0, "limit is ", limit, "; a count is needed"));
      op.candidates = limit;
      return {};
    });
  }
  int32_t getTopKBoxLimit() const noexcept override {
    return op().candidates < 0 ? INT32_MAX : static_cast<int32_t>(op().candidates);
  }
  bool setIndicesType(nv::DataType type) noexcept override {
    return edit("INMSLayer::setIndicesType", [&](ops::NonMaxSuppression& op) -> Status {
      op.indices = TRY(index_type_from_api(type));
      return {};
    });
  }
  nv::DataType getIndicesType() const noexcept override { return to_api(op().indices); }
};

}  // namespace

Result<nv::INMSLayer*> add_non_max_suppression(Network& network, nv::ITensor& boxes, nv::ITensor& scores,
                                               nv::ITensor& most, nv::DataType indices_type) {
  const ir::ValueId inputs[] = {TRY(network.value_of(boxes, "boxes")), TRY(network.value_of(scores, "scores")),
                                TRY(network.value_of(most, "maxOutputBoxesPerClass"))};
  const ops::NonMaxSuppression op{.indices = TRY(index_type_from_api(indices_type))};
  return network.add<NonMaxSuppressionLayer>(op, {inputs[0], inputs[1], inputs[2]}, Settings::kToCome);
}
MakeLayer maker_of(Tag<ops::NonMaxSuppression>) { return make<NonMaxSuppressionLayer>; }

}  // namespace kiln::api
