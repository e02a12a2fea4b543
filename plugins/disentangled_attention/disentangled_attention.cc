// DisentangledAttention_TRT, of DeBERTa V2: y[b, i, j] = factor (c2c[b, i, j] + c2p[b, i, at(i - j)] + p2c[b, j, at(i -
// j)]) with at(d) = clamp(bucket(d) + span, 0, 2 span - 1), and with m = span / 2:
//   bucket(d) = d where |d| <= m, else sign(d) (m + ceil((m - 1) log(|d| / m) / log((2 span - 1) / m)))
//   in   c2c      floats [B, S, S]
//        c2p      [B, S, 2 span]
//        p2c      [B, S, 2 span]
//   out  y        as c2c
//   fields  span. factor
#include <cmath>

#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

class DisentangledAttention final : public StandardPlugin {
 public:
  DisentangledAttention(int64_t span, double factor) : span_(span), factor_(factor) {}
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    for (size_t i = 0; i < 3; ++i) TRY(require_rank(inputs, i, 3));
    TRY(require_equal(inputs, 0, 1, 0, 2));
    for (const size_t i : {1U, 2U})
      for (const size_t axis : {0U, 1U}) TRY(require_equal(inputs, 0, axis, i, axis));
    for (const size_t i : {1U, 2U}) TRY(require_extent(inputs, i, 2, 2 * span_, "twice the span"));
    return std::vector<Shape>{inputs[0]};
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override {
    const Value c2c = inputs[0].f32(), c2p = inputs[1].f32(), p2c = inputs[2].f32();
    const Value i = layers.iota(c2c.extent(1), nv::DataType::kINT32);
    const Value distance = unsqueeze(i, {1}) - unsqueeze(i, {0});  // [S, S]
    const Extents square{c2c.extent(0), c2c.extent(1), c2c.extent(1)};
    const auto picked = [&](const Value& places, const Value& far) {
      return gather_elements(places, broadcast(unsqueeze(place_of(far), {0}), square), 2);
    };
    const Value from_content = picked(c2p, distance), from_place = transpose(picked(p2c, -distance), {0, 2, 1});
    return {(c2c + from_content + from_place) * factor_};
  }

 private:
  Value place_of(const Value& distance) const {
    const double middle = static_cast<double>(span_ / 2);
    // As TensorRT has it, slightly less, so that what should be a whole number is not rounded up.
    const double slope = (middle - 1) / std::log(static_cast<double>(2 * span_ - 1) / middle) * (1 - 1e-7);
    const Value d = distance.f32(), size = abs(d);
    const Value far = ceil((log(max(size, 1.0)) - std::log(middle)) * slope) + middle;
    const Value bucket = select(size <= middle, d, select(d < 0.0, -far, far));
    return clamp(bucket + static_cast<double>(span_), 0, static_cast<double>(2 * span_ - 1)).i32();
  }
  int64_t span_;
  double factor_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  const int64_t span = TRY(fields.integer("span"));
  TRY(require(span >= 2, "span is ", span, "; 2 at least is needed"));
  return std::make_shared<DisentangledAttention>(span, TRY(fields.number("factor")));
}

}  // namespace

std::vector<Definition> disentangled_attention() {
  const std::vector<nv::PluginField> fields = {field("span", kInt), field("factor", kFloat)};
  return {{.name = "DisentangledAttention_TRT",
           .version = "1",
           .generation = Generation::kV2,
           .fields = fields,
           .min_inputs = 3,
           .max_inputs = 3,
           .make = make},
          {.name = "DisentangledAttention_TRT",
           .version = "2",
           .generation = Generation::kV3,
           .fields = fields,
           .min_inputs = 3,
           .max_inputs = 3,
           .make = make}};
}

}  // namespace kiln::plugins
