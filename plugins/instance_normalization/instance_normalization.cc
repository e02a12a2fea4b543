// InstanceNormalization_TRT: each channel of each sample becomes one of mean 0 and variance 1, scaled and shifted by
// channel; then, if wanted, a leaky ReLU.
//   in   x        floats [N, C, ...], rank 3 or more
//   out  y        as x
//   fields  epsilon  added to the variance. scales, bias  [C]. relu  whether. alpha  its slope below 0
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

class InstanceNormalization final : public StandardPlugin {
 public:
  InstanceNormalization(std::vector<float> scales, std::vector<float> bias, double epsilon, std::optional<float> slope)
      : scales_(std::move(scales)), bias_(std::move(bias)), epsilon_(epsilon), slope_(slope) {}
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    TRY(require(inputs[0].size() >= 3, "input 0 has rank ", inputs[0].size(), "; 3 at least is needed"));
    TRY(require_extent(inputs, 0, 1, std::ssize(scales_), "as many as there are scales"));
    return std::vector<Shape>{inputs[0]};
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override {
    const Value x = inputs[0].f32();
    Axes spatial;
    for (int axis = 2; axis < x.rank(); ++axis) spatial.push_back(axis);
    const Value y =
        normalized(x, spatial, epsilon_) * by_channel(layers, x.rank(), scales_) + by_channel(layers, x.rank(), bias_);
    return {slope_ ? activation(y, nv::ActivationType::kLEAKY_RELU, *slope_) : y};
  }

 private:
  static Value by_channel(Layers& layers, int rank, const std::vector<float>& numbers) {
    std::vector<int64_t> extents(static_cast<size_t>(rank) - 1, 1);
    extents[0] = static_cast<int64_t>(numbers.size());
    return layers.constant(dims_of(extents), numbers);
  }
  std::vector<float> scales_, bias_;
  double epsilon_;
  std::optional<float> slope_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  std::vector<float> scales = TRY(fields.floats("scales")), bias = TRY(fields.floats("bias"));
  TRY(require(!scales.empty() && scales.size() == bias.size(), "there are ", scales.size(), " scales and ", bias.size(),
              " biases; one of each is needed for a channel"));
  std::optional<float> slope;
  if (TRY(fields.flag("relu", false))) slope = static_cast<float>(TRY(fields.number("alpha", 0)));
  const double epsilon = TRY(fields.number("epsilon", 1e-5));
  return std::make_shared<InstanceNormalization>(std::move(scales), std::move(bias), epsilon, slope);
}

}  // namespace

std::vector<Definition> instance_normalization() {
  const std::vector<nv::PluginField> fields = {field("epsilon", kFloat), field("scales", kFloat), field("bias", kFloat),
                                               field("relu", kInt), field("alpha", kFloat)};
  return {{.name = "InstanceNormalization_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = fields,
           .min_inputs = 1,
           .max_inputs = 1,
           .make = make},
          {.name = "InstanceNormalization_TRT",
           .version = "2",
           .generation = Generation::kV2,
           .fields = fields,
           .min_inputs = 1,
           .max_inputs = 1,
           .make = make},
          {.name = "InstanceNormalization_TRT",
           .version = "3",
           .generation = Generation::kV3,
           .fields = fields,
           .min_inputs = 1,
           .max_inputs = 1,
           .make = make}};
}

}  // namespace kiln::plugins
