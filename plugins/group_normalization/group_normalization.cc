// GroupNormalizationPlugin: each group of channels of an image becomes one of mean 0 and variance 1, then scaled and
// shifted by channel.
//   in   x        floats [N, C, ...], rank 3 or more
//        scale    [C]
//        bias     [C]
//   out  y        as x
//   fields  eps  added to the variance (1e-5). num_groups (1)
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

class GroupNormalization final : public StandardPlugin {
 public:
  GroupNormalization(double eps, int64_t num_groups) : eps_(eps), num_groups_(num_groups) {}

  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    TRY(require(inputs[0].size() >= 3, "input 0 has rank ", inputs[0].size(), "; 3 at least is needed"));
    TRY(require_divisible(inputs, 0, 1, num_groups_, "as num_groups says"));
    for (const size_t i : {1U, 2U})
      TRY(require_equal(volume_of(inputs[i]), inputs[0][1],
                        str("input ", i, " has to have as many elements as axis 1 of input 0")));
    return std::vector<Shape>{inputs[0]};
  }
  std::vector<Value> add_layers(Layers&, std::span<const Value> inputs) const override {
    const Value x = inputs[0].f32();
    const Extents extents = x.extents();
    Extent elements = extents[1] / num_groups_;
    for (size_t i = 2; i < extents.size(); ++i) elements = elements * extents[i];
    const Value groups = reshape(x, {extents[0], num_groups_, elements});
    const Value normal = normalized(groups, {2}, eps_);
    Extents by_channel(extents.size() - 1, 1);
    by_channel[0] = extents[1];
    return {reshape(normal, extents) * reshape(inputs[1].f32(), by_channel) + reshape(inputs[2].f32(), by_channel)};
  }

 private:
  double eps_;
  int64_t num_groups_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  const int64_t num_groups = TRY(fields.integer("num_groups", 1));
  TRY(require(num_groups > 0, "num_groups is ", num_groups));
  return std::make_shared<GroupNormalization>(TRY(fields.number("eps", 1e-5)), num_groups);
}

}  // namespace

std::vector<Definition> group_normalization() {
  return {{.name = "GroupNormalizationPlugin",
           .version = "1",
           .generation = Generation::kV2,
           .fields = {field("eps", kFloat), field("num_groups", kInt)},
           .min_inputs = 3,
           .max_inputs = 3,
           .make = make}};
}

}  // namespace kiln::plugins
