// Attention by every variant of its tactic, against the references of the ops it is made of; on a machine with a GPU
// only.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "backend/cuda/tactics/attention.h"
#include "backend/cuda/testing/on_gpu.h"
#include "ops/concatenation.h"
#include "ops/element_wise.h"
#include "ops/expand.h"
#include "ops/matrix_multiply.h"
#include "ops/reshape.h"
#include "ops/select.h"
#include "ops/slice.h"
#include "ops/softmax.h"
#include "ops/transpose.h"
#include "ops/unary.h"
#include "tensor/numeric.h"
#include "tensor/view.h"

namespace kiln::cuda {
namespace {

using ops::MatrixOp;

/// kLeast: by the least number of the type, all of the first row and a part of the others; a constant, as one of a
/// network in FP32 that is built in halves.
enum class Masked : uint8_t { kNo, kEachKey, kCausal, kHidesAllOfARow, kLeast };
struct AttentionCase {
  const char* name;
  DType type;
  int64_t batch, heads, queries, keys, depth;
  Masked masked = Masked::kNo;
  bool rows_first = false;  ///< q, k, v and the result as [batch, row, head, channel]
  bool joined = false;      ///< q, k and v side by side in one tensor; queries are as many as keys
  bool tf32 = false;        ///< allowed
  int64_t kv_heads = 0;     ///< that k and v have, repeated for neighbouring heads; 0: as many as q
  bool guarded = false;     ///< weights that are NaN become zeros
};

double least_of(DType type) {
  return type == DType::kF16    ? -double{kLargestHalf}
         : type == DType::kBF16 ? -double{kLargestBf16}
                                : std::numeric_limits<float>::lowest();
}

HostTensor mask_of(const AttentionCase& c) {
  const double hides = c.masked == Masked::kEachKey ? -1e4 : c.masked == Masked::kLeast ? least_of(c.type) : -INFINITY;
  const bool each_query = c.masked != Masked::kEachKey;
  const Extents extents{each_query ? 1 : c.batch, 1, each_query ? c.queries : 1, c.keys};
  std::vector<double> values;
  for (int64_t b = 0; b < extents[0]; ++b)
    for (int64_t i = 0; i < extents[2]; ++i)
      for (int64_t j = 0; j < c.keys; ++j) {
        bool hidden = c.masked == Masked::kEachKey ? j >= c.keys - 1 - b : j > i + c.keys - c.queries;
        if (c.masked == Masked::kHidesAllOfARow) hidden = i == 1;
        if (c.masked == Masked::kLeast) hidden = i == 0 || j < c.keys / 3;
        values.push_back(hidden ? hides : 0);
      }
  return HostTensor::of(c.type, extents, values);
}

Net attention_net(const AttentionCase& c) {
  Net net(c.type);
  const ir::ValueId all = c.joined ? net.input({c.batch, c.queries, 3 * c.heads * c.depth}) : ir::ValueId::kNone;
  const auto operand = [&](int64_t rows, int64_t index) {
    if (c.joined) {
      const int64_t width = c.heads * c.depth;
      const ir::ValueId part = net.add(ops::Slice{{index * width}, {width}, {1}, {2}}, {all});
      const ir::ValueId heads = net.add(ops::Reshape{.dims = {c.batch, rows, c.heads, c.depth}}, {part});
      return net.add(ops::Transpose{.perm = {0, 2, 1, 3}}, {heads});
    }
    if (c.kv_heads > 0 && index > 0) {
      const int64_t each = c.heads / c.kv_heads;
      const ir::ValueId stored = net.input({c.batch, c.kv_heads, 1, rows, c.depth});
      const ir::ValueId wide = net.add(ops::Expand{{c.batch, c.kv_heads, each, rows, c.depth}}, {stored});
      return net.add(ops::Reshape{.dims = {c.batch, c.heads, rows, c.depth}}, {wide});
    }
    if (!c.rows_first) return net.input({c.batch, c.heads, rows, c.depth});
    const ir::ValueId stored = net.input({c.batch, rows, c.heads, c.depth});
    return net.add(ops::Transpose{.perm = {0, 2, 1, 3}}, {stored});
  };
  const ir::ValueId q = operand(c.queries, 0), k = operand(c.keys, 1), v = operand(c.keys, 2);
  ir::ValueId at = net.add(ops::MatrixMultiply{MatrixOp::kNone, MatrixOp::kTranspose}, {q, k});
  const double scale = 1 / std::sqrt(static_cast<double>(c.depth));
  const ir::ValueId factor = net.graph.add_constant(HostTensor::of(c.type, {1, 1, 1, 1}, std::span(&scale, 1)));
  at = net.add(ops::ElementWise{ops::ElementWiseKind::kProd}, {at, factor});
  if (c.masked != Masked::kNo) {
    const HostTensor mask = mask_of(c);
    ir::ValueId added = ir::ValueId::kNone;
    if (c.masked == Masked::kLeast) {
      added = net.graph.add_constant(mask);
    } else {
      net.inputs.push_back(mask);
      added = net.graph.add_input("mask", tensor_type(c.type, mask.extents()));
    }
    at = net.add(ops::ElementWise{ops::ElementWiseKind::kSum}, {at, added});
  }
  at = net.add(ops::Softmax{.axis = 3}, {at});
  if (c.guarded) {
    const double zero = 0;
    const ir::ValueId zeros = net.graph.add_constant(HostTensor::of(c.type, {1, 1, 1, 1}, std::span(&zero, 1)));
    at = net.add(ops::Select{}, {net.add(ops::Unary{ops::UnaryKind::kIsNan}, {at}), zeros, at});
  }
  at = net.add(ops::MatrixMultiply{}, {at, v});
  if (c.rows_first) at = net.add(ops::Transpose{.perm = {0, 2, 1, 3}}, {at});
  net.finish(at);
  return net;
}

/// The tactic, told that the mask is the causal one, as a matcher that recognises it would say.
class CausalAttention final : public Tactic {
 public:
  std::string_view name() const override { return "causal attention"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    Match region = attention_tactic().match(cx, root);
    if (!region) return region;
    region->inputs[3] = ir::ValueId::kNone;
    region->data.set("causal", true);
    return region;
  }
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    return attention_tactic().variants(cx, region);
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    return attention_tactic().compile(cx, region, variant);
  }
};

class AttentionOnGpu : public OnGpu {
 protected:
  static void compare(const AttentionCase& c, const Tactic& tactic) {
    // The parts round scores and weights, hence these tolerances.
    const double tolerance = c.tf32 ? 2e-3 : c.type == DType::kF32 ? 5e-6 : c.type == DType::kF16 ? 5e-3 : 4e-2;
    expect_agreement(c.name, attention_net(c), tactic, tolerance,
                     {.numerics = {.tf32 = c.tf32, .fp16 = c.masked == Masked::kLeast}});
  }
};

TEST_F(AttentionOnGpu, AgreesWithItsParts) {
  constexpr DType kF16 = DType::kF16, kBF16 = DType::kBF16, kF32 = DType::kF32;
  const AttentionCase cases[] = {
      {"heads of 64", kF16, 2, 3, 128, 128, 64},
      {"rows first", kF16, 2, 4, 100, 100, 64, Masked::kEachKey, true},
      {"causal", kBF16, 1, 2, 130, 130, 128, Masked::kCausal},
      {"odd lengths", kF16, 1, 3, 33, 77, 32, Masked::kCausal},
      {"odd depth", kF16, 1, 2, 20, 19, 13},
      {"depth of 80", kBF16, 1, 2, 65, 130, 80, Masked::kEachKey, true},
      {"one query", kF16, 3, 2, 1, 200, 64, Masked::kEachKey},
      {"one key", kF16, 1, 1, 5, 1, 16},
      {"exact", kF32, 2, 3, 70, 130, 64, Masked::kEachKey, true},
      {"exact, odd", kF32, 1, 2, 5, 21, 33},
      {"a query that sees nothing", kF16, 1, 2, 9, 40, 64, Masked::kHidesAllOfARow},
      {"least numbers", kF16, 2, 3, 128, 128, 64, Masked::kLeast},
      {"least numbers, odd", kBF16, 1, 2, 20, 19, 13, Masked::kLeast},
      {"least numbers, many keys", kBF16, 1, 2, 65, 700, 64, Masked::kLeast},
      {"least numbers, one query", kF16, 3, 2, 1, 200, 64, Masked::kLeast},
      {"least numbers, exact", kF32, 1, 2, 70, 130, 64, Masked::kLeast},
      {"least numbers, tf32", kF32, 1, 2, 70, 130, 64, Masked::kLeast, false, false, true},
      {"joined", kF16, 2, 3, 128, 128, 64, Masked::kEachKey, true, true},
      {"joined, of odd lengths", kBF16, 2, 2, 77, 77, 80, Masked::kNo, true, true},
      {"joined, exact", kF32, 2, 3, 70, 70, 64, Masked::kEachKey, true, true},
      {"joined, of odd depth", kF16, 2, 2, 20, 20, 13, Masked::kCausal, true, true},
  };
  for (const AttentionCase& c : cases) compare(c, attention_tactic());
}
/// The tensor with NaN at one place.
HostTensor with_nan(const HostTensor& x, int64_t at) {
  std::vector<double> numbers = View(x).numbers();
  numbers[static_cast<size_t>(at)] = NAN;
  return HostTensor::of(x.dtype(), x.extents(), numbers);
}
TEST_F(AttentionOnGpu, NaNGivesNaNInItsRowAlone) {
  constexpr DType kF16 = DType::kF16, kBF16 = DType::kBF16, kF32 = DType::kF32;
  AttentionCase cases[] = {
      {"heads of 64", kF16, 2, 3, 128, 128, 64, Masked::kHidesAllOfARow},
      {"bf16", kBF16, 1, 2, 130, 300, 64, Masked::kHidesAllOfARow},
      {"odd", kBF16, 1, 2, 20, 19, 13, Masked::kHidesAllOfARow},
      {"one query", kF16, 3, 2, 1, 200, 64, Masked::kEachKey},
      {"exact", kF32, 2, 3, 70, 130, 64, Masked::kHidesAllOfARow},
      {"tf32", kF32, 2, 3, 70, 130, 64, Masked::kHidesAllOfARow, false, false, true},
  };
  for (AttentionCase& c : cases)
    for (const bool guarded : {false, true}) {
      c.guarded = guarded;
      const double tolerance = c.tf32 ? 2e-3 : c.type == kF32 ? 5e-6 : c.type == kF16 ? 5e-3 : 4e-2;
      const VariantRun run{.numerics = {.tf32 = c.tf32}};
      const std::string name = str(c.name, guarded ? ", guarded" : "");
      Net of_mask = attention_net(c), of_query = attention_net(c);
      of_mask.inputs.back() = with_nan(of_mask.inputs.back(), c.keys / 2);
      expect_agreement(name + ", a mask", of_mask, attention_tactic(), tolerance, run);
      of_query.inputs.front() = with_nan(of_query.inputs.front(), (c.queries - 1) * c.depth + 1);
      expect_agreement(name + ", a query", of_query, attention_tactic(), tolerance, run);
    }
}
TEST_F(AttentionOnGpu, CausalKernelsAgreeWithTheMask) {
  constexpr DType kF16 = DType::kF16, kBF16 = DType::kBF16, kF32 = DType::kF32;
  const AttentionCase cases[] = {
      {"causal", kBF16, 1, 2, 130, 130, 128, Masked::kCausal},
      {"rows first", kF16, 2, 3, 300, 300, 64, Masked::kCausal, true},
      {"keys before", kF16, 1, 2, 65, 200, 64, Masked::kCausal},
      {"odd", kF16, 2, 1, 21, 33, 24, Masked::kCausal},
      {"exact", kF32, 1, 2, 150, 150, 80, Masked::kCausal},
  };
  for (const AttentionCase& c : cases) compare(c, CausalAttention());
}
TEST_F(AttentionOnGpu, HeadsMayShareTheirKeys) {
  AttentionCase cases[] = {
      {"four of sixteen", DType::kF16, 2, 16, 200, 200, 64, Masked::kCausal},
      {"one query", DType::kF16, 2, 8, 1, 300, 64, Masked::kEachKey},
      {"deep", DType::kBF16, 1, 8, 70, 130, 128},
      {"exact", DType::kF32, 2, 8, 20, 40, 33, Masked::kEachKey},
  };
  for (AttentionCase& c : cases) {
    c.kv_heads = 4;
    compare(c, attention_tactic());
  }
}
/// Keys and values are a layer's cache with new ones behind it, which lie in a tensor with the queries.
TEST_F(AttentionOnGpu, KeysMayBeJoinedOfTwoTensors) {
  struct Joined {
    const char* name;
    DType type;
    int64_t batch, heads, kv_heads, queries, before, depth;
    bool tf32 = false;
  };
  constexpr DType kF16 = DType::kF16, kBF16 = DType::kBF16, kF32 = DType::kF32;
  for (const Joined& c : {Joined{"a token", kF16, 2, 8, 2, 1, 300, 64},
                          {"three tokens", kBF16, 1, 6, 6, 3, 77, 32},
                          {"many keys", kF16, 1, 4, 1, 1, 1100, 128},
                          {"nothing before", kF16, 2, 4, 4, 5, 0, 64},
                          {"odd", kF16, 1, 3, 3, 2, 31, 24},
                          {"in TF32", kF32, 2, 4, 2, 1, 90, 64, true}}) {
    Net net(c.type);
    const int64_t width = (c.heads + 2 * c.kv_heads) * c.depth, each = c.heads / c.kv_heads,
                  keys = c.before + c.queries;
    const ir::ValueId all = net.input({c.batch, c.queries, width});
    const auto heads = [&](int64_t first, int64_t count) {
      const ir::ValueId part = net.add(ops::Slice{{first * c.depth}, {count * c.depth}, {1}, {2}}, {all});
      const ir::ValueId split = net.add(ops::Reshape{.dims = {c.batch, c.queries, count, c.depth}}, {part});
      return net.add(ops::Transpose{.perm = {0, 2, 1, 3}}, {split});
    };
    const auto joined = [&](int64_t first) {
      const auto cache_of = [&] {
        if (c.before == 0) return net.input({c.batch, c.kv_heads, 0, c.depth});  // no view leads through no elements
        const ir::ValueId caches = net.input({3, c.batch, c.kv_heads, c.before, c.depth});
        const ir::ValueId layer = net.add(ops::Slice{{1}, {1}, {1}, {0}}, {caches});
        return net.add(ops::Reshape{.dims = {c.batch, c.kv_heads, c.before, c.depth}}, {layer});
      };
      const ir::ValueId cache = cache_of();
      const ir::ValueId rows = net.add(ops::Concatenation{2}, {cache, heads(first, c.kv_heads)});
      const ir::ValueId apart = net.add(ops::Reshape{.dims = {c.batch, c.kv_heads, 1, keys, c.depth}}, {rows});
      const ir::ValueId wide = net.add(ops::Expand{{c.batch, c.kv_heads, each, keys, c.depth}}, {apart});
      return net.add(ops::Reshape{.dims = {c.batch, c.heads, keys, c.depth}}, {wide});
    };
    const ir::ValueId q = heads(0, c.heads), k = joined(c.heads), v = joined(c.heads + c.kv_heads);
    const ir::ValueId dots = net.add(ops::MatrixMultiply{MatrixOp::kNone, MatrixOp::kTranspose}, {q, k});
    const double scale = 1 / std::sqrt(static_cast<double>(c.depth));
    const ir::ValueId factor = net.graph.add_constant(HostTensor::of(c.type, {1, 1, 1, 1}, std::span(&scale, 1)));
    const ir::ValueId scores = net.add(ops::ElementWise{ops::ElementWiseKind::kProd}, {dots, factor});
    const ir::ValueId y = net.add(ops::MatrixMultiply{}, {net.add(ops::Softmax{.axis = 3}, {scores}), v});
    net.finish(net.add(ops::Transpose{.perm = {0, 2, 1, 3}}, {y}));
    VariantRun options;
    options.numerics.tf32 = c.tf32;
    EXPECT_GT(expect_agreement(c.name, net, joined_attention_tactic(), c.type == kBF16 ? 2e-2 : 5e-3, options), 0);
  }
}
TEST_F(AttentionOnGpu, WindowsOfAPicture) {
  const Extents extents{2, 3, 49, 4, 32};
  Net net(DType::kF16);
  const auto operand = [&] { return net.add(ops::Transpose{.perm = {0, 3, 1, 2, 4}}, {net.input(extents)}); };
  const ir::ValueId q = operand(), k = operand(), v = operand();
  const HostTensor bias = random_tensor(DType::kF16, {1, 4, 1, 49, 49}, 9);
  net.inputs.push_back(bias);
  const ir::ValueId added = net.graph.add_input("bias", tensor_type(DType::kF16, bias.extents()));
  const ir::ValueId dots = net.add(ops::MatrixMultiply{MatrixOp::kNone, MatrixOp::kTranspose}, {q, k});
  const double scale = 1 / std::sqrt(32.0);
  const ir::ValueId factor = net.graph.add_constant(HostTensor::of(DType::kF16, {1, 1, 1, 1, 1}, std::span(&scale, 1)));
  const ir::ValueId scores = net.add(ops::ElementWise{ops::ElementWiseKind::kProd}, {dots, factor});
  const ir::ValueId masked = net.add(ops::ElementWise{ops::ElementWiseKind::kSum}, {scores, added});
  const ir::ValueId y = net.add(ops::MatrixMultiply{}, {net.add(ops::Softmax{.axis = 4}, {masked}), v});
  net.finish(net.add(ops::Transpose{.perm = {0, 2, 3, 1, 4}}, {y}));
  expect_agreement("windows", net, attention_tactic(), 5e-3);
}
TEST_F(AttentionOnGpu, Tf32AgreesWithItsParts) {
  AttentionCase cases[] = {
      {"heads of 64", DType::kF32, 2, 3, 128, 128, 64},
      {"rows first", DType::kF32, 2, 3, 70, 130, 64, Masked::kEachKey, true},
      {"odd", DType::kF32, 1, 2, 5, 21, 33, Masked::kCausal},
      {"small", DType::kF32, 3, 2, 40, 40, 16},
      {"joined", DType::kF32, 2, 3, 197, 197, 64, Masked::kEachKey, true, true},
      {"joined, deep", DType::kF32, 1, 2, 77, 77, 80, Masked::kNo, true, true},
      {"a query that sees nothing", DType::kF32, 1, 2, 9, 300, 128, Masked::kHidesAllOfARow},
  };
  for (AttentionCase& c : cases) {
    c.tf32 = true;
    compare(c, attention_tactic());
  }
  AttentionCase causal{"causal", DType::kF32, 1, 2, 150, 170, 80, Masked::kCausal};
  causal.tf32 = true;
  compare(causal, CausalAttention());
}
TEST_F(AttentionOnGpu, ConstantCausalMasksAreRecognised) {
  const AttentionCase c{"constant mask", DType::kF16, 1, 2, 70, 90, 64, Masked::kCausal};
  Net net(c.type);
  const ir::ValueId q = net.input({1, 2, 70, 64}), k = net.input({1, 2, 90, 64}), v = net.input({1, 2, 90, 64});
  const ir::ValueId scores = net.add(ops::MatrixMultiply{MatrixOp::kNone, MatrixOp::kTranspose}, {q, k});
  const ir::ValueId masked =
      net.add(ops::ElementWise{ops::ElementWiseKind::kSum}, {scores, net.graph.add_constant(mask_of(c))});
  net.finish(net.add(ops::MatrixMultiply{}, {net.add(ops::Softmax{.axis = 3}, {masked}), v}));
  const int all = expect_agreement(c.name, net, attention_tactic(), 5e-3);
  EXPECT_EQ(expect_agreement(c.name, net, attention_tactic(), 5e-3, {.only = "causal"}), all);
}

void print_rates(CudaDevice& gpu, const AttentionCase& c) {
  const CausalAttention causal;
  const bool is_causal = c.masked == Masked::kCausal;
  const Net net = attention_net(c);
  auto ran = run_variants(gpu, net.graph, is_causal ? static_cast<const Tactic&>(causal) : attention_tactic(),
                          net.inputs, {.numerics = {.tf32 = c.tf32}, .timed = true, .optimization_level = 3});
  ASSERT_TRUE(ran) << ran.error().message;
  std::ranges::sort(*ran, {}, &RanVariant::time_us);
  std::printf("%ld x %ld heads of %ld, %ld rows%s\n", c.batch, c.heads, c.depth, c.queries,
              is_causal ? ", causal" : "");
  const double flops = (is_causal ? 2.0 : 4.0) * static_cast<double>(c.batch * c.heads * c.queries * c.keys * c.depth);
  for (const RanVariant& v : *ran)
    std::printf("  %8.2f us %7.1f TFLOP/s  %s %s\n", v.time_us, 1e-6 * flops / v.time_us, v.name.c_str(),
                v.failure.c_str());
}

// Run with --gtest_also_run_disabled_tests --gtest_filter='*Rates*'; bench/cuda_attention/compare.py reads what it
// prints.
TEST_F(AttentionOnGpu, DISABLED_AttentionRates) {
  for (const auto& [batch, heads, rows, depth] : {std::array<int64_t, 4>{1, 12, 128, 64},
                                                  {1, 12, 197, 64},
                                                  {8, 16, 512, 64},
                                                  {2, 16, 2048, 64},
                                                  {1, 16, 4096, 64},
                                                  {8, 16, 512, 128},
                                                  {2, 16, 2048, 128},
                                                  {1, 16, 4096, 128}})
    for (const Masked masked : {Masked::kNo, Masked::kCausal})
      print_rates(*gpu_, {"", DType::kF16, batch, heads, rows, rows, depth, masked, true});
}
TEST_F(AttentionOnGpu, DISABLED_AttentionRatesInSingle) {
  for (const auto& [batch, heads, rows, depth] :
       {std::array<int64_t, 4>{1, 12, 128, 64}, {1, 12, 197, 64}, {4, 16, 1024, 64}, {4, 16, 1024, 128}})
    for (const bool tf32 : {false, true})
      print_rates(*gpu_, {"", DType::kF32, batch, heads, rows, rows, depth, Masked::kNo, true, false, tf32});
}

}  // namespace
}  // namespace kiln::cuda
