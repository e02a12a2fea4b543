// CustomEmbLayerNormPluginDynamic: e = word[token] + type[segment] + position[place in its sequence], and
// y = gamma * n + beta with n = e of mean 0 and variance 1 along the hidden units.
// Versions 1 and 6, of sequences of one length:
//   in   tokens    i32 [S, B]
//        segments  i32 [S, B]
//        mask      i32 [S, B]: 1 where a token counts; those come first
//   out  y         [S, B, E, 1, 1]
//        count     i32 [B, 1]: tokens that count. TensorRT has packed masks for its fused kernels there
// Versions 2 and 4, and 3 and 5 (Megatron's), of packed sequences, T tokens in all:
//   in   tokens    i32 [T]
//        segments  i32 [T]
//        starts    i32 [B + 1]: where sequences start, and where the last one ends
//        longest   [any]: its extent is the greatest length, which does not matter here
//   out  y         [T, E, 1, 1]
//        nothing   a scalar that nobody reads, i32 (version 4: y's type); of versions 3 and 5 instead
//        e         [T, E, 1, 1], y's type
// An id below 0 or beyond its table, and a place beyond the last position, are errors of the build where they are known
// to it, else of the run. Starts of packed sequences begin with 0 and rise; of others that only the run knows, a
// token's place counts from the greatest start that is not behind it, or from 0.
//   fields  output_fp16  0: y is f32, 1: f16. full_mask, mha_type_id  of TensorRT's fused kernels, without effect here.
//           bert_embeddings_layernorm_beta, _gamma  [E]. bert_embeddings_word_embeddings, _token_type_embeddings,
//           _position_embeddings  [number of them, E]
#include <limits>

#include "library/bert.h"

namespace kiln::plugins {
namespace {

struct Tables {
  std::vector<float> beta, gamma, word, type, position;
  bool is_half = false;
};

/// What versions differ in.
struct Form {
  bool is_packed = false;
  bool second_is_typed = false;  ///< the second output has the type of the first
  bool gives_sum = false;        ///< it is e
};

class EmbLayerNorm final : public StandardPlugin {
 public:
  EmbLayerNorm(Tables tables, Form form)
      : tables_(std::move(tables)),
        is_packed_(form.is_packed),
        second_is_typed_(form.second_is_typed),
        gives_sum_(form.gives_sum) {}

