// CustomSkipLayerNormPluginDynamic: y = gamma * n + beta, with n = e of mean 0 and variance 1 along the hidden units,
// and e = x + skip + bias. Versions 1 and 5 are of fixed, 2 and 6 of packed sequences, which makes no difference here:
//   in   x        floats [S, B, E, 1, 1], or [T, E, 1, 1] of packed sequences, or [..., E] of rank 3
//                 at most
//        skip     as x
//   out  y        as x
//   fields  type_id  0 f32, 1 f16, 2 i8 by ranges: x's type. ld  E. beta, gamma  [E]. bias  [E], optional
// Versions 3 and 7, and 4 and 8 (Megatron's), of packed sequences by channels and of i8 by ranges:
//   in   x        [1, E, T, 1]
//        skip     as x
//   out  y        as x
//        e        as x (versions 4 and 8)
//   fields  beta, gamma  [E]
// i8 by ranges: x, skip, y and e are bytes where each of them has a range, and stand for their number times a scale; y
// and e are rounded to the nearest and clamped. Where a range is missing, all are floats.
#include "library/bert.h"

namespace kiln::plugins {
namespace {

/// What versions differ in.
struct Form {
  bool is_by_channels = false;  ///< hidden units are axis 1
  bool gives_sum = false;
  bool has_bytes = false;
};

class SkipLayerNorm final : public StandardPlugin {
 public:
  SkipLayerNorm(std::vector<float> gamma, std::vector<float> beta, std::vector<float> bias, const Form& form)
      : gamma_(std::move(gamma)), beta_(std::move(beta)), bias_(std::move(bias)), form_(form) {}

  int num_outputs() const override { return form_.gives_sum ? 2 : 1; }
  bool knows_bytes() const override { return form_.has_bytes; }
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    TRY(require(!inputs[0].empty(), "input 0 is a scalar"));
    if (form_.is_by_channels) TRY(require_rank(inputs, 0, 4));
    TRY(require_same(inputs, 0, 1));
    const auto hidden = static_cast<size_t>(hidden_axis(static_cast<int>(inputs[0].size())));
    TRY(require_extent(inputs, 0, hidden, std::ssize(gamma_), "as many as gamma has"));
    return std::vector<Shape>(static_cast<size_t>(num_outputs()), inputs[0]);
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override {
    const int axis = hidden_axis(inputs[0].rank());
    std::vector<int64_t> extents(static_cast<size_t>(inputs[0].rank()), 1);
    extents[static_cast<size_t>(axis)] = static_cast<int64_t>(gamma_.size());
    const auto constant = [&](const std::vector<float>& numbers) { return layers.constant(dims_of(extents), numbers); };
    Value x = inputs[0].f32() + inputs[1].f32();
    if (!bias_.empty()) x = x + constant(bias_);
    const Value y = normalized(x, {axis}, kLayerNormEps) * constant(gamma_) + constant(beta_);
    return form_.gives_sum ? std::vector<Value>{y, x} : std::vector<Value>{y};
  }

 private:
  /// Axis 1 by channels; else the last axis, but for two that older layers wanted behind it.
  int hidden_axis(int rank) const {
    if (form_.is_by_channels) return 1;
    return rank >= 4 ? rank - 3 : rank - 1;
  }
  std::vector<float> gamma_, beta_, bias_;
  Form form_;
};

using Made = Result<std::shared_ptr<const StandardPlugin>>;

Made make(const Fields& fields, const Form& form) {
  std::vector<float> gamma = TRY(hidden_numbers(fields, "gamma")), beta = TRY(hidden_numbers(fields, "beta"));
  std::vector<float> bias = TRY(fields.floats("bias"));
  const int64_t hidden = TRY(fields.integer("ld", static_cast<int64_t>(gamma.size())));
  TRY(require(static_cast<size_t>(hidden) == gamma.size() && beta.size() == gamma.size() &&
                  (bias.empty() || bias.size() == gamma.size()),
              "ld is ", hidden, ", gamma has ", gamma.size(), " numbers, beta ", beta.size(), " and bias ",
              bias.size()));
  return std::make_shared<SkipLayerNorm>(std::move(gamma), std::move(beta), std::move(bias), form);
}
Made make_plain(const Fields& fields) {
  const BertType type = TRY(bert_type(fields));
  return make(fields, {.has_bytes = type == BertType::kBytes});
}
Made make_by_channels(const Fields& fields) { return make(fields, {.is_by_channels = true, .has_bytes = true}); }
Made make_megatron(const Fields& fields) {
  return make(fields, {.is_by_channels = true, .gives_sum = true, .has_bytes = true});
}

}  // namespace

std::vector<Definition> skip_layer_norm() {
  const std::vector<nv::PluginField> plain = {field("type_id", kInt), field("ld", kInt), field("beta", kFloat),
                                              field("gamma", kFloat), field("bias", kFloat)};
  const std::vector<nv::PluginField> by_channels = {field("beta", kFloat), field("gamma", kFloat)};
  constexpr const char* kName = "CustomSkipLayerNormPluginDynamic";
  return {{.name = kName,
           .version = "1",
           .generation = Generation::kV2,
           .fields = plain,
           .min_inputs = 2,
           .max_inputs = 2,
           .make = make_plain},
          {.name = kName,
           .version = "2",
           .generation = Generation::kV2,
           .fields = plain,
           .min_inputs = 2,
           .max_inputs = 2,
           .make = make_plain},
          {.name = kName,
           .version = "3",
           .generation = Generation::kV2,
           .fields = by_channels,
           .min_inputs = 2,
           .max_inputs = 2,
           .make = make_by_channels},
          {.name = kName,
           .version = "4",
           .generation = Generation::kV2,
           .fields = by_channels,
           .min_inputs = 2,
           .max_inputs = 2,
           .make = make_megatron},
          {.name = kName,
           .version = "5",
           .generation = Generation::kV3,
           .fields = plain,
           .min_inputs = 2,
           .max_inputs = 2,
           .make = make_plain},
          {.name = kName,
           .version = "6",
           .generation = Generation::kV3,
           .fields = plain,
           .min_inputs = 2,
           .max_inputs = 2,
           .make = make_plain},
          {.name = kName,
           .version = "7",
           .generation = Generation::kV3,
           .fields = by_channels,
           .min_inputs = 2,
           .max_inputs = 2,
           .make = make_by_channels},
          {.name = kName,
           .version = "8",
           .generation = Generation::kV3,
           .fields = by_channels,
           .min_inputs = 2,
           .max_inputs = 2,
           .make = make_megatron}};
}

}  // namespace kiln::plugins
