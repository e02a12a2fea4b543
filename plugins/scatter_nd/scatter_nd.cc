// ScatterND: y is data, but for y[indices[i ...]] = updates[i ...], as ONNX has it.
//   in   data     f32, f16 or i32, rank r
//        indices  i32 or i64 [..., k], k <= r
//        updates  data's type, indices' extents but the last, then data's behind the first k
//   out  y        as data
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

class ScatterNd final : public StandardPlugin {
 public:
  bool takes(nv::DataType type, std::span<const nv::DataType> before) const override {
    if (before.empty()) return is_float(type) || type == nv::DataType::kINT32;
    return before.size() == 1 ? is_index(type) : type == before[0];
  }
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    TRY(require(!inputs[0].empty() && !inputs[1].empty(), "data and indices have rank 1 at least"));
    TRY(require_updates(inputs));
    return std::vector<Shape>{inputs[0]};
  }
  std::vector<Value> add_layers(Layers&, std::span<const Value> inputs) const override {
    return {plugins::scatter_nd(inputs[0], inputs[1], inputs[2])};
  }

 private:
  static Status require_updates(std::span<const Shape> inputs) {
    const size_t rank = inputs[0].size(), outer = inputs[1].size() - 1;
    const auto given = inputs[1].back().number();  // layers say so where only the run knows it
    if (!given) return {};
    TRY(require(*given >= 0 && static_cast<size_t>(*given) <= rank, axis_text(1, outer), " is ", *given,
                "; input 0 has rank ", rank));
    const auto picked = static_cast<size_t>(*given);
    TRY(require_rank(inputs, 2, outer + rank - picked));
    for (size_t axis = 0; axis < outer; ++axis) TRY(require_equal(inputs, 1, axis, 2, axis));
    for (size_t axis = picked; axis < rank; ++axis) TRY(require_equal(inputs, 0, axis, 2, outer + axis - picked));
    return {};
  }
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields&) { return std::make_shared<ScatterNd>(); }

}  // namespace

std::vector<Definition> scatter_nd() {
  return {{.name = "ScatterND",
           .version = "1",
           .generation = Generation::kV2,
           .fields = {},
           .min_inputs = 3,
           .max_inputs = 3,
           .make = make}};
}

}  // namespace kiln::plugins
