// Convolutions and products of bytes: every variant against the ops' references, and their rates, on a machine with a
// GPU; and when they apply.
#include <gtest/gtest.h>

#include <cmath>

#include "backend/cuda/device/cublaslt.h"
#include "backend/cuda/tactics/byte_products.h"
#include "backend/cuda/tactics/convolution.h"
#include "backend/cuda/tactics/cublaslt.h"
#include "backend/cuda/testing/on_gpu.h"
#include "ops/activation.h"
#include "ops/convolution.h"
#include "ops/dequantize.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/quantize.h"
#include "ops/reshape.h"
#include "tensor/view.h"

namespace kiln::cuda {
namespace {

constexpr DType kI8 = DType::kI8, kU8 = DType::kU8, kF8 = DType::kF8E4M3, kF16 = DType::kF16, kF32 = DType::kF32;

/// A network whose operands are dequantized.
struct ByteNet {
  DType type;    ///< of x
  DType number;  ///< of what is computed between bytes
  Net net;
  uint64_t seed = 100;

  ByteNet(DType type, DType number, Net::Inputs given = Net::Inputs::kRandom)
      : type(type), number(number), net(type, given) {}

  /// Elements of a type whose numbers are about 1 in size once they are multiplied by scale().
  HostTensor elements(DType of, const Extents& extents) {
    return random_tensor(of, extents, ++seed, of == kF8 ? 1 : 25);
  }
  double scale(DType of) const { return of == kF8 ? 1 : 1.0 / 25; }
  ir::ValueId scales(const Extents& extents, double value) {
    HostTensor::Fresh fresh = *HostTensor::make(kF32, extents);
    for (int64_t i = 0; i < volume(extents); ++i)
      store_number(kF32, fresh.data.data(), i, value * (1 + static_cast<double>(i % 3) / 4));
    return net.graph.add_constant(std::move(fresh.tensor));
  }
  ir::ValueId one(size_t rank, double value) { return scales(Extents(rank, 1), value); }
  ir::ValueId zero(DType of, size_t rank, int64_t value) {
    return net.graph.add_constant(HostTensor::of_ints(of, Extents(rank, 1), std::vector{value}));
  }

