// Clip_TRT: y = min(max(x, clipMin), clipMax).
//   in   x        floats
//   out  y        as x
//   fields  clipMin, clipMax
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

class Clip final : public StandardPlugin {
 public:
  Clip(double least, double most) : least_(least), most_(most) {}
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    return std::vector<Shape>{inputs[0]};
  }
  std::vector<Value> add_layers(Layers&, std::span<const Value> inputs) const override {
    return {clamp(inputs[0], least_, most_)};
  }

 private:
  double least_, most_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  return std::make_shared<Clip>(TRY(fields.number("clipMin")), TRY(fields.number("clipMax")));
}

}  // namespace

std::vector<Definition> clip() {
  return {{.name = "Clip_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = {field("clipMin", kFloat), field("clipMax", kFloat)},
           .min_inputs = 1,
           .max_inputs = 1,
           .make = make}};
}

}  // namespace kiln::plugins
