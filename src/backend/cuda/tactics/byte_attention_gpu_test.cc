// Attention whose operands are dequantized, by every variant of its tactic, against the ops' references in FP32; on a
// machine with a GPU only.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "backend/cuda/tactics/attention.h"
#include "backend/cuda/testing/on_gpu.h"
#include "ops/dequantize.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/quantize.h"
#include "ops/softmax.h"
#include "ops/transpose.h"
#include "tensor/view.h"

namespace kiln::cuda {
namespace {

constexpr DType kF32 = DType::kF32, kF16 = DType::kF16, kBF16 = DType::kBF16, kF8 = DType::kF8E4M3, kI8 = DType::kI8;

enum class Masked : uint8_t { kNo, kEachKey, kHidesAllOfARow };
struct ByteCase {
  const char* name;
  int64_t batch, heads, queries, keys, depth;
  Masked masked = Masked::kNo;
  bool rows_first = false;  ///< q, k, v and the result as [batch, row, head, channel]
};
/// What is around the case's products.
struct Types {
  DType bytes, floats;
  bool rounds = false;               ///< the softmax's result goes through bytes, too
  std::optional<DType> result = {};  ///< bytes that the result is quantized to
};

/// The scale of bytes that stand for numbers of about one.
double scale_of(DType bytes) { return bytes == kF8 ? 1.0 / 64 : 1.0 / 40; }
double weight_scale_of(DType bytes) { return bytes == kF8 ? 1.0 / 448 : 1.0 / 127; }

HostTensor random_bytes(DType type, const Extents& extents, uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal(0, 1 / scale_of(type));
  std::vector<double> values;
  std::vector<int64_t> integers;
  for (int64_t i = 0; i < volume(extents); ++i) {
    values.push_back(normal(generator));
    integers.push_back(std::clamp<int64_t>(std::llround(values.back()), -128, 127));
  }
  return type == kF8 ? HostTensor::of(type, extents, values) : HostTensor::of_ints(type, extents, integers);
}

/// The network of a case; its floats are of `types.floats`, or all of FP32 with the same numbers.
struct ByteNet {
  ByteNet(const ByteCase& c, const Types& types, bool exact)
      : c(c), types(types), computed(exact ? kF32 : types.floats), net(computed, Net::Inputs::kNone) {
    const ir::ValueId q = operand(c.queries, 1), k = operand(c.keys, 2), v = operand(c.keys, 3);
    ir::ValueId at = net.add(ops::MatrixMultiply{ops::MatrixOp::kNone, ops::MatrixOp::kTranspose}, {q, k});
    at = net.add(ops::ElementWise{ops::ElementWiseKind::kProd},
                 {at, number(computed, View(HostTensor::scalar(types.floats, 1 / std::sqrt(c.depth)))[0])});
    if (c.masked != Masked::kNo) at = net.add(ops::ElementWise{ops::ElementWiseKind::kSum}, {at, mask()});
    at = net.add(ops::Softmax{.axis = 3}, {at});
    if (types.rounds) {
      const ir::ValueId scale = number(kF32, weight_scale_of(types.bytes));
      at = net.add(ops::Dequantize{computed}, {net.add(ops::Quantize{types.bytes}, {at, scale}), scale});
    }
    at = net.add(ops::MatrixMultiply{}, {at, v});
    if (c.rows_first) at = net.add(ops::Transpose{.perm = {0, 2, 1, 3}}, {at});
    if (types.result)
      at = net.add(ops::Quantize{*types.result}, {at, number(kF32, *types.result == kF8 ? 0.005 : 0.0125)});
    net.finish(at);
  }
  ir::ValueId number(DType type, double value) {
    return net.graph.add_constant(HostTensor::of(type, {1, 1, 1, 1}, std::span(&value, 1)));
  }
  ir::ValueId operand(int64_t rows, uint64_t seed) {
    const Extents extents =
        c.rows_first ? Extents{c.batch, rows, c.heads, c.depth} : Extents{c.batch, c.heads, rows, c.depth};
    net.inputs.push_back(random_bytes(types.bytes, extents, seed));
    ir::ValueId x = net.graph.add_input(str("x", seed), tensor_type(types.bytes, extents));
    if (c.rows_first) x = net.add(ops::Transpose{.perm = {0, 2, 1, 3}}, {x});
    return net.add(ops::Dequantize{computed}, {x, number(kF32, scale_of(types.bytes))});
  }
  ir::ValueId mask() {
    const bool each_query = c.masked == Masked::kHidesAllOfARow;
    const Extents extents{c.batch, 1, each_query ? c.queries : 1, c.keys};
    std::vector<double> values;
    for (int64_t b = 0; b < extents[0]; ++b)
      for (int64_t i = 0; i < extents[2]; ++i)
        for (int64_t j = 0; j < c.keys; ++j)
          values.push_back(each_query ? (i == 1 ? -INFINITY : 0.25 * static_cast<double>(j % 3))
                                      : (j >= c.keys - 1 - b ? -1e4 : 0));
    net.inputs.push_back(HostTensor::of(computed, extents, values));
    return net.graph.add_input("mask", tensor_type(computed, extents));
  }