  /// Numbers of an input of bytes.
  ir::ValueId input(const Extents& extents, int64_t zero_point = 0) {
    const ir::ValueId q = net.graph.add_input(str("x", ++seed), tensor_type(type, extents));
    if (made_inputs) net.inputs.push_back(elements(type, extents));
    const ir::ValueId s = one(extents.size(), scale(type));
    return zero_point ? net.add(ops::Dequantize{.to = number}, {q, s, zero(type, extents.size(), zero_point)})
                      : net.add(ops::Dequantize{.to = number}, {q, s});
  }
  /// Numbers of constant bytes, with a scale a channel along `axis`; a sum of `products` of them is about 1 in size.
  ir::ValueId weights(const Extents& extents, size_t axis, int64_t products, bool by_channel = true) {
    const DType of = type == kF8 ? kF8 : kI8;
    Extents scale_extents(extents.size(), 1);
    if (by_channel) scale_extents[axis] = extents[axis];
    const ir::ValueId q = net.graph.add_constant(elements(of, extents));
    return net.add(ops::Dequantize{.to = number},
                   {q, scales(scale_extents, scale(of) / std::sqrt(static_cast<double>(products)))});
  }
  void finish(ir::ValueId y, std::optional<DType> to, size_t rank, int64_t zero_point = 0) {
    if (!to) return net.finish(y);
    const ir::ValueId s = one(rank, *to == kF8 ? 0.5 : 0.03);
    net.finish(zero_point ? net.add(ops::Quantize{*to}, {y, s, zero(*to, rank, zero_point)})
                          : net.add(ops::Quantize{*to}, {y, s}));
  }
  bool made_inputs = true;
};

struct Case {
  const char* name;
  DType type, number;
  std::optional<DType> to;
  Extents x, w;
  std::vector<int64_t> strides = {}, pads = {};
  int64_t x_zero = 0, y_zero = 0;
  bool residual = false;
  std::vector<int64_t> dilations = {};
};

class BytesOnGpu : public OnGpu {
 protected:
  /// Every variant makes the reference's bytes, but for one level where a sum falls beside a tie; or its numbers.
  void check(const std::string& name, const ByteNet& n, const Tactic& tactic, const VariantRun& options = {}) {
    const auto expected = ir::interpret(n.net.graph, n.net.inputs);
    ASSERT_TRUE(expected) << name << ": " << expected.error().message;
    const auto ran = run_variants(*gpu_, n.net.graph, tactic, n.net.inputs, options);
    ASSERT_TRUE(ran) << name << ": " << ran.error().message;
    ASSERT_FALSE(ran->empty()) << name;
    const HostTensor& want = (*expected)[0];
    for (const RanVariant& variant : *ran) {
      ASSERT_EQ(variant.failure, "") << name << ", " << variant.name;
      if (is_kernel_float(want.dtype())) {
        EXPECT_LE(relative_error(variant.result, want), want.dtype() == kF32 && n.type != kF8 ? 1e-5 : 2e-3)
            << name << ", " << variant.name;
        continue;
      }
      const View got(variant.result), wanted(want);
      int64_t off = 0;
      for (int64_t i = 0; i < wanted.volume(); ++i) {
        const double allowed = want.dtype() == kF8 ? std::abs(wanted[i]) / 7.9 + 0.002 : 1;
        ASSERT_NEAR(got[i], wanted[i], allowed) << name << ", " << variant.name << " at " << i;
        off += got[i] != wanted[i];
      }
      // Sums of FP8 are not exact, and halves between sum and bytes are rounded once more by the reference.
      const bool is_exact = n.type != kF8 && n.number == kF32;
      EXPECT_LE(off, wanted.volume() / (is_exact ? 1000 : 25) + 3) << name << ", " << variant.name;
    }
  }
  static ByteNet convolution(const Case& c) {
    ByteNet n(c.type, c.number);
    ops::Convolution op;
    op.strides = c.strides;
    op.pre_pads = op.post_pads = c.pads;
    op.dilations = c.dilations;
    if (c.w[1] != c.x[1]) op.groups = c.x[1];
    const ir::ValueId x = n.input(c.x, c.x_zero), w = n.weights(c.w, 0, volume(c.w) / c.w[0]);
    ir::ValueId y = n.net.add(op, {x, w, n.net.constant(c.number, {c.w[0]}, 0.5)});
    if (c.residual) y = n.net.add(ops::ElementWise{}, {y, n.input(*n.net.graph.type(y).extents())});
    y = n.net.add(ops::Activation{}, {y});
    n.finish(y, c.to, c.x.size(), c.y_zero);
    return n;
  }
};

/// Whether weights stay bytes beside an x whose zero point a Reshape makes of a constant, or of an input.
bool takes_reshaped_zero(bool is_constant, int64_t groups) {
  ByteNet n(kU8, kF32);
  ir::Graph& graph = n.net.graph;
  const ir::ValueId given = is_constant ? n.zero(kU8, 1, 131) : graph.add_input("zero", tensor_type(kU8, Extents{1}));
  const ir::ValueId zero = n.net.add(ops::Reshape{.dims = {1, 1, 1, 1}}, {given});
  const ir::ValueId q = graph.add_input("q", tensor_type(kU8, Extents{1, 16, 8, 8}));
  const ir::ValueId x = n.net.add(ops::Dequantize{.to = kF32}, {q, n.one(4, 0.04), zero});
  ops::Convolution op;
  op.groups = groups;
  const ir::ValueId y = n.net.add(op, {x, n.weights({16, 16 / groups, 3, 3}, 0, 9)});
  return takes_bytes(graph, graph.value(y).producer, Machine());
}
TEST(TakesBytes, BesideAZeroPointThatIsNotFoldedYet) {
  for (const int64_t groups : {1, 16}) {
    EXPECT_TRUE(takes_reshaped_zero(/*is_constant=*/true, groups));
    EXPECT_FALSE(takes_reshaped_zero(/*is_constant=*/false, groups));
  }
  EXPECT_FALSE(takes_reshaped_zero(/*is_constant=*/true, 2)) << "groups of more than a channel";
}
TEST_F(BytesOnGpu, Convolutions) {
  const Case cases[] = {
      {"3x3", kI8, kF32, kI8, {2, 64, 14, 14}, {64, 64, 3, 3}, {1, 1}, {1, 1}},
      {"3x3 in halves", kI8, kF16, kI8, {2, 128, 14, 14}, {72, 128, 3, 3}, {1, 1}, {1, 1}},
      {"unsigned", kU8, kF32, kU8, {1, 32, 9, 11}, {24, 32, 3, 3}, {2, 2}, {1, 1}, 0, 7},
      {"a residual of bytes", kI8, kF32, kI8, {2, 64, 15, 13}, {256, 64, 1, 1}, {}, {}, 0, 0, true},
      {"a residual of bytes in halves", kI8, kF16, kI8, {2, 64, 15, 13}, {256, 64, 1, 1}, {}, {}, 0, 0, true},
      {"a zero point", kU8, kF32, kI8, {1, 48, 12, 12}, {40, 48, 2, 2}, {}, {}, 131},
      {"odd channels", kI8, kF32, kI8, {1, 9, 11, 10}, {24, 9, 3, 3}, {}, {1, 1}},
      {"pictures", kI8, kF32, kI8, {2, 3, 33, 35}, {32, 3, 7, 7}, {2, 2}, {3, 3}},
      {"pictures, unsigned", kU8, kF16, kU8, {1, 3, 40, 50}, {80, 3, 3, 3}, {1, 1}, {1, 1}, 0, 3},
      {"pictures to 24 channels", kI8, kF32, kI8, {1, 3, 33, 20}, {24, 3, 5, 5}, {2, 2}, {2, 2}},
      {"to floats", kI8, kF32, {}, {1, 64, 10, 10}, {33, 64, 3, 3}, {}, {1, 1}},
      {"to halves", kI8, kF16, {}, {1, 64, 10, 10}, {32, 64, 3, 3}, {}, {1, 1}},
      {"fp8", kF8, kF16, kF8, {2, 128, 14, 14}, {64, 128, 3, 3}, {1, 1}, {1, 1}},
      {"lanes and a stride", kI8, kF32, kI8, {3, 128, 13, 17}, {320, 128, 3, 3}, {2, 2}, {1, 1}},
      {"lanes and a residual", kI8, kF16, kI8, {2, 64, 15, 13}, {192, 64, 3, 3}, {1, 1}, {1, 1}, 0, 0, true},
      {"lanes, unsigned and shifted", kU8, kF32, kU8, {2, 128, 9, 9}, {64, 128, 3, 3}, {1, 1}, {1, 1}, 0, 9},
      {"lanes of halves", kI8, kF16, {}, {2, 128, 15, 13}, {96, 128, 3, 3}, {1, 1}, {1, 1}, 0, 0, true},
      {"points of halves and a residual", kI8, kF16, {}, {2, 64, 15, 13}, {320, 64, 1, 1}, {}, {}, 0, 0, true},
      {"points, several tiles a block", kI8, kF32, kI8, {20, 64, 30, 30}, {64, 64, 1, 1}, {}, {}, 0, 0, true},
      {"wide points, several tiles a block", kI8, kF16, kI8, {40, 16, 27, 27}, {192, 16, 1, 1}, {}, {}, 0, 0, true},
      {"deep", kI8, kF32, kI8, {1, 512, 7, 7}, {64, 512, 3, 3}, {}, {1, 1}},
  };
  for (const Case& c : cases) check(c.name, convolution(c), byte_convolution_tactic());
}
TEST_F(BytesOnGpu, Depthwise) {
  const Case cases[] = {
      {"3x3", kI8, kF32, kI8, {2, 96, 14, 15}, {96, 1, 3, 3}, {1, 1}, {1, 1}},
      {"3x3 in halves", kI8, kF16, kI8, {2, 64, 15, 14}, {64, 1, 3, 3}, {1, 1}, {1, 1}},
      {"steps of 2", kI8, kF32, kI8, {1, 72, 17, 30}, {72, 1, 3, 3}, {2, 2}, {1, 1}},
      {"steps of 3", kI8, kF32, kI8, {1, 20, 17, 30}, {20, 1, 4, 4}, {3, 3}, {1, 2}},
      {"5x5", kI8, kF32, kI8, {1, 36, 11, 13}, {36, 1, 5, 5}, {1, 1}, {2, 2}},
      {"5x5 in steps of 2", kU8, kF16, kU8, {3, 40, 14, 13}, {40, 1, 5, 5}, {2, 2}, {2, 2}},
      {"7x7", kI8, kF32, kI8, {1, 44, 9, 8}, {44, 1, 7, 7}, {1, 1}, {3, 3}},
      {"zero points and pads", kU8, kF32, kU8, {2, 32, 12, 13}, {32, 1, 3, 3}, {1, 1}, {1, 1}, 131, 7},
      {"a zero point below 0, and pads", kI8, kF32, kI8, {1, 24, 9, 9}, {24, 1, 5, 5}, {2, 2}, {2, 2}, -77, 3},
      {"odd channels", kU8, kF32, kI8, {2, 7, 9, 10}, {7, 1, 3, 3}, {1, 1}, {1, 1}, 99},
      {"pairs of channels", kI8, kF16, kI8, {1, 30, 9, 10}, {30, 1, 3, 3}, {2, 1}, {1, 1}},
      {"taps apart", kI8, kF32, kI8, {1, 16, 12, 12}, {16, 1, 3, 3}, {1, 1}, {2, 2}, 5, 0, false, {2, 2}},
      {"a residual", kI8, kF32, kI8, {1, 48, 10, 11}, {48, 1, 3, 3}, {1, 1}, {1, 1}, 0, 0, true},
      {"a residual in halves", kI8, kF16, {}, {1, 48, 10, 11}, {48, 1, 3, 3}, {1, 1}, {1, 1}, 0, 0, true},
      {"to floats", kU8, kF32, {}, {1, 12, 10, 10}, {12, 1, 3, 3}, {1, 1}, {1, 1}, 128},
      {"a row of taps", kI8, kF32, kI8, {1, 16, 9, 20}, {16, 1, 1, 5}, {1, 1}, {0, 2}},
      {"a column of taps", kI8, kF32, kI8, {1, 16, 20, 9}, {16, 1, 5, 1}, {2, 1}, {2, 0}},
      {"one axis", kI8, kF32, kI8, {2, 64, 101}, {64, 1, 9}, {2}, {4}},
      {"three axes", kI8, kF32, kI8, {1, 8, 5, 6, 7}, {8, 1, 3, 3, 3}, {1, 1, 1}, {1, 1, 1}, 17},
      {"many pictures", kI8, kF16, kI8, {20, 144, 28, 28}, {144, 1, 3, 3}, {1, 1}, {1, 1}},
  };
  for (const Case& c : cases) check(c.name, convolution(c), byte_convolution_tactic(), {.optimization_level = 5});
}
TEST_F(BytesOnGpu, Products) {
  for (const auto& [type, number, to] : {std::tuple{kI8, kF32, std::optional(kI8)},
                                         {kU8, kF32, std::optional(kI8)},
                                         {kI8, kF16, std::optional<DType>()},
                                         {kF8, kF16, std::optional<DType>()},
                                         {kF8, kF32, std::optional(kF8)}})
    for (const auto& [m, k, columns] : {std::tuple<int64_t, int64_t, int64_t>{1, 64, 48},
                                        {130, 512, 136},
                                        {600, 1000, 1024},
                                        {300, 512, 320},
                                        {33, 70, 31},
                                        {20, 3, 4},
                                        {130, 77, 40}})
      for (const bool transposed : {false, true}) {
        ByteNet n(type, number);
        const ir::ValueId x = n.input({2, m, k}, type == kU8 ? 120 : 0);
        const ir::ValueId w = transposed ? n.weights({1, columns, k}, 1, k) : n.weights({1, k, columns}, 2, k);
        const ops::MatrixMultiply op{.b = transposed ? ops::MatrixOp::kTranspose : ops::MatrixOp::kNone};
        n.finish(n.net.add(op, {x, w}), to, 3);
        check(str(type, " to ", to.value_or(number), ", ", m, " x ", columns, " x ", k), n, byte_product_tactic());
      }
}
TEST_F(BytesOnGpu, CublasLt) {
  if (const auto library = CublasLt::instance(); !library) GTEST_SKIP() << library.error().message;
  int num_run = 0;
  struct LtCase {
    DType type, number;
    std::optional<DType> to;
    bool by_channel, bias, relu;
  };
  for (const LtCase& c : {LtCase{kI8, kF32, kI8, false, false, false},
                          {kI8, kF32, kI8, true, false, false},
                          {kI8, kF32, kI8, true, true, true},
                          {kF8, kF16, {}, false, false, false},
                          {kF8, kF16, {}, true, true, true},
                          {kF8, kF32, {}, false, false, false},
                          {kF8, kF16, kF8, false, true, true},
                          {kF8, kF16, kF8, true, false, false}})
    for (const bool transposed : {false, true}) {
      ByteNet n(c.type, c.number);
      constexpr int64_t kRows = 72, kDepth = 256, kColumns = 208;
      const Extents b = transposed ? Extents{1, kColumns, kDepth} : Extents{1, kDepth, kColumns};
      const ir::ValueId x = n.input({2, kRows, kDepth});
      const ir::ValueId w = n.weights(b, transposed ? 1 : 2, kDepth, c.by_channel);
      const ops::MatrixMultiply op{.b = transposed ? ops::MatrixOp::kTranspose : ops::MatrixOp::kNone};
      ir::ValueId y = n.net.add(op, {x, w});
      if (c.bias) y = n.net.add(ops::ElementWise{}, {y, n.net.constant(c.number, {1, 1, kColumns}, 0.5)});
      if (c.relu) y = n.net.add(ops::Activation{}, {y});
      n.finish(y, c.to, 3);
      const std::string name = str(c.type, " to ", c.to.value_or(c.number), c.by_channel ? " by channels" : "",
                                   c.bias ? " with a bias" : "", transposed ? ", b transposed" : "");
      const auto ran = run_variants(*gpu_, n.net.graph, cublaslt_byte_tactic(), n.net.inputs, {});
      if (!ran) {  // a version of the library, or a GPU, for which it has no such product
        std::printf("%s: %s\n", name.c_str(), ran.error().message.c_str());
        continue;
      }
      std::printf("%s: %zu variants\n", name.c_str(), ran->size());
      check(name, n, cublaslt_byte_tactic());
      ++num_run;
    }
  EXPECT_GT(num_run, 0);
}
/// A depthwise convolution of FP16, with a bias and a relu.
Net depthwise_of_halves(const ops::Convolution& op, const Extents& x, const Extents& w) {
  Net net(kF16, Net::Inputs::kNone);
  const ir::ValueId y = net.add(op, {net.input(x), net.constant(w), net.constant({w[0]})});
  net.finish(net.add(ops::Activation{}, {y}));
  return net;
}
TEST_F(BytesOnGpu, DISABLED_DepthwiseRates) {
  for (const auto& [batch, channels, size, kernel, stride] : {std::array<int64_t, 5>{1, 32, 112, 3, 1},
                                                              {1, 144, 56, 5, 2},
                                                              {1, 672, 14, 5, 1},
                                                              {1, 1152, 7, 5, 1},
                                                              {128, 32, 112, 3, 1},
                                                              {128, 96, 112, 3, 2},
                                                              {128, 144, 56, 3, 1},
                                                              {128, 240, 28, 5, 1},
                                                              {128, 672, 14, 5, 1},
                                                              {128, 1152, 7, 3, 1}}) {
    ops::Convolution op;
    op.strides = {stride, stride};
    op.pre_pads = op.post_pads = {kernel / 2, kernel / 2};
    op.groups = channels;
    const Extents from = {batch, channels, size, size}, taps = {channels, 1, kernel, kernel};
    ByteNet n(kI8, kF16, Net::Inputs::kNone);
    n.made_inputs = false;
    const ir::ValueId x = n.input(from), w = n.weights(taps, 0, kernel * kernel);
    n.finish(n.net.add(ops::Activation{}, {n.net.add(op, {x, w, n.net.constant(kF16, {channels}, 0.5)})}), kI8, 4);
    const VariantRun options{.timed = true, .made_up = true, .only = "depthwise", .optimization_level = 5};
    const double pixels = static_cast<double>(batch * (size / stride) * (size / stride));
    const double operations = 2 * pixels * static_cast<double>(channels * kernel * kernel);
    const std::string name = str(batch, " of ", channels, " x ", size, ", ", kernel, "x", kernel, " by ", stride);
    const auto bytes = run_variants(*gpu_, n.net.graph, byte_convolution_tactic(), n.net.inputs, options);
    ASSERT_TRUE(bytes) << bytes.error().message;
    print_rates(str("bytes ", name), operations, *bytes);
    const Net halves = depthwise_of_halves(op, from, taps);
    const auto fp16 = run_variants(*gpu_, halves.graph, convolution_tactic(), {}, options);
    ASSERT_TRUE(fp16) << fp16.error().message;
    print_rates(str("fp16 ", name), operations, *fp16);
  }
}
TEST_F(BytesOnGpu, Rates) {
  for (const DType type : {kI8, kF8})
    for (const int64_t size : {4096, 8192}) {
      ByteNet n(type, kF16, Net::Inputs::kNone);
      n.made_inputs = false;
      const ir::ValueId x = n.input({size, size}), w = n.weights({size, size}, 0, size);
      n.finish(n.net.add(ops::MatrixMultiply{.b = ops::MatrixOp::kTranspose}, {x, w}), {}, 2);
      const auto ran =
          run_variants(*gpu_, n.net.graph, byte_product_tactic(), n.net.inputs, {.timed = true, .made_up = true});
      ASSERT_TRUE(ran) << ran.error().message;
      const double operations = 2.0 * static_cast<double>(size * size * size);
      print_rates(str(type, " ", size), operations, *ran);
      if (const auto theirs =
              run_variants(*gpu_, n.net.graph, cublaslt_byte_tactic(), n.net.inputs, {.timed = true, .made_up = true}))
        print_rates(str(type, " ", size, " by cuBLASLt"), operations, *theirs);
    }
  for (const auto& [batch, in, out, size, kernel, stride] : {std::array<int64_t, 6>{128, 64, 64, 56, 3, 1},
                                                             {128, 64, 256, 56, 1, 1},
                                                             {128, 256, 64, 56, 1, 1},
                                                             {128, 128, 128, 28, 3, 1},
                                                             {128, 256, 256, 14, 3, 1},
                                                             {128, 512, 512, 7, 3, 1},
                                                             {128, 3, 64, 224, 7, 2}}) {
    ByteNet n(kI8, kF16, Net::Inputs::kNone);
    n.made_inputs = false;
    ops::Convolution op;
    op.strides = {stride, stride};
    op.pre_pads = op.post_pads = {kernel / 2, kernel / 2};
    const ir::ValueId x = n.input({batch, in, size, size}), w = n.weights({out, in, kernel, kernel}, 0, in);
    n.finish(n.net.add(ops::Activation{}, {n.net.add(op, {x, w, n.net.constant(kF16, {out}, 0.5)})}), kI8, 4);
    const auto ran =
        run_variants(*gpu_, n.net.graph, byte_convolution_tactic(), n.net.inputs, {.timed = true, .made_up = true});
    ASSERT_TRUE(ran) << ran.error().message;
    const double pixels = static_cast<double>(batch * (size / stride) * (size / stride));
    print_rates(str(in, " of ", size, " to ", out, " by ", kernel),
                2 * pixels * static_cast<double>(out * in * kernel * kernel), *ran);
  }
}

}  // namespace
}  // namespace kiln::cuda
