// LReLU_TRT: y = x where x is positive, else negSlope x.
//   in   x        floats
//   out  y        as x
//   fields  negSlope
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

class LeakyRelu final : public StandardPlugin {
 public:
  explicit LeakyRelu(double slope) : slope_(static_cast<float>(slope)) {}
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    return std::vector<Shape>{inputs[0]};
  }
  std::vector<Value> add_layers(Layers&, std::span<const Value> inputs) const override {
    return {activation(inputs[0], nv::ActivationType::kLEAKY_RELU, slope_)};
  }

 private:
  float slope_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  return std::make_shared<LeakyRelu>(TRY(fields.number("negSlope")));
}

}  // namespace

std::vector<Definition> leaky_relu() {
  return {{.name = "LReLU_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = {field("negSlope", kFloat)},
           .min_inputs = 1,
           .max_inputs = 1,
           .make = make}};
}

}  // namespace kiln::plugins