  int num_outputs() const override { return 2; }
  bool takes(nv::DataType type, std::span<const nv::DataType> before) const override {
    return before.size() == 3 || type == nv::DataType::kINT32;
  }
  Types output_types(std::span<const nv::DataType>) const override {
    const nv::DataType type = tables_.is_half ? nv::DataType::kHALF : nv::DataType::kFLOAT;
    return {type, second_is_typed_ ? type : nv::DataType::kINT32};
  }
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    for (size_t i = 0; i < (is_packed_ ? 2U : 3U); ++i) TRY(require_rank(inputs, i, is_packed_ ? 1 : 2));
    TRY(require_same(inputs, 0, 1));
    if (!is_packed_) {
      TRY(require_same(inputs, 0, 2));
      const int64_t positions = rows_of(tables_.position);
      TRY(require_at_most(inputs[0][0], positions,
                          str("axis 0 of input 0 has to be ", positions, " long at most, as there are positions")));
    }
    const auto hidden = static_cast<int64_t>(tables_.gamma.size());
    if (!is_packed_) return std::vector<Shape>{{inputs[0][0], inputs[0][1], hidden, 1, 1}, {inputs[0][1], 1}};
    TRY(require_rank(inputs, 2, 1));
    const Shape packed = {inputs[0][0], hidden, 1, 1};
    return std::vector<Shape>{packed, gives_sum_ ? packed : Shape{}};
  }
  Status check_constants(std::span<const Value> inputs) const override {
    TRY(check_ids("token", inputs[0], tables_.word));
    TRY(check_ids("segment", inputs[1], tables_.type));
    return is_packed_ ? check_starts(inputs[2], inputs[0].extent(0)) : Status();
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override {
    const Value place = is_packed_ ? place_in_sequence(layers, inputs)
                                   : unsqueeze(layers.iota(inputs[0].extent(0), nv::DataType::kINT32), {1});
    const Value x = gather(table(layers, tables_.word), from_front(inputs[0]), 0) +
                    gather(table(layers, tables_.type), from_front(inputs[1]), 0) +
                    gather(table(layers, tables_.position), place, 0);
    const Value y = normalized(x, {-1}, kLayerNormEps) * table(layers, tables_.gamma) + table(layers, tables_.beta);
    const auto with_two_axes = [](const Value& value) { return unsqueeze(value, {value.rank(), value.rank() + 1}); };
    const Value output = with_two_axes(y);
    if (gives_sum_) return {output, with_two_axes(x)};
    if (is_packed_) return {output, layers.scalar(0, second_is_typed_ ? nv::DataType::kFLOAT : nv::DataType::kINT32)};
    return {output, unsqueeze(sum(inputs[2], {0}, false), {1})};
  }

 private:
  int64_t rows_of(const std::vector<float>& table) const {
    return static_cast<int64_t>(table.size() / tables_.gamma.size());
  }
  Status check_ids(const char* what, const Value& ids, const std::vector<float>& table) const {
    const auto known = known_integers(ids);
    for (size_t i = 0; known && i < known->size(); ++i)
      TRY(require((*known)[i] >= 0 && (*known)[i] < rows_of(table), "the id of ", what, ' ', i, " is ", (*known)[i],
                  "; the table has ", rows_of(table), " rows"));
    return {};
  }
  /// Ids below 0 as one that no table has: a gather counts negative indices from the back.
  static Value from_front(const Value& ids) { return select(-1.0 < ids, ids, std::numeric_limits<int32_t>::min()); }
  /// How far a token is behind the start of its sequence: that is the greatest start that is not behind it.
  static Value place_in_sequence(Layers& layers, std::span<const Value> inputs) {
    const Value token = unsqueeze(layers.iota(inputs[0].extent(0), nv::DataType::kINT32), {1});
    const Value starts = unsqueeze(inputs[2], {0});
    const Value passed = select(starts <= token, starts, 0);
    return squeeze(token, {1}) - max_of(passed, {1}, false);
  }
  Value table(Layers& layers, const std::vector<float>& numbers) const {
    const auto hidden = static_cast<int64_t>(tables_.gamma.size()), count = static_cast<int64_t>(numbers.size());
    return layers.constant(count == hidden ? dims_of({1, hidden}) : dims_of({count / hidden, hidden}), numbers);
  }
  Tables tables_;
  bool is_packed_, second_is_typed_, gives_sum_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields, Form form) {
  Tables tables;
  tables.is_half = TRY(fields.flag("output_fp16", false));
  tables.beta = TRY(hidden_numbers(fields, "bert_embeddings_layernorm_beta"));
  tables.gamma = TRY(hidden_numbers(fields, "bert_embeddings_layernorm_gamma"));
  tables.word = TRY(hidden_numbers(fields, "bert_embeddings_word_embeddings"));
  tables.type = TRY(hidden_numbers(fields, "bert_embeddings_token_type_embeddings"));
  tables.position = TRY(hidden_numbers(fields, "bert_embeddings_position_embeddings"));
  const size_t hidden = tables.gamma.size();
  for (const auto* table : {&tables.word, &tables.type, &tables.position})
    TRY(require(table->size() % hidden == 0, "a table of embeddings has ", table->size(),
                " numbers, which are no rows of ", hidden));
  TRY(require(tables.beta.size() == hidden, "gamma has ", hidden, " numbers, beta ", tables.beta.size()));
  return std::make_shared<EmbLayerNorm>(std::move(tables), form);
}
Result<std::shared_ptr<const StandardPlugin>> make_fixed(const Fields& fields) { return make(fields, {}); }
Result<std::shared_ptr<const StandardPlugin>> make_packed_2(const Fields& fields) {
  return make(fields, {.is_packed = true});
}
Result<std::shared_ptr<const StandardPlugin>> make_packed_4(const Fields& fields) {
  return make(fields, {.is_packed = true, .second_is_typed = true});
}
Result<std::shared_ptr<const StandardPlugin>> make_megatron(const Fields& fields) {
  return make(fields, {.is_packed = true, .second_is_typed = true, .gives_sum = true});
}

}  // namespace

std::vector<Definition> emb_layer_norm() {
  const std::vector<nv::PluginField> fields = {field("bert_embeddings_layernorm_beta", kFloat),
                                               field("bert_embeddings_layernorm_gamma", kFloat),
                                               field("bert_embeddings_word_embeddings", kFloat),
                                               field("bert_embeddings_token_type_embeddings", kFloat),
                                               field("bert_embeddings_position_embeddings", kFloat),
                                               field("output_fp16", kInt),
                                               field("full_mask", kInt),
                                               field("mha_type_id", kInt)};
  constexpr const char* kName = "CustomEmbLayerNormPluginDynamic";
  return {{.name = kName,
           .version = "1",
           .generation = Generation::kV2,
           .fields = fields,
           .min_inputs = 3,
           .max_inputs = 3,
           .make = make_fixed},
          {.name = kName,
           .version = "2",
           .generation = Generation::kV2,
           .fields = fields,
           .min_inputs = 4,
           .max_inputs = 4,
           .make = make_packed_2},
          {.name = kName,
           .version = "3",
           .generation = Generation::kV2,
           .fields = fields,
           .min_inputs = 4,
           .max_inputs = 4,
           .make = make_megatron},
          {.name = kName,
           .version = "4",
           .generation = Generation::kV3,
           .fields = fields,
           .min_inputs = 4,
           .max_inputs = 4,
           .make = make_packed_4},
          {.name = kName,
           .version = "5",
           .generation = Generation::kV3,
           .fields = fields,
           .min_inputs = 4,
           .max_inputs = 4,
           .make = make_megatron},
          {.name = kName,
           .version = "6",
           .generation = Generation::kV3,
           .fields = fields,
           .min_inputs = 3,
           .max_inputs = 3,
           .make = make_fixed}};
}

}  // namespace kiln::plugins