  ByteCase c;
  Types types;
  DType computed;
  Net net;
};

class ByteAttentionOnGpu : public OnGpu {
 protected:
  /// Numbers are the reference's within a tolerance; bytes, and sums of weights that are rounded, may be so but for a
  /// level where a number falls beside a tie, which few do.
  static void expect_near(const HostTensor& result, const HostTensor& expected, const Types& types,
                          const std::string& name) {
    const View got(result), wanted(expected);
    ASSERT_EQ(result.dtype(), types.result.value_or(types.floats)) << name;
    double largest = 0;
    for (int64_t i = 0; i < wanted.volume(); ++i)
      if (!std::isnan(wanted[i])) largest = std::max(largest, std::abs(wanted[i]));
    const double near = largest * (types.floats == kBF16 ? 1e-2 : 4e-3);
    const double rounding = types.rounds ? largest * 0.03 : 0;
    int64_t off = 0;
    for (int64_t i = 0; i < wanted.volume(); ++i) {
      if (std::isnan(wanted[i])) {
        ASSERT_TRUE(std::isnan(got[i])) << name << " at " << i;
        continue;
      }
      const double level = !types.result ? 0 : *types.result == kF8 ? std::abs(wanted[i]) / 7.9 + 0.002 : 1;
      ASSERT_NEAR(got[i], wanted[i], near + rounding + level) << name << " at " << i;
      off += std::abs(got[i] - wanted[i]) > (types.result ? 0 : near);
    }
    const double share = types.result ? (types.floats == kBF16 ? 0.2 : 0.15) : types.rounds ? 0.02 : 0;
    EXPECT_LE(static_cast<double>(off), share * static_cast<double>(wanted.volume())) << name;
  }
  static void check(const ByteCase& c, const Types& types) {
    const std::string name = str(c.name, ", ", types.bytes, " among ", types.floats, types.rounds ? ", rounded" : "",
                                 types.result ? str(" to ", *types.result) : "");
    const ByteNet made(c, types, false), exact(c, types, true);
    const auto expected = ir::interpret(exact.net.graph, exact.net.inputs);
    ASSERT_TRUE(expected) << name << ": " << expected.error().message;
    const auto ran =
        run_variants(*gpu_, made.net.graph, byte_attention_tactic(), made.net.inputs, {.numerics = {.tf32 = true}});
    ASSERT_TRUE(ran) << name << ": " << ran.error().message;
    ASSERT_FALSE(ran->empty()) << name;
    for (const RanVariant& variant : *ran) {
      ASSERT_EQ(variant.failure, "") << name << ", " << variant.name;
      ASSERT_NO_FATAL_FAILURE(expect_near(variant.result, (*expected)[0], types, str(name, ", ", variant.name)));
    }
  }
};

constexpr ByteCase kCases[] = {
    {"heads of 64", 2, 3, 128, 128, 64},
    {"rows first", 2, 4, 100, 100, 64, Masked::kEachKey, true},
    {"deep", 1, 2, 130, 200, 128, Masked::kNo, true},
    {"odd lengths", 1, 3, 33, 77, 32, Masked::kEachKey},
    {"odd depth", 1, 2, 20, 19, 13},
    {"depth of 80", 1, 2, 65, 130, 80, Masked::kEachKey, true},
    {"depth of 20", 2, 2, 40, 70, 20, Masked::kNo, true},
    {"depth of 18", 2, 2, 40, 70, 18},
    {"one query", 3, 2, 1, 200, 64, Masked::kEachKey},
    {"one key", 1, 1, 5, 1, 16},
    {"a query that sees nothing", 1, 2, 9, 40, 64, Masked::kHidesAllOfARow},
};

TEST_F(ByteAttentionOnGpu, AgreesWithItsParts) {
  for (const DType bytes : {kI8, kF8})
    for (const DType floats : {kF16, kBF16, kF32})
      for (const ByteCase& c : kCases) check(c, {bytes, floats});
}
TEST_F(ByteAttentionOnGpu, RoundsWeightsAsTheirQuantizeDoes) {
  for (const DType bytes : {kI8, kF8})
    for (const DType floats : {kF16, kF32})
      for (const ByteCase& c : kCases) check(c, {bytes, floats, true});
}
TEST_F(ByteAttentionOnGpu, QuantizesItsResult) {
  for (const DType bytes : {kI8, kF8})
    for (const bool rounds : {false, true})
      for (const ByteCase& c : kCases)
        if (c.masked != Masked::kHidesAllOfARow && c.keys > 1)  // one key is all ties: its values are bytes themselves
          check(c, {bytes, kF16, rounds, bytes});
}

/// A query of zeros weighs its four keys alike: 0.25 is 31.75 of 127, rounded 32, so values 1, 2, 3 and 4 (by 1/40)
/// give 32 / 127 * 10 / 40.
TEST_F(ByteAttentionOnGpu, HasTheNumbersOfPaper) {
  const ByteCase c{"paper", 1, 1, 1, 4, 16};
  for (const bool rounds : {false, true}) {
    ByteNet made(c, {kI8, kF32, rounds}, false);
    made.net.inputs[0] = HostTensor::of_ints(kI8, {1, 1, 1, 16}, std::vector<int64_t>(16, 0));
    std::vector<int64_t> values;
    for (int64_t key = 1; key <= 4; ++key) values.insert(values.end(), 16, key);
    made.net.inputs[2] = HostTensor::of_ints(kI8, {1, 1, 4, 16}, values);
    const auto ran =
        run_variants(*gpu_, made.net.graph, byte_attention_tactic(), made.net.inputs, {.numerics = {.tf32 = true}});
    ASSERT_TRUE(ran) << ran.error().message;
    ASSERT_FALSE(ran->empty());
    for (const RanVariant& variant : *ran) {
      ASSERT_EQ(variant.failure, "") << variant.name;
      for (int64_t i = 0; i < 16; ++i)
        EXPECT_NEAR(View(variant.result)[i], (rounds ? 32.0 / 127 : 0.25) * 10 / 40, 1e-6) << variant.name;
    }
  }
}

/// The same attention of halves, by the tactic of floats.
Net net_of_halves(const ByteCase& c) {
  Net net(kF16, Net::Inputs::kNone);
  const auto operand = [&](int64_t rows) {
    return net.add(ops::Transpose{.perm = {0, 2, 1, 3}}, {net.input({c.batch, rows, c.heads, c.depth})});
  };
  const ir::ValueId q = operand(c.queries), k = operand(c.keys), v = operand(c.keys);
  ir::ValueId at = net.add(ops::MatrixMultiply{ops::MatrixOp::kNone, ops::MatrixOp::kTranspose}, {q, k});
  if (c.masked != Masked::kNo)
    at = net.add(ops::ElementWise{ops::ElementWiseKind::kSum},
                 {at, net.graph.add_input("mask", tensor_type(kF16, Extents{c.batch, 1, 1, c.keys}))});
  at = net.add(ops::MatrixMultiply{}, {net.add(ops::Softmax{.axis = 3}, {at}), v});
  net.finish(net.add(ops::Transpose{.perm = {0, 2, 1, 3}}, {at}));
  return net;
}

// Run with --gtest_also_run_disabled_tests --gtest_filter='*ByteAttentionOnGpu*Rates'.
TEST_F(ByteAttentionOnGpu, DISABLED_Rates) {
  const ByteCase cases[] = {{"bert_large, 8 x 384", 8, 16, 384, 384, 64, Masked::kEachKey, true},
                            {"bert_large, 32 x 384", 32, 16, 384, 384, 64, Masked::kEachKey, true},
                            {"vit_b_16, batch 8", 8, 12, 197, 197, 64, Masked::kNo, true},
                            {"vit_b_16, batch 32", 32, 12, 197, 197, 64, Masked::kNo, true}};
  const VariantRun timed{.timed = true, .made_up = true, .optimization_level = 5};
  for (const ByteCase& c : cases) {
    const double flops = 4.0 * static_cast<double>(c.batch * c.heads * c.queries * c.keys * c.depth);
    const auto print = [&](const std::string& what, const ir::Graph& graph, const Tactic& tactic) {
      auto ran = run_variants(*gpu_, graph, tactic, {}, timed);
      ASSERT_TRUE(ran) << what << ": " << ran.error().message;
      print_rates(str(c.name, ", ", what), flops, std::move(*ran));
    };
    print("f16", net_of_halves(c).graph, attention_tactic());
    for (const DType bytes : {kI8, kF8})
      for (const bool rounds : {false, true})
        print(str(bytes, rounds ? ", weights rounded" : ""), ByteNet(c, {bytes, kF16, rounds}, false).net.graph,
              byte_attention_tactic());
  }
}

}  // namespace
}  // namespace kiln::cuda
