// CoordConvAC: appends two channels of coordinates, from -1 to 1, to images.
//   in   x        floats [N, C, H, W]
//   out  y        [N, C + 2, H, W]: x; -1 + 2 r / (W - 1); -1 + 2 (p mod H) / (H - 1), of the pixel in row r that is
//                 p-th of its image. Where H is not W, that is what TensorRT computes, not what the idea is.
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

class CoordConv final : public StandardPlugin {
 public:
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    TRY(require_rank(inputs, 0, 4));
    Shape shape = inputs[0];
    shape[1] = shape[1] + 2;
    return std::vector<Shape>{shape};
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override {
    const Value& x = inputs[0];
    const Extent height = x.extent(2), width = x.extent(3);
    const Value pixel = layers.iota(height * width, nv::DataType::kINT32);
    const Value h = height.value(layers).i32(), w = width.value(layers).i32();
    const Value row = floor_div(pixel, w), column = pixel - floor_div(pixel, h) * h;
    return {concat({x, channel(x, row, w), channel(x, column, h)}, 1)};
  }

 private:
  /// An image of -1 + 2 i / (most - 1).
  static Value channel(const Value& x, const Value& i, const Value& most) {
    const Value image = i.f32() * 2.0 / (most.f32() - 1.0) - 1.0;
    return broadcast(reshape(image, {1, 1, x.extent(2), x.extent(3)}), {x.extent(0), 1, x.extent(2), x.extent(3)})
        .cast(x.type());
  }
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields&) { return std::make_shared<CoordConv>(); }

}  // namespace

std::vector<Definition> coord_conv() {
  return {{.name = "CoordConvAC",
           .version = "1",
           .generation = Generation::kV2,
           .fields = {},
           .min_inputs = 1,
           .max_inputs = 1,
           .make = make}};
}

}  // namespace kiln::plugins
