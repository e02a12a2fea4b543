// PillarScatterPlugin: pillars of PointPillars written to their places of an image that is 0 elsewhere.
//   in   pillars  floats [N, P, C]
//        places   i32 [N, P, 4]: frame, z, y, x
//        count    i32 [N]: of pillars that are valid, which come first
//   out  y        [N, C, H, W]; of several pillars of one place one stays
//   fields  dense_shape  H and W
#include <cstdint>

#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

class PillarScatter final : public StandardPlugin {
 public:
  PillarScatter(int64_t height, int64_t width) : height_(height), width_(width) {}
  bool takes(nv::DataType type, std::span<const nv::DataType> before) const override {
    return before.empty() ? is_float(type) : type == nv::DataType::kINT32;
  }
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    TRY(require_rank(inputs, 0, 3));
    TRY(require_rank(inputs, 1, 3));
    TRY(require_rank(inputs, 2, 1));
    for (const size_t axis : {0U, 1U}) TRY(require_equal(inputs, 0, axis, 1, axis));
    TRY(require_extent(inputs, 1, 2, 4, "as many numbers as a place has"));
    TRY(require_equal(inputs, 0, 0, 2, 0));
    return std::vector<Shape>{{inputs[0][0], inputs[0][2], height_, width_}};
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override {
    const Value& pillars = inputs[0];
    const Extent batch = pillars.extent(0), count = pillars.extent(1), features = pillars.extent(2);
    const int64_t pixels = height_ * width_;
    const Value pixel = pick(inputs[1], 2, 2) * static_cast<double>(width_) + pick(inputs[1], 2, 3);
    const Value is_valid = unsqueeze(layers.iota(count, nv::DataType::kINT32), {0}) < unsqueeze(inputs[2], {1});
    // Invalid pillars meet behind the image.
    const Value place = select(is_valid, pixel, layers.scalar(static_cast<double>(pixels), nv::DataType::kINT32));
    const Value sample = broadcast(unsqueeze(layers.iota(batch, nv::DataType::kINT32), {1}), {batch, count});
    const Value indices = concat({unsqueeze(sample, {2}), unsqueeze(place, {2})}, 2);
    const Value rows = scatter_nd(layers.full({batch, pixels + 1, features}, 0, pillars.type()), indices, pillars);
    const Value image = transpose(slice(rows, 1, 0, pixels), {0, 2, 1});
    return {reshape(image, {batch, features, height_, width_})};
  }

 private:
  int64_t height_, width_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  const std::vector<int64_t> shape = TRY(fields.integers("dense_shape"));
  TRY(require(shape.size() == 2 && shape[0] > 0 && shape[1] > 0, "dense_shape has ", shape.size(),
              " numbers; a height and a width are needed"));
  constexpr int64_t kMost = INT32_MAX - 1;  // their numbers are of 32 bits
  TRY(require(shape[0] <= kMost / shape[1], "dense_shape is ", shape[0], ", ", shape[1], "; ", kMost,
              " pixels at most are possible"));
  return std::make_shared<PillarScatter>(shape[0], shape[1]);
}

}  // namespace

std::vector<Definition> pillar_scatter() {
  return {{.name = "PillarScatterPlugin",
           .version = "1",
           .generation = Generation::kV2,
           .fields = {field("dense_shape", kInt)},
           .min_inputs = 3,
           .max_inputs = 3,
           .make = make}};
}

}  // namespace kiln::plugins
