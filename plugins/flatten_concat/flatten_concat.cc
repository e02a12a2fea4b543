// FlattenConcat_TRT: each image of each input as one row of numbers, one behind the other.
//   in   x ...    floats [N, C, H, W]
//   out  y        [N, sum of C H W, 1, 1], or with that extent in another axis
//   fields  axis  1, 2 or 3: of y. ignoreBatch  0: Kiln's networks have no implicit batch to ignore
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

class FlattenConcat final : public StandardPlugin {
 public:
  explicit FlattenConcat(int64_t axis) : axis_(axis) {}
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    Dim total = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      TRY(require_rank(inputs, i, 4));
      TRY(require_equal(inputs, 0, 0, i, 0));
      total = total + inputs[i][1] * inputs[i][2] * inputs[i][3];
    }
    Shape shape{inputs[0][0], 1, 1, 1};
    shape[static_cast<size_t>(axis_)] = total;
    return std::vector<Shape>{shape};
  }
  std::vector<Value> add_layers(Layers&, std::span<const Value> inputs) const override {
    std::vector<Value> rows;
    for (const Value& x : inputs) {
      Extents extents{x.extent(0), 1, 1, 1};
      extents[static_cast<size_t>(axis_)] = x.extent(1) * x.extent(2) * x.extent(3);
      rows.push_back(reshape(x, extents));
    }
    return {concat(rows, static_cast<int>(axis_))};
  }

 private:
  int64_t axis_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  const int64_t axis = TRY(fields.integer("axis"));
  TRY(require(axis >= 1 && axis <= 3, "axis is ", axis, "; it is 1, 2 or 3"));
  TRY(require(!TRY(fields.flag("ignoreBatch", false)), "ignoreBatch is set; networks have no implicit batch"));
  return std::make_shared<FlattenConcat>(axis);
}

}  // namespace

std::vector<Definition> flatten_concat() {
  return {{.name = "FlattenConcat_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = {field("axis", kInt), field("ignoreBatch", kInt)},
           .min_inputs = 1,
           .max_inputs = -1,
           .make = make}};
}

}  // namespace kiln::plugins
