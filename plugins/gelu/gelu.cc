// CustomGeluPluginDynamic: y = v * (1 + tanh(sqrt(2 / pi) * (v + 0.044715 * v^3))) / 2 of v = x + bias.
//   in   x        floats [..., hidden]
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
    return std::vector<Shape>{inputs[0]};
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override {
    Value x = inputs[0].f32();
    if (!bias_.empty()) x = x + layers.constant(dims_of({static_cast<int64_t>(bias_.size())}), bias_);
    return {activation(x, nv::ActivationType::kGELU_TANH)};
  }

 private:
  std::vector<float> bias_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  TRY(require_float_type(fields));
  return std::make_shared<Gelu>(TRY(fields.floats("bias")));
}

}  // namespace

std::vector<Definition> gelu() {
  const std::vector<nv::PluginField> fields = {field("type_id", kInt), field("bias", kFloat)};
  return {{"CustomGeluPluginDynamic", "1", Generation::kV2, fields, 1, 1, make},
          {"CustomGeluPluginDynamic", "2", Generation::kV3, fields, 1, 1, make}};
}

}  // namespace kiln::plugins
