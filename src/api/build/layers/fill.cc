#include "ops/fill.h"

#include <cmath>
#include <cstdlib>

#include "api/base/convert.h"
#include "api/base/shown_type.h"
#include "api/build/arguments.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

constexpr int64_t kExactInDouble = int64_t{1} << 53;

class FillLayer final : public LayerOf<ops::Fill, nv::LayerType::kFILL, nv::IFillLayer, nv::apiv::VFillLayer> {
 public:
  using LayerOf::LayerOf;

  void setDimensions(const nv::Dims& dimensions) noexcept override {
    edit("IFillLayer::setDimensions", [&](ops::Fill& op) -> Status {
      op.dims = TRY(numbers(dimensions, -1, 0, "dimensions"));
      put_input(0, ir::ValueId::kNone);
      return {};
    });
  }
  nv::Dims getDimensions() const noexcept override { return has_input(0) ? no_dims() : to_api(op().dims); }
  void setOperation(nv::FillOperation op) noexcept override {
    set_enum("IFillLayer::setOperation", &ops::Fill::operation, op);
  }
  nv::FillOperation getOperation() const noexcept override {
    return get_enum<nv::FillOperation>(&ops::Fill::operation);
  }
  void setAlpha(double alpha) noexcept override { set_number("IFillLayer::setAlpha", &ops::Fill::alpha, alpha, 1); }
  double getAlpha() const noexcept override { return op().alpha; }
  void setBeta(double beta) noexcept override { set_number("IFillLayer::setBeta", &ops::Fill::beta, beta, 2); }
  double getBeta() const noexcept override { return op().beta; }
  void setAlphaInt64(int64_t alpha) noexcept override {
    set_integer("IFillLayer::setAlphaInt64", &ops::Fill::alpha, alpha, 1);
  }
  int64_t getAlphaInt64() const noexcept override { return static_cast<int64_t>(op().alpha); }
  void setBetaInt64(int64_t beta) noexcept override {
    set_integer("IFillLayer::setBetaInt64", &ops::Fill::beta, beta, 2);
  }
  int64_t getBetaInt64() const noexcept override { return static_cast<int64_t>(op().beta); }
  bool isAlphaBetaInt64() const noexcept override { return integers_; }
  nv::DataType getToType() const noexcept override { return to_api(shown_type(op().to)); }
  void setToType(nv::DataType toType) noexcept override {
    edit("IFillLayer::setToType", [&](ops::Fill& op) -> Status {
      op.to = TRY(from_api(toType));
      follows_parameters_ = false;
      return {};
    });
  }
  void follow_parameters() { follows_parameters_ = true; }

 private:
  Status input_changed(int index) override {
    if (index == 0 || !follows_parameters_) return {};
    const TensorType& parameter = TRY(graph().inferred_type(input_value(index)));
    ops::Fill copy = op();
    copy.to = parameter.dtype;
    graph().set_op(node(), std::move(copy));
    return {};
  }
  void set_number(const char* call, double ops::Fill::*field, double value, int input) noexcept {
    edit(call, [&](ops::Fill& op) {
      op.*field = value;
      put_input(input, ir::ValueId::kNone);
      integers_ = false;
      if (follows_parameters_) op.to = DType::kF32;
    });
  }
  void set_integer(const char* call, double ops::Fill::*field, int64_t value, int input) noexcept {
    edit(call, [&](ops::Fill& op) -> Status {
      if (value > kExactInDouble || value < -kExactInDouble)
        return error(Code::kUnsupported, "the value ", value, " is beyond 2^53; give it as a tensor, by setInput");
      op.*field = static_cast<double>(value);
      put_input(input, ir::ValueId::kNone);
      integers_ = true;
      if (follows_parameters_) op.to = DType::kI64;
      return {};
    });
  }

  bool integers_ = false;
  bool follows_parameters_ = false;  ///< the output's type does, since the program named none
};

}  // namespace

Result<nv::IFillLayer*> add_fill(Network& network, const nv::Dims& dimensions, nv::FillOperation operation,
                                 std::optional<nv::DataType> to_type) {
  const nv::Dims* const given = address_of(dimensions);
  const bool to_come = given && given->nbDims == -1;  // an input is to say them
  const ops::Fill op{.operation = TRY(enum_from_api<FillOperation>(operation, "op")),
                     .dims = to_come ? Extents() : TRY(numbers(dimensions, -1, 0, "dimensions")),
                     .to = TRY(from_api(to_type.value_or(nv::DataType::kFLOAT))),
                     .seed = network.graph().num_nodes(),
                     .fixed_start = false};
  FillLayer* const layer = TRY(network.add<FillLayer>(op, {}, Settings::kToCome));
  if (!to_type) layer->follow_parameters();
  return layer;
}

MakeLayer maker_of(Tag<ops::Fill>) { return make<FillLayer>; }

}  // namespace kiln::api
