// Normalize_TRT: y = x / sqrt(s + eps) * weight, where s is the sum of the squares of all channels of a pixel, or of
// the whole image.
//   in   x        floats [N, C, H, W]
//   out  y        as x
//   fields  weights (one, or one a channel), acrossSpatial (whether s is the image's), channelShared (whether there is
//           one weight), nbWeights (how many there are, or 1, which TensorRT needs: one list), eps
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

class Normalize final : public StandardPlugin {
 public:
  Normalize(std::vector<float> weights, bool across_spatial, double eps)
      : weights_(std::move(weights)), across_spatial_(across_spatial), eps_(eps) {}
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    TRY(require_rank(inputs, 0, 4));
    if (weights_.size() != 1) TRY(require_extent(inputs, 0, 1, std::ssize(weights_), "as many as there are weights"));
    return std::vector<Shape>{inputs[0]};
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override {
    const Value x = inputs[0].f32();
    const Value squares = sum(x * x, across_spatial_ ? Axes{1, 2, 3} : Axes{1});
    const Value weights = layers.constant(dims_of({static_cast<int64_t>(weights_.size()), 1, 1}), weights_);
    return {x / sqrt(squares + eps_) * weights};
  }

 private:
  std::vector<float> weights_;
  bool across_spatial_;
  double eps_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  std::vector<float> weights = TRY(fields.floats("weights"));
  const int64_t count = TRY(fields.integer("nbWeights", static_cast<int64_t>(weights.size())));
  TRY(require(!weights.empty() && (count == 1 || static_cast<size_t>(count) == weights.size()), "nbWeights is ", count,
              "; there are ", weights.size(), " weights"));
  TRY(require(!TRY(fields.flag("channelShared", false)) || weights.size() == 1, "channelShared is set; there are ",
              weights.size(), " weights"));
  const bool across_spatial = TRY(fields.flag("acrossSpatial", true));
  return std::make_shared<Normalize>(std::move(weights), across_spatial, TRY(fields.number("eps", 1e-10)));
}

}  // namespace

std::vector<Definition> normalize() {
  return {{.name = "Normalize_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = {field("weights", kFloat), field("acrossSpatial", kInt), field("channelShared", kInt),
                      field("nbWeights", kInt), field("eps", kFloat)},
           .min_inputs = 1,
           .max_inputs = 1,
           .make = make}};
}

}  // namespace kiln::plugins
