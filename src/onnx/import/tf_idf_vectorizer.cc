#include <algorithm>

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/concatenation.h"
#include "ops/gather.h"

namespace kiln::onnx::importers {
namespace {

/// The n-grams of one length, [count, length] numbers, of which the first is number `first` of all.
struct Grams {
  int64_t length, count, first;
  std::vector<int64_t> numbers;
};

Result<std::vector<Grams>> grams_of_pool(ImportContext& cx) {
  const Ints starts = TRY(cx.node().need_ints("ngram_counts"));
  TRY(require(!cx.node().find("pool_strings"), "pool_strings: strings are not in Kiln"));
  const Ints pool = TRY(cx.node().need_ints("pool_int64s"));
  std::vector<Grams> result;
  int64_t first = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    const auto length = static_cast<int64_t>(i) + 1;
    const int64_t begin = starts[i], end = i + 1 < starts.size() ? starts[i + 1] : static_cast<int64_t>(pool.size());
    TRY(require(begin >= 0 && begin <= end && end <= static_cast<int64_t>(pool.size()) && (end - begin) % length == 0,
                "ngram_counts is ", starts, " of a pool of ", pool.size(), "; entry ", i, " leaves no whole ", length,
                "-grams"));
    result.push_back({length, (end - begin) / length, first, {pool.begin() + begin, pool.begin() + end}});
    first += result.back().count;
  }
  return result;
}

/// How often each of the n-grams stands in the rows of x, [rows, length], with `skip` numbers left out between two of
/// its own: f32 [rows, n-grams]; kNone where no such n-gram fits.
Result<ValueId> occurrences(ImportContext& cx, ValueId x, const Grams& grams, int64_t skip) {
  const int64_t length = cx.extent(x, 1).value(), step = skip + 1;
  if (length <= step * (grams.length - 1) || grams.count == 0) return ValueId::kNone;
  const int64_t places = length - step * (grams.length - 1);
  ValueId stands = ValueId::kNone;
  for (int64_t i = 0; i < grams.length; ++i) {
    Ints wanted;
    for (int64_t gram = 0; gram < grams.count; ++gram)
      wanted.push_back(grams.numbers[static_cast<size_t>(gram * grams.length + i)]);
    const ValueId numbers = cx.add_constant(HostTensor::of_ints(DType::kI64, {1, 1, grams.count}, wanted));
    const ValueId at = TRY(unsqueeze(cx, TRY(slice(cx, x, {{i * step}, {places}, {1}, {1}})), {2}));
    const ValueId equal = TRY(binary(cx, ElementWiseKind::kEqual, at, numbers));
    stands = stands == ValueId::kNone ? equal : TRY(binary(cx, ElementWiseKind::kAnd, stands, equal));
  }
  return reduce(cx, ReduceKind::kSum, TRY(cast(cx, stands, DType::kF32)), {1}, false);
}

/// The counts of all n-grams whose length the node asks for, in the order of their outputs: f32 [rows, outputs].
Result<ValueId> counts_of_outputs(ImportContext& cx, ValueId x, const Ints& outputs) {
  const int64_t least = TRY(cx.node().need_int("min_gram_length")), most = TRY(cx.node().need_int("max_gram_length"));
  const int64_t max_skip = TRY(cx.node().need_int("max_skip_count"));
  TRY(require(least >= 1 && least <= most && max_skip >= 0, "min_gram_length is ", least, ", max_gram_length ", most,
              " and max_skip_count ", max_skip));
  Values parts;
  Ints gram_of_output(static_cast<size_t>(1 + *std::ranges::max_element(outputs)), -1);
  int64_t column = 0;
  for (const Grams& grams : TRY(grams_of_pool(cx))) {
    if (grams.length < least || grams.length > most) continue;
    ValueId sum = ValueId::kNone;
    for (int64_t skip = 0; skip <= (grams.length == 1 ? 0 : max_skip); ++skip) {
      const ValueId found = TRY(occurrences(cx, x, grams, skip));
      if (found == ValueId::kNone) break;
      sum = sum == ValueId::kNone ? found : TRY(binary(cx, ElementWiseKind::kSum, sum, found));
    }
    if (sum == ValueId::kNone) continue;
    parts.push_back(sum);
    TRY(require(grams.first + grams.count <= static_cast<int64_t>(outputs.size()), "ngram_indexes has ", outputs.size(),
                " entries; there are ", grams.first + grams.count, " n-grams or more"));
    for (int64_t gram = 0; gram < grams.count; ++gram)
      gram_of_output[static_cast<size_t>(outputs[static_cast<size_t>(grams.first + gram)])] = column++;
  }
  // An output without an n-gram has a column of zeros behind all others.
  parts.push_back(TRY(expand(cx, scalar_of(cx, 0, DType::kF32, 2), {cx.extent(x, 0), 1})));
  std::ranges::replace(gram_of_output, -1, column);
  const auto count = static_cast<int64_t>(gram_of_output.size());
  const ValueId order = cx.add_constant(HostTensor::of_ints(DType::kI64, {count}, gram_of_output));
  const ValueId all = parts.size() == 1 ? parts[0] : TRY(cx.add(ops::Concatenation{1}, parts));
  return cx.add(ops::Gather{GatherMode::kDefault, 1, 0}, {all, order});
}

}  // namespace

Status tf_idf_vectorizer(ImportContext& cx) {
  const ValueId given = TRY(cx.input(0));
  const int rank = cx.rank(given);
  TRY(require((rank == 1 || rank == 2) && cx.extent(given, rank - 1).is_const(), "x is ", cx.type(given),
              "; one axis, or two, of which the last has a constant extent, are needed"));
  ValueId x = TRY(cast(cx, given, DType::kI64));
  if (rank == 1) x = TRY(unsqueeze(cx, x, {0}));
  const Ints outputs = TRY(cx.node().need_ints("ngram_indexes"));
  constexpr int64_t kMostOutputs = 1 << 24;
  TRY(require(!outputs.empty() && std::ranges::all_of(outputs, [](int64_t i) { return i >= 0 && i < kMostOutputs; }),
              "ngram_indexes is ", outputs, "; numbers of outputs are needed"));
  ValueId y = TRY(counts_of_outputs(cx, x, outputs));
  const std::string_view mode = TRY(cx.node().need_string("mode"));
  TRY(require(mode == "TF" || mode == "IDF" || mode == "TFIDF", "mode is '", mode, "'; TF, IDF or TFIDF is needed"));
  if (mode == "IDF") y = TRY(cast(cx, TRY(binary(cx, ElementWiseKind::kGreater, y, 0)), DType::kF32));
  const std::vector<float> weights = TRY(cx.node().get_floats("weights", {}));
  if (mode != "TF" && !weights.empty()) {
    TRY(require(weights.size() == outputs.size(), "there are ", weights.size(), " weights; ", outputs.size(),
                " are needed"));
    std::vector<double> of_output(static_cast<size_t>(1 + *std::ranges::max_element(outputs)), 0);
    for (size_t i = 0; i < outputs.size(); ++i) of_output[static_cast<size_t>(outputs[i])] = weights[i];
    const auto count = static_cast<int64_t>(of_output.size());
    y = TRY(binary(cx, ElementWiseKind::kProd, y, cx.add_constant(HostTensor::of(DType::kF32, {1, count}, of_output))));
  }
  return cx.output(rank == 1 ? TRY(reshape(cx, y, {cx.extent(y, 1)})) : y);
}

}  // namespace kiln::onnx::importers
