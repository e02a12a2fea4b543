// BatchTilePlugin_TRT: one sample, repeated as often as the batch is long.
//   in   batch    floats [N, ...], of which only N counts
//        sample   f32 [1, C, H, W]
//   out  y        f32 [N, C, H, W]
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

class BatchTile final : public StandardPlugin {
 public:
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    TRY(require(!inputs[0].empty(), "input 0 is a scalar; its first extent is the batch"));
    TRY(require_rank(inputs, 1, 4));
    TRY(require_extent(inputs, 1, 0, 1, "for one sample"));
    return std::vector<Shape>{{inputs[0][0], inputs[1][1], inputs[1][2], inputs[1][3]}};
  }
  std::vector<Value> add_layers(Layers&, std::span<const Value> inputs) const override {
    const Value& sample = inputs[1];
    const Value one = reshape(sample, {1, sample.extent(1), sample.extent(2), sample.extent(3)});
    return {broadcast(one, {inputs[0].extent(0), one.extent(1), one.extent(2), one.extent(3)})};
  }
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields&) { return std::make_shared<BatchTile>(); }

}  // namespace

std::vector<Definition> batch_tile() {
  return {{.name = "BatchTilePlugin_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = {},
           .min_inputs = 2,
           .max_inputs = 2,
           .make = make}};
}

}  // namespace kiln::plugins
