// CustomGeluPluginDynamic: y = v * (1 + tanh(sqrt(2 / pi) * (v + 0.044715 * v^3))) / 2 of v = x + bias.
//   in   x        floats [..., hidden], or with axes of extent 1 behind that
//   out  y        as x
//   fields  type_id  0 f32, 1 f16: x's type. bias  [hidden], optional
#include <cmath>
#include <numbers>

#include "library/bert.h"

namespace kiln::plugins {
namespace {

class Gelu final : public StandardPlugin {
 public:
  explicit Gelu(std::vector<float> bias) : bias_(std::move(bias)) {}

  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    if (!bias_.empty()) {
      TRY(require(!inputs[0].empty(), "input 0 is a scalar; it has no hidden units for the bias"));
      TRY(require_equal(hidden_units(inputs[0]), std::ssize(bias_),
                        str("the last axis of input 0 that is not 1 long has to be ", bias_.size(),
                            " long, as there are ", bias_.size(), " biases")));
    }
    return std::vector<Shape>{inputs[0]};
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override {
    const Value x = inputs[0].f32();
    const Value y = activation(bias_.empty() ? x : with_bias(layers, x), nv::ActivationType::kGELU_TANH);
    return {lies_in_rows(x) ? reshape(y, x.extents()) : y};
  }

 private:
  /// The extent of the last axis, but for those of extent 1 if there are several biases.
  Dim hidden_units(const Shape& shape) const {
    Dim units = shape.back();
    for (size_t axis = shape.size() - 1; axis > 0 && bias_.size() != 1 && units.number().value_or(1) == 1; --axis) {
      const Dim is_one = max(1 - max(units - 1, 1 - units), 0);
      units = units + is_one * (shape[axis - 1] - 1);
    }
    return units;
  }
  /// The axis of the hidden units, as far as the network tells.
  size_t hidden_axis(const Value& x) const {
    int axis = x.rank() - 1;
    while (axis > 0 && bias_.size() != 1 && x.extent(axis).number() == 1) --axis;
    return static_cast<size_t>(axis);
  }
  /// Whether only the run knows which axis that is. All behind it are of extent 1, so that the units lie next to each
  /// other.
  bool lies_in_rows(const Value& x) const {
    return !bias_.empty() && x.extent(static_cast<int>(hidden_axis(x))).number() != std::ssize(bias_);
  }
  /// x + bias; of rows of hidden units where x lies in such.
  Value with_bias(Layers& layers, const Value& x) const {
    const int64_t units = std::ssize(bias_);
    if (!lies_in_rows(x)) {
      std::vector<int64_t> each(static_cast<size_t>(x.rank()), 1);
      each[hidden_axis(x)] = units;
      return x + layers.constant(dims_of(each), bias_);
    }
    Extent rows = 1;
    for (const Extent& extent : x.extents()) rows = rows * extent;
    return reshape(x, {rows / units, units}) + layers.constant(dims_of({1, units}), bias_);
  }
  std::vector<float> bias_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  TRY(require_float_type(fields));
  return std::make_shared<Gelu>(TRY(fields.floats("bias")));
}

}  // namespace

std::vector<Definition> gelu() {
  const std::vector<nv::PluginField> fields = {field("type_id", kInt), field("bias", kFloat)};
  return {{.name = "CustomGeluPluginDynamic",
           .version = "1",
           .generation = Generation::kV2,
           .fields = fields,
           .min_inputs = 1,
           .max_inputs = 1,
           .make = make},
          {.name = "CustomGeluPluginDynamic",
           .version = "2",
           .generation = Generation::kV3,
           .fields = fields,
           .min_inputs = 1,
           .max_inputs = 1,
           .make = make}};
}

}  // namespace kiln::plugins
