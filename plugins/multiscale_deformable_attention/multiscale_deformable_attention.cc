// MultiscaleDeformableAttnPlugin_TRT: y[n, q, m] = sum over levels l and points p of weights[n, q, m, l, p] times the
// value of head m at locations[n, q, m, l, p] of level l: at x W - 1/2, y H - 1/2, interpolated linearly, 0 outside.
//   in   values     floats [N, S, M, D]: the levels' pixels, one level behind the other
//        shapes     i32 [L, 2]: H and W of each level
//        starts     i32 [L]: where a level starts among the pixels
//        locations  [N, Q, M, L, P, 2]: x and y, 1 is the level's width or height
//        weights    [N, Q, M, L, P]
//   out  y          [N, Q, M, D]
// The levels have S pixels together, and lie within them, which a build demands of constants. Where only the run knows
// them, a pixel behind the last one is an error of the run.
#include "library/sampling.h"
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

class MultiscaleDeformableAttention final : public StandardPlugin {
 public:
  bool takes(nv::DataType type, std::span<const nv::DataType> before) const override {
    return before.size() == 1 || before.size() == 2 ? type == nv::DataType::kINT32
                                                    : StandardPlugin::takes(type, before);
  }
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    const std::vector<size_t> ranks = {4, 2, 1, 6, 5};
    for (size_t i = 0; i < ranks.size(); ++i) TRY(require_rank(inputs, i, ranks[i]));
    for (const auto& [input, axis] : {std::pair<size_t, size_t>{1, 1}, {3, 5}})
      TRY(require_extent(inputs, input, axis, 2, ""));
    for (const size_t other : {3, 4}) {
      TRY(require_equal(inputs, 0, 0, other, 0));  // samples
      TRY(require_equal(inputs, 0, 2, other, 2));  // heads
      TRY(require_equal(inputs, 1, 0, other, 3));  // levels
    }
    TRY(require_equal(inputs, 1, 0, 2, 0));
    TRY(require_equal(inputs, 3, 1, 4, 1));  // queries
    TRY(require_equal(inputs, 3, 4, 4, 4));  // points
    return std::vector<Shape>{{inputs[0][0], inputs[3][1], inputs[0][2], inputs[0][3]}};
  }
  Status check_constants(std::span<const Value> inputs) const override {
    const auto shapes = known_integers(inputs[1]), starts = known_integers(inputs[2]);
    const auto pixels = inputs[0].extent(1).number();
    if (!shapes) return {};
    int64_t sum = 0;
    for (size_t level = 0; 2 * level + 1 < shapes->size(); ++level) {
      const int64_t height = (*shapes)[2 * level], width = (*shapes)[2 * level + 1];
      TRY(require(height > 0 && width > 0, "level ", level, " is ", height, " by ", width));
      if (starts && pixels && level < starts->size()) {
        const int64_t start = (*starts)[level];
        TRY(require(start >= 0 && height <= (*pixels - start) / width, "level ", level, ", ", height, " by ", width,
                    ", starts at pixel ", start, "; there are ", *pixels));
      }
      int64_t area = 0;
      TRY(require(!__builtin_mul_overflow(height, width, &area) && !__builtin_add_overflow(sum, area, &sum),
                  "the levels' pixels exceed 64 bits"));
    }
    return require_equal(Dim(inputs[0].extent(1)), sum,
                         str("axis 1 of input 0 has to be ", sum, " long, as many as the levels have pixels"));
  }
  std::vector<Value> add_layers(Layers&, std::span<const Value> inputs) const override {
    const Value values = inputs[0].f32(), locations = inputs[3].f32(), weights = inputs[4].f32();
    const Extent batch = values.extent(0), heads = values.extent(2), size = values.extent(3);
    const Extent queries = locations.extent(1), levels = locations.extent(3), points = locations.extent(4);
    const Extent images = batch * heads, all = queries * levels * points;
    // Each head of each sample is a batch of its own, and each sample of it knows its level.
    const Value by_head = transpose(locations, {0, 2, 1, 3, 4, 5});
    const auto of_level = [&](const Value& numbers) {
      return reshape(broadcast(reshape(numbers, {1, levels, 1}), {queries, levels, points}), {1, all});
    };
    const auto of_sample = [&](int64_t coordinate, const Value& extent) {
      return reshape(pick(by_head, 5, coordinate), {images, all}) * extent.f32() - 0.5;
    };
    const Value height = of_level(pick(inputs[1], 1, 0)), width = of_level(pick(inputs[1], 1, 1));
    const Samples from{reshape(transpose(values, {0, 2, 1, 3}), {images, values.extent(1), size}), height, width,
                       of_level(inputs[2])};
    const Value sampled = bilinear(from, of_sample(1, height), of_sample(0, width));
    const Value weight = reshape(transpose(weights, {0, 2, 1, 3, 4}), {images, all, 1});
    const Value summed = sum(reshape(sampled * weight, {batch, heads, queries, levels * points, size}), {3}, false);
    return {transpose(summed, {0, 2, 1, 3})};
  }
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields&) {
  return std::make_shared<MultiscaleDeformableAttention>();
}

}  // namespace

std::vector<Definition> multiscale_deformable_attention() {
  return {{.name = "MultiscaleDeformableAttnPlugin_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = {},
           .min_inputs = 5,
           .max_inputs = 5,
           .make = make},
          {.name = "MultiscaleDeformableAttnPlugin_TRT",
           .version = "2",
           .generation = Generation::kV3,
           .fields = {},
           .min_inputs = 5,
           .max_inputs = 5,
           .make = make}};
}

}  // namespace kiln::plugins
