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
      const auto hidden = inputs[0][hidden_axis(inputs[0])].number();
      TRY(require(!hidden || static_cast<size_t>(*hidden) == bias_.size(), "input 0 has ", hidden.value_or(0),
                  " hidden units; there are ", bias_.size(), " biases"));
    }
    return std::vector<Shape>{inputs[0]};
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override {
    Value x = inputs[0].f32();
    if (!bias_.empty()) {
      std::vector<int64_t> extents(static_cast<size_t>(x.rank()), 1);
      extents[hidden_axis(x.extents())] = static_cast<int64_t>(bias_.size());
      x = x + layers.constant(dims_of(extents), bias_);
    }
    return {activation(x, nv::ActivationType::kGELU_TANH)};
  }

 private:
  /// The last axis, but for those of extent 1.
  template <class Extent>
  size_t hidden_axis(const std::vector<Extent>& extents) const {
    size_t axis = extents.size() - 1;
    while (axis > 0 && bias_.size() != 1 && extents[axis].number() == 1) --axis;
    return axis;
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
