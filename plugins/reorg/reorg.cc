// Reorg_TRT: blocks of stride x stride pixels become channels, of an image that TensorRT, and darknet before it, see in
// x's memory: z is x as [N, K, H s, W s], with s = stride and K = C / s^2. With y as [N, s, s, K, H, W]:
//   y[n, i, j, k, h, w] = z[n, k, h s + i, w s + j]
//   in   x        floats [N, C, H, W]: C divisible by stride^2, H and W by stride
//   out  y        [N, C stride^2, H / stride, W / stride]
//   fields  stride
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

class Reorg final : public StandardPlugin {
 public:
  explicit Reorg(int64_t stride) : stride_(stride) {}
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    TRY(require_rank(inputs, 0, 4));
    TRY(require_divisible(inputs, 0, 1, stride_ * stride_, "the square of the stride"));
    for (const size_t axis : {2U, 3U}) TRY(require_divisible(inputs, 0, axis, stride_, "the stride"));
    return std::vector<Shape>{
        {inputs[0][0], inputs[0][1] * (stride_ * stride_), inputs[0][2] / stride_, inputs[0][3] / stride_}};
  }
  std::vector<Value> add_layers(Layers&, std::span<const Value> inputs) const override {
    const Value& x = inputs[0];
    const Extent batch = x.extent(0), channels = x.extent(1), height = x.extent(2), width = x.extent(3);
    const int64_t s = stride_;
    const Value blocks = reshape(x, {batch, channels / (s * s), height, s, width, s});
    return {reshape(transpose(blocks, {0, 3, 5, 1, 2, 4}), {batch, channels * (s * s), height / s, width / s})};
  }

 private:
  int64_t stride_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  const int64_t stride = TRY(fields.integer("stride"));
  TRY(require(stride > 0, "stride is ", stride));
  return std::make_shared<Reorg>(stride);
}

}  // namespace

std::vector<Definition> reorg() {
  return {{.name = "Reorg_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = {field("stride", kInt)},
           .min_inputs = 1,
           .max_inputs = 1,
           .make = make},
          {.name = "Reorg_TRT",
           .version = "2",
           .generation = Generation::kV2,
           .fields = {field("stride", kInt)},
           .min_inputs = 1,
           .max_inputs = 1,
           .make = make}};
}

}  // namespace kiln::plugins
