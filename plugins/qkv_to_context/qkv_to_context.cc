// CustomQKVToContextPluginDynamic: softmax(q k' / sqrt(H)) v for each of N heads of H = E / N units, whose queries,
// keys and values stand behind each other, head by head. Of sequences of one length (versions 1 and 4; 2 and 5 where
// var_seqlen is 0):
//   in   qkv      floats [S, B, 3 E, 1, 1], as [S, B, N, 3, H]
//        count    i32 [B], if has_mask: tokens of a sequence that count, which come first
//   out  y        [S, B, E, 1, 1]
// Of packed sequences, T tokens in all (versions 2 and 5 where var_seqlen is 1):
//   in   qkv      floats [T, 3 E, 1, 1], as [T, N, 3, H]
//        mask     anything: the starts say what counts
//        starts   i32 [B + 1]: where sequences start, and where the last one ends
//        longest  [any]: its extent is the greatest length, which does not matter here
//   out  y        [T, E, 1, 1]; memory grows with T^2
//   fields  type_id  0 f32, 1 f16: qkv's type. hidden_size  E. num_heads  N. has_mask. var_seqlen. dq_probs,
//           use_int8_scale_max  of INT8, without effect here
// Versions 3 and 6, which are of INT8 alone, are not in Kiln.
#include <cmath>

#include "library/bert.h"

namespace kiln::plugins {
namespace {

constexpr double kMasked = -1e30;  // a score whose softmax is 0

struct Heads {
  int64_t hidden = 0, count = 1;
  bool has_mask = false, is_packed = false;
  int64_t size() const { return hidden / count; }
};

class QkvToContext final : public StandardPlugin {
 public:
  explicit QkvToContext(const Heads& heads) : heads_(heads) {}

  bool takes(nv::DataType type, std::span<const nv::DataType> before) const override {
    if (before.empty()) return is_float(type);
    if (!heads_.is_packed) return type == nv::DataType::kINT32;
    return before.size() != 2 || type == nv::DataType::kINT32;
  }
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    const size_t wanted = heads_.is_packed ? 4 : heads_.has_mask ? 2 : 1;
    TRY(require(inputs.size() == wanted, "there are ", inputs.size(), " inputs; has_mask and var_seqlen say ", wanted));
    const size_t axis = heads_.is_packed ? 1 : 2;
    TRY(require_rank(inputs, 0, axis + 3));
    TRY(require(inputs[0][axis].number().value_or(3 * heads_.hidden) == 3 * heads_.hidden, "input 0 has ",
                inputs[0][axis].number().value_or(0), " units; hidden_size says 3 times ", heads_.hidden));
    Shape shape = inputs[0];
    shape[axis] = heads_.hidden;
    return std::vector<Shape>{shape};
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override {
    return {heads_.is_packed ? of_packed(layers, inputs) : of_fixed(layers, inputs)};
  }

 private:
  Value of_fixed(Layers& layers, std::span<const Value> inputs) const {
    const Value x = inputs[0].f32();
    const Extent length = x.extent(0), batch = x.extent(1);
    const Value split = transpose(reshape(x, {length, batch, heads_.count, 3, heads_.size()}), {3, 1, 2, 0, 4});
    Value scores = scores_of(split);  // [B, N, S, S]
    if (heads_.has_mask) {
      const Value key = layers.iota(length, nv::DataType::kINT32);
      scores = select(key < reshape(inputs[1], {batch, 1, 1, 1}), scores, kMasked);
    }
    const Value y = matmul(softmax(scores, 3), pick(split, 0, 2));  // [B, N, S, H]
    return reshape(transpose(y, {2, 0, 1, 3}), {length, batch, heads_.hidden, 1, 1});
  }

  Value of_packed(Layers& layers, std::span<const Value> inputs) const {
    const Value x = inputs[0].f32();
    const Extent length = x.extent(0);
    const Value split = transpose(reshape(x, {length, heads_.count, 3, heads_.size()}), {2, 1, 0, 3});
    const Value token = layers.iota(length, nv::DataType::kINT32);
    // Tokens are of one sequence if as many sequences have started.
    const Value started = sum((unsqueeze(inputs[2], {0}) <= unsqueeze(token, {1})).i32(), {1}, false);
    const Value together = unsqueeze(started, {0}) == unsqueeze(started, {1});
    const Value scores = select(together, scores_of(split), kMasked);  // [N, T, T]
    const Value y = matmul(softmax(scores, 2), pick(split, 0, 2));     // [N, T, H]
    return reshape(transpose(y, {1, 0, 2}), {length, heads_.hidden, 1, 1});
  }

  Value scores_of(const Value& split) const {
    const Value queries = pick(split, 0, 0) / std::sqrt(static_cast<double>(heads_.size()));
    return matmul(queries, pick(split, 0, 1), Transposed::kNo, Transposed::kYes);
  }

  Heads heads_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  TRY(require_float_type(fields));
  Heads heads;
  heads.hidden = TRY(fields.integer("hidden_size"));
  heads.count = TRY(fields.integer("num_heads"));
  heads.has_mask = TRY(fields.flag("has_mask", false));
  heads.is_packed = TRY(fields.flag("var_seqlen", false));
  TRY(require(heads.count > 0 && heads.hidden > 0 && heads.hidden % heads.count == 0, "hidden_size ", heads.hidden,
              " is not divisible into ", heads.count, " heads"));
  return std::make_shared<QkvToContext>(heads);
}

}  // namespace

std::vector<Definition> qkv_to_context() {
  const std::vector<nv::PluginField> fixed = {field("type_id", kInt), field("hidden_size", kInt),
                                              field("num_heads", kInt), field("has_mask", kInt),
                                              field("dq_probs", kFloat)};
  std::vector<nv::PluginField> packed = fixed;
  packed.push_back(field("var_seqlen", kInt));
  packed.push_back(field("use_int8_scale_max", kInt));
  constexpr const char* kName = "CustomQKVToContextPluginDynamic";
  return {{kName, "1", Generation::kV2, fixed, 1, 2, make},
          {kName, "2", Generation::kV2, packed, 1, 4, make},
          {kName, "4", Generation::kV3, fixed, 1, 2, make},
          {kName, "5", Generation::kV3, packed, 1, 4, make}};
}

}  // namespace kiln::plugins
