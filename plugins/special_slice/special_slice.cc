// SpecialSlice_TRT: the boxes of detections.
//   in   x        floats [N, K, 6]: y1, x1, y2, x2, class, score
//   out  y        [N, K, 4]: y1, x1, y2, x2
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

class SpecialSlice final : public StandardPlugin {
 public:
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    TRY(require_rank(inputs, 0, 3));
    TRY(require_extent(inputs, 0, 2, 6, "as many numbers as a detection has"));
    return std::vector<Shape>{{inputs[0][0], inputs[0][1], 4}};
  }
  std::vector<Value> add_layers(Layers&, std::span<const Value> inputs) const override {
    return {slice(inputs[0], 2, 0, 4)};
  }
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields&) { return std::make_shared<SpecialSlice>(); }

}  // namespace

std::vector<Definition> special_slice() {
  return {{.name = "SpecialSlice_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = {},
           .min_inputs = 1,
           .max_inputs = 1,
           .make = make}};
}

}  // namespace kiln::plugins
