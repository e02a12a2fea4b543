// CustomFCPluginDynamic: y = x W.
//   in   x        floats [S, B, K, 1, 1]
//   out  y        [S, B, out_dims, 1, 1]
//   fields  out_dims. type_id  0 f32, 1 f16: x's type. W  [K, out_dims]
#include "library/bert.h"

namespace kiln::plugins {
namespace {

class FullyConnected final : public StandardPlugin {
 public:
  FullyConnected(std::vector<float> weights, int64_t out) : weights_(std::move(weights)), out_(out) {}

  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    TRY(require_rank(inputs, 0, 5));
    TRY(require_extent(inputs, 0, 2, depth(), "as many as W has rows"));
    for (const size_t axis : {3U, 4U}) TRY(require_extent(inputs, 0, axis, 1, ""));
    return std::vector<Shape>{{inputs[0][0], inputs[0][1], out_, 1, 1}};
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override {
    const Value& x = inputs[0];
    const Value rows = reshape(x, {x.extent(0), x.extent(1), depth()});
    const Value weights = layers.constant(dims_of({depth(), out_}), weights_).cast(x.type());
    return {reshape(matmul(rows, weights), {x.extent(0), x.extent(1), out_, 1, 1})};
  }

 private:
  int64_t depth() const { return static_cast<int64_t>(weights_.size()) / out_; }
  std::vector<float> weights_;
  int64_t out_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  TRY(require_float_type(fields));
  const int64_t out = TRY(fields.integer("out_dims"));
  std::vector<float> weights = TRY(hidden_numbers(fields, "W"));
  TRY(require(out > 0 && static_cast<int64_t>(weights.size()) % out == 0, "W has ", weights.size(),
              " numbers, which are no rows of out_dims ", out));
  return std::make_shared<FullyConnected>(std::move(weights), out);
}

}  // namespace

std::vector<Definition> fully_connected() {
  return {{.name = "CustomFCPluginDynamic",
           .version = "1",
           .generation = Generation::kV2,
           .fields = {field("out_dims", kInt), field("type_id", kInt), field("W", kFloat)},
           .min_inputs = 1,
           .max_inputs = 1,
           .make = make}};
}

}  // namespace kiln::plugins
