// CustomQKVToContextPluginDynamic: p v with p = softmax(q k' / sqrt(H)), for each of N heads of H = E / N units. Of
// sequences of one length (versions 1 and 4; 2 and 5 where var_seqlen is 0):
//   in   qkv      [S, B, 3 E, 1, 1], as [S, B, N, 3, H]
//        count    i32 [B], if has_mask: tokens of a sequence that count, which come first
//   out  y        [S, B, E, 1, 1]
// Of packed sequences, T tokens in all (versions 2 and 5 where var_seqlen is 1):
//   in   qkv      [T, 3 E, 1, 1], as [T, N, 3, H]
//        mask     anything: the starts say what counts
//        starts   i32 [B + 1]: where sequences start, and where the last one ends
//        longest  [any]: its extent is the greatest length, which does not matter here
//   out  y        [T, E, 1, 1]; memory grows with T^2
// Starts begin with 0 and rise, which a build demands of a constant. Of others that only the run knows, tokens attend
// to each other if as many starts are not behind them.
//   fields  type_id  0 f32, 1 f16, 2 i8 by ranges: the type of qkv and y. hidden_size  E. num_heads  N. has_mask.
//           var_seqlen. dq_probs  of i8, below. use_int8_scale_max  says how TensorRT finds a maximum; without effect
// Versions 3 and 6 take packed sequences by channels, and i8 by ranges:
//   in   qkv      [1, 3 E, T, 1], as [3, N, H, T]
//        starts, longest  as above
//   out  y        [1, E, T, 1]
//   fields  hidden_size, num_heads, dq_probs, use_int8_scale_max  as above. use_explicit_int8  1: an i8 of qkv is worth
//           input_qkv_scale and one of y output_ctx_scale, whatever the network says
// i8 by ranges: qkv and y are bytes where both have ranges, and stand for their number times a scale; p is rounded to
// multiples of dq_probs (1 / 127 if it is not given), y to the nearest byte. Where a range is missing, all are floats.
#include <cmath>

#include "library/bert.h"

namespace kiln::plugins {
namespace {

constexpr double kMasked = -1e30;  // a score whose softmax is 0

/// How tokens lie.
enum class Order : int8_t {
  kFixed,      ///< sequences of one length
  kPacked,     ///< one behind the other
  kByChannels  ///< so, and all tokens of a unit behind each other
};

struct Heads {
  int64_t hidden = 0, count = 1;
  bool has_mask = false;
  Order order = Order::kFixed;
  int64_t size() const { return hidden / count; }
};

struct Bytes {
  bool are_known = false;
  double probability = 1.0 / 127;    ///< what a step of a byte of p is worth
  std::optional<float> qkv, output;  ///< what one of the tensors is worth, whatever the network says
};

class QkvToContext final : public StandardPlugin {
 public:
  QkvToContext(const Heads& heads, const Bytes& bytes) : heads_(heads), bytes_(bytes) {}

