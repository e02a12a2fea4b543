// ScatterElements: y is data; each updates[i] is combined with y[i with i[axis] replaced by indices[i]], as ONNX has
// it.
//   in   data     f32, f16, bf16, i32 or i64, rank r >= 1
//        indices  i32 or i64, rank r
//        updates  data's type, indices' shape
//   out  y        as data
//   fields  axis (negative counts from the back), reduction ("add", "mul", "max", "min", or "none": the last one stays)
#include <map>

#include "library/entry.h"
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

class ScatterElements final : public StandardPlugin {
 public:
  ScatterElements(int axis, KilnReduction reduction) : axis_(axis), reduction_(reduction) {}
  bool takes(nv::DataType type, std::span<const nv::DataType> before) const override {
    if (before.empty()) return is_float(type) || type == nv::DataType::kBF16 || is_index(type);
    return before.size() == 1 ? is_index(type) : type == before[0];
  }
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    const auto rank = static_cast<int>(inputs[0].size());
    TRY(require(axis_ >= -rank && axis_ < rank, "axis is ", axis_, "; data has rank ", rank));
    TRY(require_rank(inputs, 1, inputs[0].size()));
    TRY(require_same(inputs, 1, 2));
    for (int i = 0; i < rank; ++i) {
      const auto axis = static_cast<size_t>(i);
      if (i == (axis_ < 0 ? axis_ + rank : axis_)) continue;
      TRY(require_at_most(inputs[1][axis], inputs[0][axis],
                          str(axis_text(1, axis), " has to be no longer than ", axis_text(0, axis))));
    }
    return std::vector<Shape>{inputs[0]};
  }
  std::vector<Value> add_layers(Layers&, std::span<const Value> inputs) const override {
    return {scatter_reduced(inputs[0], inputs[1], inputs[2], axis_, reduction_)};
  }

 private:
  int axis_;
  KilnReduction reduction_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  static const std::map<std::string, KilnReduction, std::less<>> kReductions = {
      {"none", kKilnReplace}, {"add", kKilnSum}, {"mul", kKilnProduct}, {"max", kKilnMaximum}, {"min", kKilnMinimum}};
  const std::string name = TRY(fields.text("reduction", "none"));
  const auto found = kReductions.find(name);
  TRY(require(found != kReductions.end(), "reduction is '", name, "'; add, mul, max, min and none are there"));
  return std::make_shared<ScatterElements>(TRY(fields.int32("axis", 0)), found->second);
}

}  // namespace

std::vector<Definition> scatter_elements() {
  const std::vector<nv::PluginField> fields = {field("reduction", nv::PluginFieldType::kCHAR), field("axis", kInt)};
  return {{.name = "ScatterElements",
           .version = "1",
           .generation = Generation::kV2,
           .fields = fields,
           .min_inputs = 3,
           .max_inputs = 3,
           .make = make},
          {.name = "ScatterElements",
           .version = "2",
           .generation = Generation::kV3,
           .fields = fields,
           .min_inputs = 3,
           .max_inputs = 3,
           .make = make}};
}

}  // namespace kiln::plugins
