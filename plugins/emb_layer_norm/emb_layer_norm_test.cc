#include <gtest/gtest.h>

#include "testing/plugin_bench.h"
#include "testing/reference_normalization.h"

namespace kiln::plugins::testing {
namespace {

constexpr const char* kName = "CustomEmbLayerNormPluginDynamic";
constexpr size_t kHidden = 4;
const std::vector<float> kGamma = {1, 2, -1, 0.5F}, kBeta = {0, 1, 0, -1};

std::vector<float> table(int64_t rows, int seed) {
  const Tensor numbers = noise({rows, static_cast<int64_t>(kHidden)}, seed);
  return {numbers.values.begin(), numbers.values.end()};
}
const std::vector<float> kWords = table(9, 1), kTypes = table(2, 2), kPositions = table(6, 3);

Attributes attributes(int32_t half = 0) {
  return Attributes()
      .set("bert_embeddings_layernorm_beta", kBeta)
      .set("bert_embeddings_layernorm_gamma", kGamma)
      .set("bert_embeddings_word_embeddings", kWords)
      .set("bert_embeddings_token_type_embeddings", kTypes)
      .set("bert_embeddings_position_embeddings", kPositions)
      .set("output_fp16", std::vector<int32_t>{half});
}

std::vector<double> sum_of_embeddings(double word, double type, size_t position) {
  std::vector<double> row;
  for (size_t i = 0; i < kHidden; ++i)
    row.push_back(double{kWords[static_cast<size_t>(word) * kHidden + i]} +
                  double{kTypes[static_cast<size_t>(type) * kHidden + i]} + double{kPositions[position * kHidden + i]});
  return row;
}
std::vector<double> embedded(double word, double type, size_t position) {
  return normalized_row(sum_of_embeddings(word, type, position), kGamma, kBeta);
}

class OfOneLength : public ::testing::TestWithParam<const char*> {};
class Packed : public ::testing::TestWithParam<const char*> {};

TEST_P(OfOneLength, AddsThreeEmbeddings) {
  const Tensor tokens = ints({3, 2}, {8, 0, 3, 4, 1, 2}), segments = ints({3, 2}, {0, 0, 1, 0, 1, 1}),
               mask = ints({3, 2}, {1, 1, 1, 1, 0, 1});
  for (const int32_t half : {0, 1}) {
    Tensor y{{3, 2, 4, 1, 1}, {}, half ? nv::DataType::kHALF : nv::DataType::kFLOAT};
    for (size_t i = 0; i < 6; ++i)
      for (const double value : embedded(tokens.values[i], segments.values[i], i / 2)) y.values.push_back(value);
    expect_outputs(kName, GetParam(), attributes(half), {tokens, segments, mask}, {y, ints({2, 1}, {2, 3})},
                   half ? 2e-3 : 1e-5);
  }
}

TEST_P(OfOneLength, RefusesTablesThatDoNotFit) {
  const Tensor tokens = ints({1, 1}, {0});
  EXPECT_NE(error_of(kName, GetParam(), Attributes(), {tokens, tokens, tokens})
                .find("field 'bert_embeddings_layernorm_beta' is missing"),
            std::string::npos);
  EXPECT_NE(error_of(kName, GetParam(), attributes(), {tokens, tokens}).find("there are 2 inputs"), std::string::npos);
  const Tensor longer = ints({2, 1}, {0, 0});
  EXPECT_NE(error_of(kName, GetParam(), attributes(), {tokens, longer, tokens})
                .find("axis 0 of input 1 has to be as long as axis 0 of input 0; it is 2, not 1"),
            std::string::npos);
  EXPECT_NE(error_of(kName, GetParam(), attributes(), {tokens, tokens, longer})
                .find("axis 0 of input 2 has to be as long as axis 0 of input 0; it is 2, not 1"),
            std::string::npos);
}

/// The error for one token and one segment, of inputs or of constants.
std::string error_of_ids(const char* version, double token, double segment, bool are_constants) {
  Tensor tokens = ints({1, 1}, {token}), segments = ints({1, 1}, {segment});
  tokens.is_constant = segments.is_constant = are_constants;
  return error_of(kName, version, attributes(), {tokens, segments, ints({1, 1}, {1})});
}

TEST_P(OfOneLength, IdsOutsideOfTheirTablesAreErrors) {
  const auto expect = [](const std::string& text, const char* words) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  EXPECT_EQ(error_of_ids(GetParam(), 8, 1, true), "");
  expect(error_of_ids(GetParam(), -1, 0, true), "the id of token 0 is -1; the table has 9 rows");
  expect(error_of_ids(GetParam(), 9, 0, true), "the id of token 0 is 9; the table has 9 rows");
  expect(error_of_ids(GetParam(), 0, 2, true), "the id of segment 0 is 2; the table has 2 rows");
  EXPECT_EQ(error_of_ids(GetParam(), 8, 1, false), "");
  // A GPU says which data it is outside of.
  expect(error_of_ids(GetParam(), -1, 0, false), "index -2147483648 is outside ");
  expect(error_of_ids(GetParam(), 9, 0, false), "index 9 is outside ");
  expect(error_of_ids(GetParam(), 0, -2, false), "index -2147483648 is outside ");
}

TEST_P(OfOneLength, RefusesMoreTokensThanPositions) {
  const Tensor tokens = ints({7, 1}, std::vector<double>(7, 0));
  EXPECT_NE(error_of(kName, GetParam(), attributes(), {tokens, tokens, tokens})
                .find("axis 0 of input 0 has to be 6 long at most, as there are positions; 7 is more than 6"),
            std::string::npos);
}

TEST_P(Packed, StartsOfConstantsBeginWithZeroAndRise) {
  const Tensor tokens = ints({4}, {0, 1, 2, 3}), segments = ints({4}, {0, 0, 0, 0}), longest = ints({4}, {0, 0, 0, 0});
  const auto error = [&](std::vector<double> starts) {
    return error_of(kName, GetParam(), attributes(),
                    {tokens, segments, as_constant(ints({static_cast<int64_t>(starts.size())}, starts)), longest});
  };
  EXPECT_EQ(error({0, 2, 2, 4}), "");
  for (const auto& [starts, words] :
       {std::pair{std::vector<double>{1, 4}, "the starts of sequences begin with 1; the first sequence starts at 0"},
        std::pair{std::vector<double>{0, 3, 2, 4},
                  "start 2 of the sequences is 2, and the one before it 3; they have to rise"},
        std::pair{std::vector<double>{0, 5}, "the last sequence has to end within the tokens; 5 is more than 4"}}) {
    const std::string text = error(starts);
    EXPECT_NE(text.find(words), std::string::npos) << text;
  }
}

/// The first token's sequence begins with it, and starts that fall are passed by.
TEST_P(Packed, StartsOfARunThatAreNoneCountFromTheGreatestBehind) {
  const Tensor tokens = ints({4}, {8, 0, 3, 4}), segments = ints({4}, {0, 0, 1, 0}), starts = ints({4}, {3, 1, 3, 4}),
               longest = ints({4}, {0, 0, 0, 0});
  const std::vector<size_t> places = {0, 0, 1, 0};
  Tensor y{{4, 4, 1, 1}, {}};
  for (size_t i = 0; i < 4; ++i)
    for (const double value : embedded(tokens.values[i], segments.values[i], places[i])) y.values.push_back(value);
  const Tensor nothing = GetParam() == std::string("2") ? ints({}, {0}) : Tensor{{}, {0}};
  expect_outputs(kName, GetParam(), attributes(), {tokens, segments, starts, longest}, {y, nothing});
}

TEST_P(Packed, CountsPlacesFromEachStart) {
  const Tensor tokens = ints({7}, {8, 0, 3, 4, 1, 2, 5}), segments = ints({7}, {0, 0, 1, 0, 1, 1, 0}),
               starts = ints({4}, {0, 2, 3, 7}), longest = ints({4}, {0, 0, 0, 0});
  const std::vector<size_t> places = {0, 1, 0, 0, 1, 2, 3};
  Tensor y{{7, 4, 1, 1}, {}};
  for (size_t i = 0; i < 7; ++i)
    for (const double value : embedded(tokens.values[i], segments.values[i], places[i])) y.values.push_back(value);
  const Tensor nothing = GetParam() == std::string("2") ? ints({}, {0}) : Tensor{{}, {0}};
  expect_outputs(kName, GetParam(), attributes(), {tokens, segments, starts, longest}, {y, nothing});
}

class Megatron : public ::testing::TestWithParam<const char*> {};

TEST_P(Megatron, GivesTheSumOfEmbeddingsToo) {
  const Tensor tokens = ints({4}, {8, 0, 3, 4}), segments = ints({4}, {0, 0, 1, 0}), starts = ints({3}, {0, 1, 4}),
               longest = ints({3}, {0, 0, 0});
  const std::vector<size_t> places = {0, 0, 1, 2};
  for (const int32_t half : {0, 1}) {
    const nv::DataType type = half ? nv::DataType::kHALF : nv::DataType::kFLOAT;
    Tensor y{{4, 4, 1, 1}, {}, type}, sum{{4, 4, 1, 1}, {}, type};
    for (size_t i = 0; i < 4; ++i) {
      for (const double value : embedded(tokens.values[i], segments.values[i], places[i])) y.values.push_back(value);
      for (const double value : sum_of_embeddings(tokens.values[i], segments.values[i], places[i]))
        sum.values.push_back(value);
    }
    expect_outputs(kName, GetParam(), attributes(half), {tokens, segments, starts, longest}, {y, sum},
                   half ? 2e-3 : 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, Megatron, ::testing::Values("3", "5"));
INSTANTIATE_TEST_SUITE_P(Versions, OfOneLength, ::testing::Values("1", "6"));
INSTANTIATE_TEST_SUITE_P(Versions, Packed, ::testing::Values("2", "4"));

}  // namespace
}  // namespace kiln::plugins::testing
