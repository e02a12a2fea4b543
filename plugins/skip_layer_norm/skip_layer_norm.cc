// CustomSkipLayerNormPluginDynamic: y = gamma * n + beta, with n = x + skip + bias of mean 0 and variance 1 along the
// hidden units.
//   in   x        floats [S, B, E, 1, 1], or [T, E, 1, 1] of packed sequences, or [..., E] of rank 3
//                 at most
//        skip     as x
//   out  y        as x
//   fields  type_id  0 f32, 1 f16: x's type. ld  E. beta, gamma  [E]. bias  [E], optional
// Versions 1 and 5 are of fixed, 2 and 6 of packed sequences, which makes no difference here. Versions 3, 4, 7 and 8,
// which are of INT8 alone, are not in Kiln.
#include "library/bert.h"

namespace kiln::plugins {
namespace {

class SkipLayerNorm final : public StandardPlugin {
 public:
  SkipLayerNorm(std::vector<float> gamma, std::vector<float> beta, std::vector<float> bias)
      : gamma_(std::move(gamma)), beta_(std::move(beta)), bias_(std::move(bias)) {}

  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    TRY(require(!inputs[0].empty(), "input 0 is a scalar"));
    TRY(require(inputs[0].size() == inputs[1].size(), "the inputs have ranks ", inputs[0].size(), " and ",
                inputs[1].size()));
    const auto hidden = inputs[0][static_cast<size_t>(hidden_axis(static_cast<int>(inputs[0].size())))].number();
    TRY(require(!hidden || static_cast<size_t>(*hidden) == gamma_.size(), "input 0 has ", hidden.value_or(0),
                " hidden units; gamma has ", gamma_.size()));
    return std::vector<Shape>{inputs[0]};
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override {
    const int axis = hidden_axis(inputs[0].rank());
    std::vector<int64_t> extents(static_cast<size_t>(inputs[0].rank()), 1);
    extents[static_cast<size_t>(axis)] = static_cast<int64_t>(gamma_.size());
    const auto constant = [&](const std::vector<float>& numbers) { return layers.constant(dims_of(extents), numbers); };
    Value x = inputs[0].f32() + inputs[1].f32();
    if (!bias_.empty()) x = x + constant(bias_);
    return {normalized(x, {axis}, kLayerNormEps) * constant(gamma_) + constant(beta_)};
  }

 private:
  /// The last axis, but for two that older layers wanted behind it.
  static int hidden_axis(int rank) { return rank >= 4 ? rank - 3 : rank - 1; }
  std::vector<float> gamma_, beta_, bias_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  TRY(require_float_type(fields));
  std::vector<float> gamma = TRY(hidden_numbers(fields, "gamma")), beta = TRY(hidden_numbers(fields, "beta"));
  std::vector<float> bias = TRY(fields.floats("bias"));
  const int64_t hidden = TRY(fields.integer("ld", static_cast<int64_t>(gamma.size())));
  TRY(require(static_cast<size_t>(hidden) == gamma.size() && beta.size() == gamma.size() &&
                  (bias.empty() || bias.size() == gamma.size()),
              "ld is ", hidden, ", gamma has ", gamma.size(), " numbers, beta ", beta.size(), " and bias ",
              bias.size()));
  return std::make_shared<SkipLayerNorm>(std::move(gamma), std::move(beta), std::move(bias));
}

}  // namespace

std::vector<Definition> skip_layer_norm() {
  const std::vector<nv::PluginField> fields = {field("type_id", kInt), field("ld", kInt), field("beta", kFloat),
                                               field("gamma", kFloat), field("bias", kFloat)};
  constexpr const char* kName = "CustomSkipLayerNormPluginDynamic";
  return {{kName, "1", Generation::kV2, fields, 2, 2, make},
          {kName, "2", Generation::kV2, fields, 2, 2, make},
          {kName, "5", Generation::kV3, fields, 2, 2, make},
          {kName, "6", Generation::kV3, fields, 2, 2, make}};
}

}  // namespace kiln::plugins
