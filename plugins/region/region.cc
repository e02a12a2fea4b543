// Region_TRT, of YOLOv2: for each of num boxes of a cell, a sigmoid of x, y and the objectness, and a softmax of the
// classes.
//   in   x        floats [N, num (5 + classes), H, W]: x, y, w, h, objectness, classes, box by box
//   out  y        as x
//   fields  num, coords (4), classes, smTree (null: hierarchies of classes are not in Kiln)
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

constexpr int64_t kCoordinates = 4;

class Region final : public StandardPlugin {
 public:
  Region(int64_t num, int64_t classes) : num_(num), classes_(classes) {}
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    TRY(require_rank(inputs, 0, 4));
    const int64_t wanted = num_ * (kCoordinates + 1 + classes_);
    TRY(require_extent(inputs, 0, 1, wanted, "as num, coords and classes say"));
    return std::vector<Shape>{inputs[0]};
  }
  std::vector<Value> add_layers(Layers&, std::span<const Value> inputs) const override {
    const Value& x = inputs[0];
    const Extent batch = x.extent(0), height = x.extent(2), width = x.extent(3);
    const Value boxes = reshape(x, {batch, num_, kCoordinates + 1 + classes_, height, width});
    const std::vector<Value> parts = split(boxes, 2, {2, 2, 1, classes_});
    const Value y = concat({sigmoid(parts[0]), parts[1], sigmoid(parts[2]), softmax(parts[3], 2)}, 2);
    return {reshape(y, {batch, num_ * (kCoordinates + 1 + classes_), height, width})};
  }

 private:
  int64_t num_, classes_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  const int64_t num = TRY(fields.integer("num")), classes = TRY(fields.integer("classes"));
  const int64_t coordinates = TRY(fields.integer("coords", kCoordinates));
  TRY(require(coordinates == kCoordinates, "coords is ", coordinates, "; 4 is needed"));
  TRY(require(!fields.has("smTree"), "smTree is given; hierarchies of classes are not in Kiln"));
  TRY(require(num > 0 && classes > 0, "num is ", num, ", classes ", classes));
  return std::make_shared<Region>(num, classes);
}

}  // namespace

std::vector<Definition> region() {
  return {{.name = "Region_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = {field("num", kInt), field("coords", kInt), field("classes", kInt), field_or_null("smTree", kInt)},
           .min_inputs = 1,
           .max_inputs = 1,
           .make = make}};
}

}  // namespace kiln::plugins
