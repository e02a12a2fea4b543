// ResizeNearest_TRT: y[..., i, j] = x[..., floor(i / scale), floor(j / scale)].
//   in   x        floats [..., H, W], rank 3 or more
//   out  y        [..., floor(H scale), floor(W scale)]
//   fields  scale  a whole number where H or W are known at run time alone
#include <cmath>

#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

class ResizeNearest final : public StandardPlugin {
 public:
  explicit ResizeNearest(float scale) : scale_(scale) {}
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    TRY(require(inputs[0].size() >= 3, "input 0 has rank ", inputs[0].size(), "; 3 at least is needed"));
    Shape shape = inputs[0];
    for (size_t axis = shape.size() - 2; axis < shape.size(); ++axis) {
      // Expressions of extents have no fractions.
      TRY(require(shape[axis].number() || scale_ == std::floor(scale_), "the scale ", scale_,
                  " is no whole number, so that the image's extents have to be known"));
      const auto whole = shape[axis].number();
      shape[axis] = scaled(shape[axis]);
      TRY(require(shape[axis].number() != 0 || whole == 0, "the scale ", scale_, " leaves nothing of the extent ",
                  whole.value_or(0), " of axis ", axis));
    }
    return std::vector<Shape>{shape};
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override {
    Value y = inputs[0];
    for (const int axis : {-2, -1})
      y = gather(y, floor(layers.iota(scaled(y.extent(axis)), nv::DataType::kFLOAT) / scale_).i32(), axis);
    return {y};
  }

 private:
  /// A length that is a Dim or an Extent, times the scale.
  template <class Length>
  Length scaled(const Length& extent) const {
    if (extent.number()) return static_cast<int64_t>(static_cast<float>(*extent.number()) * scale_);
    return extent * static_cast<int64_t>(scale_);
  }
  float scale_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  const auto scale = static_cast<float>(TRY(fields.number("scale")));
  TRY(require(scale > 0, "scale is ", scale));
  return std::make_shared<ResizeNearest>(scale);
}

}  // namespace

std::vector<Definition> resize_nearest() {
  return {{.name = "ResizeNearest_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = {field("scale", kFloat)},
           .min_inputs = 1,
           .max_inputs = 1,
           .make = make}};
}

}  // namespace kiln::plugins
