/// The greatest or least elements along an axis.
#include "ops/top_k.h"

#include "api/build/arguments.h"
#include "api/build/layers/index_type.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

Result<int> axis_of_mask(uint32_t mask, int rank) {
  const std::vector<int64_t> axes = TRY(axes_of_mask(mask, rank, "reduceAxes"));
  TRY(require(axes.size() == 1, "reduceAxes are ", axes, "; a TopK has one axis"));
  return static_cast<int>(axes[0]);
}
Result<int64_t> count_of(int32_t k) {
  TRY(require(k >= 0, "k is ", k, "; a count is needed"));
  return k;
}

class TopKLayer final : public LayerOf<ops::TopK, nv::LayerType::kTOPK, nv::ITopKLayer, nv::apiv::VTopKLayer> {
 public:
  using LayerOf::LayerOf;

  void setOperation(nv::TopKOperation op) noexcept override {
    edit("ITopKLayer::setOperation", [&](ops::TopK& topk) -> Status {
      topk.largest = TRY(is_largest(op));
      return {};
    });
  }
  nv::TopKOperation getOperation() const noexcept override {
    return op().largest ? nv::TopKOperation::kMAX : nv::TopKOperation::kMIN;
  }
  /// Replaces a k that a tensor gave.
  void setK(int32_t k) noexcept override {
    edit("ITopKLayer::setK", [&](ops::TopK& op) -> Status {
      op.k = TRY(count_of(k));
      put_input(1, ir::ValueId::kNone);
      return {};
    });
  }
  int32_t getK() const noexcept override { return static_cast<int32_t>(op().k); }
  void setReduceAxes(uint32_t reduceAxes) noexcept override {
    edit("ITopKLayer::setReduceAxes", [&](ops::TopK& op) -> Status {
      op.axis = TRY(axis_of_mask(reduceAxes, TRY(network().rank_of(input_value(0)))));
      return {};
    });
  }
  uint32_t getReduceAxes() const noexcept override { return uint32_t{1} << from_front(op().axis); }
  bool setIndicesType(nv::DataType type) noexcept override {
    return edit("ITopKLayer::setIndicesType", [&](ops::TopK& op) -> Status {
      op.indices = TRY(index_type_from_api(type));
      return {};
    });
  }
  nv::DataType getIndicesType() const noexcept override { return to_api(op().indices); }

  static Result<bool> is_largest(nv::TopKOperation operation) {
    const auto number = static_cast<int32_t>(operation);
    TRY(require(number == 0 || number == 1, "op ", number, " is outside [0, 2)"));
    return operation == nv::TopKOperation::kMAX;
  }
};

}  // namespace

Result<nv::ITopKLayer*> add_top_k(Network& network, nv::ITensor& input, nv::TopKOperation operation, int32_t k,
                                  uint32_t axes, nv::DataType indices_type) {
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  const ops::TopK op{.largest = TRY(TopKLayer::is_largest(operation)),
                     .axis = TRY(axis_of_mask(axes, TRY(network.rank_of(x)))),
                     .k = TRY(count_of(k)),
                     .indices = TRY(index_type_from_api(indices_type))};
  return network.add<TopKLayer>(op, {x}, Settings::kToCome);
}
MakeLayer maker_of(Tag<ops::TopK>) { return make<TopKLayer>; }

}  // namespace kiln::api
