#include "onnx/test_run.h"

namespace kiln::onnx {
namespace {

using namespace test;
using Doubles = std::vector<double>;

constexpr int64_t kInt32 = 6;

/// Words 2 and 3 and the pairs (2, 3) and (3, 5); the outputs 3, 0, 1 and 4. Output 2 has no n-gram.
Doubles counted(std::string_view mode, int64_t skips, const Proto& weights = int_attribute("unused", 0)) {
  const Fed x = fed_ints(kInt32, DType::kI32, {2, 5}, {2, 3, 2, 5, 3, 3, 9, 5, 2, 3});
  return numbers_of(run_nodes(
      {node(
          "TfIdfVectorizer", {"a"}, {"y"}, "t",
          {text_attribute("mode", mode), int_attribute("min_gram_length", 1), int_attribute("max_gram_length", 2),
           int_attribute("max_skip_count", skips), ints_attribute("ngram_counts", {0, 2}),
           ints_attribute("ngram_indexes", {3, 0, 1, 4}), ints_attribute("pool_int64s", {2, 3, 2, 3, 3, 5}), weights})},
      {x}));
}
Proto weights_attribute(std::initializer_list<float> weights) {
  Proto out = attribute("weights", 6);
  for (const float weight : weights) out.fixed(field::attribute::kFloats, weight);
  return out;
}

TEST(ImportTfIdfVectorizer, CountsNGramsWithNumbersLeftOut) {
  // The rows are 2 3 2 5 3 and 3 9 5 2 3.
  EXPECT_EQ(counted("TF", 0), (Doubles{2, 1, 0, 2, 0, 2, 1, 0, 1, 0}));
  EXPECT_EQ(counted("TF", 1), (Doubles{2, 2, 0, 2, 1, 2, 1, 0, 1, 1}));
}
TEST(ImportTfIdfVectorizer, Weighs) {
  const Proto weights = weights_attribute({0.5, 2, 3, 4});  // of outputs 3, 0, 1 and 4
  EXPECT_EQ(counted("TFIDF", 0, weights), (Doubles{4, 3, 0, 1, 0, 4, 3, 0, 0.5, 0}));
  EXPECT_EQ(counted("IDF", 0, weights), (Doubles{2, 3, 0, 0.5, 0, 2, 3, 0, 0.5, 0}));
}
TEST(ImportTfIdfVectorizer, SaysWhatIsWrong) {
  const auto of = [](const Proto& pool, const Proto& counts) {
    return import_node(
        node("TfIdfVectorizer", {"x"}, {"y"}, "t",
             {text_attribute("mode", "TF"), int_attribute("min_gram_length", 1), int_attribute("max_gram_length", 2),
              int_attribute("max_skip_count", 0), ints_attribute("ngram_indexes", {0, 1}), pool, counts}),
        {value("x", kInt32, {4})});
  };
  EXPECT_EQ(of(ints_attribute("pool_int64s", {1, 2, 3}), ints_attribute("ngram_counts", {0, 2})),
            "node 't' (TfIdfVectorizer) of x i32[4]: ngram_counts is [0, 2] of a pool of 3; entry 1 leaves no whole "
            "2-grams\n");
  EXPECT_EQ(of(attribute("pool_strings", 8).text(field::attribute::kStrings, "a"), ints_attribute("ngram_counts", {0})),
            "node 't' (TfIdfVectorizer) of x i32[4]: pool_strings: strings are not in Kiln\n");
}

}  // namespace
}  // namespace kiln::onnx