  bool knows_bytes() const override { return bytes_.are_known; }
  float scale_of(size_t index, float told) const override {
    if (index == 0) return bytes_.qkv.value_or(told);
    return index == num_inputs() ? bytes_.output.value_or(told) : told;
  }
  bool takes(nv::DataType type, std::span<const nv::DataType> before) const override {
    if (before.empty()) return takes_numbers(type);
    switch (heads_.order) {
      case Order::kFixed: return type == nv::DataType::kINT32;
      case Order::kPacked: return before.size() != 2 || type == nv::DataType::kINT32;
      case Order::kByChannels: return before.size() != 1 || type == nv::DataType::kINT32;
    }
    return false;
  }
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    const size_t wanted = num_inputs();
    TRY(require(inputs.size() == wanted, "there are ", inputs.size(), " inputs; has_mask and var_seqlen say ", wanted));
    const size_t axis = heads_.order == Order::kFixed ? 2 : 1;
    TRY(require_rank(inputs, 0, axis + 3));
    TRY(require_extent(inputs, 0, axis, 3 * heads_.hidden, "3 times hidden_size"));
    for (size_t one = 0; one < inputs[0].size(); ++one)
      if (!tells_tokens(one) && one != axis) TRY(require_extent(inputs, 0, one, 1, ""));
    if (const auto starts = starts_input()) TRY(require_rank(inputs, *starts, 1));
    if (heads_.has_mask && heads_.order == Order::kFixed)
      TRY(require_equal(volume_of(inputs[1]), inputs[0][1],
                        "input 1 has to have as many elements as axis 1 of input 0"));
    Shape shape = inputs[0];
    shape[axis] = heads_.hidden;
    return std::vector<Shape>{shape};
  }
  Status check_constants(std::span<const Value> inputs) const override {
    const auto starts = starts_input();
    return starts ? check_starts(inputs[*starts], inputs[0].extent(heads_.order == Order::kPacked ? 0 : 2)) : Status();
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override {
    return {attend(layers, inputs, [](const Value& p) { return p; })};
  }
  std::vector<Value> add_layers_between_bytes(Layers& layers, std::span<const Value> inputs) const override {
    const double step = bytes_.probability;
    return {attend(layers, inputs, [step](const Value& p) { return dequantized(quantized(p, step), step); })};
  }

 private:
  size_t num_inputs() const {
    switch (heads_.order) {
      case Order::kFixed: return heads_.has_mask ? 2 : 1;
      case Order::kPacked: return 4;
      case Order::kByChannels: return 3;
    }
    return 0;
  }

  /// The input that says where packed sequences start.
  std::optional<size_t> starts_input() const {
    switch (heads_.order) {
      case Order::kFixed: break;
      case Order::kPacked: return 2;
      case Order::kByChannels: return 1;
    }
    return std::nullopt;
  }

  /// Whether tokens, or sequences, lie along the axis of input 0.
  bool tells_tokens(size_t axis) const {
    switch (heads_.order) {
      case Order::kFixed: return axis <= 1;
      case Order::kPacked: return axis == 0;
      case Order::kByChannels: return axis == 2;
    }
    return false;
  }

  template <class F>
  Value attend(Layers& layers, std::span<const Value> inputs, F rounded) const {
    const Value x = inputs[0].f32();
    if (heads_.order == Order::kFixed) return of_fixed(layers, x, inputs, rounded);
    if (heads_.order == Order::kPacked) {
      const Extent length = x.extent(0);
      const Value split = transpose(reshape(x, {length, heads_.count, 3, heads_.size()}), {2, 1, 0, 3});
      const Value y = of_packed(layers, split, inputs[2], length, rounded);  // [N, T, H]
      return reshape(transpose(y, {1, 0, 2}), {length, heads_.hidden, 1, 1});
    }
    const Extent length = x.extent(2);
    const Value split = transpose(reshape(x, {3, heads_.count, heads_.size(), length}), {0, 1, 3, 2});
    const Value y = of_packed(layers, split, inputs[1], length, rounded);
    return reshape(transpose(y, {0, 2, 1}), {1, heads_.hidden, length, 1});
  }

  template <class F>
  Value of_fixed(Layers& layers, const Value& x, std::span<const Value> inputs, F rounded) const {
    const Extent length = x.extent(0), batch = x.extent(1);
    const Value split = transpose(reshape(x, {length, batch, heads_.count, 3, heads_.size()}), {3, 1, 2, 0, 4});
    Value scores = scores_of(split);  // [B, N, S, S]
    if (heads_.has_mask) {
      const Value key = layers.iota(length, nv::DataType::kINT32);
      scores = select(key < reshape(inputs[1], {batch, 1, 1, 1}), scores, kMasked);
    }
    const Value y = matmul(rounded(softmax(scores, 3)), pick(split, 0, 2));  // [B, N, S, H]
    return reshape(transpose(y, {2, 0, 1, 3}), {length, batch, heads_.hidden, 1, 1});
  }

  /// The context of packed tokens; `split` has queries, keys and values, [3, N, T, H].
  template <class F>
  Value of_packed(Layers& layers, const Value& split, const Value& starts, const Extent& length, F rounded) const {
    const Value token = layers.iota(length, nv::DataType::kINT32);
    // Tokens are of one sequence if as many sequences have started.
    const Value started = sum((unsqueeze(starts, {0}) <= unsqueeze(token, {1})).i32(), {1}, false);
    const Value together = unsqueeze(started, {0}) == unsqueeze(started, {1});
    const Value scores = select(together, scores_of(split), kMasked);  // [N, T, T]
    return matmul(rounded(softmax(scores, 2)), pick(split, 0, 2));
  }

  Value scores_of(const Value& split) const {
    const Value queries = pick(split, 0, 0) / std::sqrt(static_cast<double>(heads_.size()));
    return matmul(queries, pick(split, 0, 1), Transposed::kNo, Transposed::kYes);
  }

  Heads heads_;
  Bytes bytes_;
};

using Made = Result<std::shared_ptr<const StandardPlugin>>;

Result<Heads> heads_of(const Fields& fields) {
  Heads heads;
  heads.hidden = TRY(fields.integer("hidden_size"));
  heads.count = TRY(fields.integer("num_heads"));
  TRY(require(heads.count > 0 && heads.hidden > 0 && heads.hidden % heads.count == 0, "hidden_size ", heads.hidden,
              " is not divisible into ", heads.count, " heads"));
  return heads;
}

/// A field that says what a step of a byte is worth.
Result<double> step_of(const Fields& fields, std::string_view name, double otherwise) {
  const double step = TRY(fields.number(name, otherwise));
  TRY(require(step > 0 && std::isfinite(step), name, " is ", step, "; a number above 0 is needed"));
  return step;
}

Result<Bytes> bytes_of(const Fields& fields) {
  Bytes bytes{.are_known = true, .qkv = {}, .output = {}};
  bytes.probability = TRY(step_of(fields, "dq_probs", bytes.probability));
  if (!TRY(fields.flag("use_explicit_int8", false))) return bytes;
  bytes.qkv = static_cast<float>(TRY(step_of(fields, "input_qkv_scale", 1)));
  bytes.output = static_cast<float>(TRY(step_of(fields, "output_ctx_scale", 1)));
  return bytes;
}

Made make(const Fields& fields) {
  Heads heads = TRY(heads_of(fields));
  heads.has_mask = TRY(fields.flag("has_mask", false));
  if (TRY(fields.flag("var_seqlen", false))) heads.order = Order::kPacked;
  const bool has_bytes = TRY(bert_type(fields)) == BertType::kBytes;
  return std::make_shared<QkvToContext>(heads, has_bytes ? TRY(bytes_of(fields)) : Bytes{});
}
Made make_by_channels(const Fields& fields) {
  Heads heads = TRY(heads_of(fields));
  heads.order = Order::kByChannels;
  return std::make_shared<QkvToContext>(heads, TRY(bytes_of(fields)));
}

}  // namespace

std::vector<Definition> qkv_to_context() {
  const std::vector<nv::PluginField> fixed = {field("type_id", kInt), field("hidden_size", kInt),
                                              field("num_heads", kInt), field("has_mask", kInt),
                                              field("dq_probs", kFloat)};
  std::vector<nv::PluginField> packed = fixed;
  packed.push_back(field("var_seqlen", kInt));
  packed.push_back(field("use_int8_scale_max", kInt));
  const std::vector<nv::PluginField> by_channels = {field("hidden_size", kInt),       field("num_heads", kInt),
                                                    field("dq_probs", kFloat),        field("use_int8_scale_max", kInt),
                                                    field("use_explicit_int8", kInt), field("input_qkv_scale", kFloat),
                                                    field("output_ctx_scale", kFloat)};
  constexpr const char* kName = "CustomQKVToContextPluginDynamic";
  return {{.name = kName,
           .version = "1",
           .generation = Generation::kV2,
           .fields = fixed,
           .min_inputs = 1,
           .max_inputs = 2,
           .make = make},
          {.name = kName,
           .version = "2",
           .generation = Generation::kV2,
           .fields = packed,
           .min_inputs = 1,
           .max_inputs = 4,
           .make = make},
          {.name = kName,
           .version = "3",
           .generation = Generation::kV2,
           .fields = by_channels,
           .min_inputs = 3,
           .max_inputs = 3,
           .make = make_by_channels},
          {.name = kName,
           .version = "4",
           .generation = Generation::kV3,
           .fields = fixed,
           .min_inputs = 1,
           .max_inputs = 2,
           .make = make},
          {.name = kName,
           .version = "5",
           .generation = Generation::kV3,
           .fields = packed,
           .min_inputs = 1,
           .max_inputs = 4,
           .make = make},
          {.name = kName,
           .version = "6",
           .generation = Generation::kV3,
           .fields = by_channels,
           .min_inputs = 3,
           .max_inputs = 3,
           .make = make_by_channels}};
}

}  // namespace kiln::plugins
