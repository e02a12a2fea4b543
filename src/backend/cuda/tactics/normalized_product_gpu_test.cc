// Products of normalised rows: what their tactic takes, on a stand-in for a GPU; and every variant of it against the
// references of its ops, on a machine with a GPU only.
#include <gtest/gtest.h>

#include <cmath>

#include "backend/cuda/device/testing/fake_driver.h"
#include "backend/cuda/tactics/normalized_product.h"
#include "backend/cuda/testing/on_gpu.h"
#include "ops/activation.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/normalization.h"
#include "ops/slice.h"

namespace kiln::cuda {
namespace {

using ir::ValueId;
using ops::Activation, ops::ActivationKind, ops::ElementWise, ops::ElementWiseKind, ops::MatrixOp;

struct NormCase {
  const char* name;
  DType type;
  Extents a;
  int64_t columns;  ///< of a result
  bool gated = false;
  MatrixOp b = MatrixOp::kNone;
  bool has_bias = false;
  bool has_residual = false;  ///< x where it has as many columns
};
struct NormNet {
  explicit NormNet(const NormCase& c, Net::Inputs given = Net::Inputs::kRandom) : net(c.type, given), of(c) {
    x = net.input(c.a, 3);
    rows = net.add(norm(), {x});
  }
  ops::Normalization norm(bool centered = false) const {
    return {.axes = {static_cast<int64_t>(of.a.size()) - 1}, .epsilon = 0.5, .centered = centered};
  }
  ValueId product(ValueId a) {
    const int64_t k = of.a.back(), n = of.gated ? 2 * of.columns : of.columns;
    Extents b(of.a.size(), 1), bias(of.a.size(), 1);
    b[b.size() - 2] = of.b == MatrixOp::kTranspose ? n : k;
    b.back() = of.b == MatrixOp::kTranspose ? k : n;
    bias.back() = n;
    const ValueId sums = net.add(ops::MatrixMultiply{MatrixOp::kNone, of.b},
                                 {a, net.constant(b, 1 / std::sqrt(static_cast<double>(k)))});
    return of.has_bias ? net.add(ElementWise{ElementWiseKind::kSum}, {sums, net.constant(bias)}) : sums;
  }
  ValueId gate(ValueId sums) {
    const auto half = [&](int64_t first) {
      return net.add(ops::Slice{{first}, {of.columns}, {1}, {static_cast<int64_t>(of.a.size()) - 1}}, {sums});
    };
    const ValueId one = half(0), other = half(of.columns);
    const ValueId sigmoid = net.add(Activation{.kind = ActivationKind::kSigmoid}, {one});
    return net.add(ElementWise{ElementWiseKind::kProd},
                   {net.add(ElementWise{ElementWiseKind::kProd}, {one, sigmoid}), other});
  }
  ValueId result() {
    const ValueId sums = product(rows);
    if (of.has_residual) {
      Extents y = of.a;
      y.back() = of.columns;
      return net.add(ElementWise{ElementWiseKind::kSum}, {sums, of.columns == of.a.back() ? x : net.input(y)});
    }
    return of.gated ? gate(sums) : sums;
  }

  Net net;
  NormCase of;
  ValueId x, rows;
};

class NormalizedProducts : public testing::Test {
 protected:
  NormalizedProducts() {
    fake_cuda_control().reset();
    fake_cuda_control().set_devices(1, 9, 0);
    device_ = CudaDevice::create(0, fake_driver()).value();
  }
  /// Empty where the tactic takes what makes `result`.
  std::string refusal(const Net& net, ValueId result) {
    const TacticContext cx{net.graph, numerics_, *device_, 5};
    const Match region = normalized_product_tactic().match(cx, net.graph.value(result).producer);
    return region ? normalized_product_tactic().variants(cx, *region).empty() ? "no variants" : ""
                  : region.error().reason;
  }

  Numerics numerics_;
  std::unique_ptr<CudaDevice> device_;
};

TEST_F(NormalizedProducts, AreTakenPlainAndGated) {
  for (const bool gated : {false, true})
    for (const bool has_bias : {false, true})
      for (const int64_t rows : {1, 16, 512}) {
        NormNet made({"", DType::kF16, {2, rows, 256}, 64, gated, MatrixOp::kNone, has_bias});
        const ValueId y = made.result();
        EXPECT_EQ(refusal(made.net, y), "") << rows << " rows, gated " << gated << ", bias " << has_bias;
      }
}
TEST_F(NormalizedProducts, AreRefusedWhereTheNormIsAnotherOrIsRead) {
  const NormCase plain{"", DType::kF16, {4, 64}, 32};
  NormNet bare(plain);
  EXPECT_EQ(refusal(bare.net, bare.product(bare.x)), "no normalisation makes a");
  NormNet centered(plain);
  EXPECT_EQ(refusal(centered.net, centered.product(centered.net.add(centered.norm(true), {centered.x}))),
            "what makes a is no RMS normalisation of rows");
  NormNet scaled(plain);
  const ValueId by_scale = scaled.net.add(scaled.norm(), {scaled.x, scaled.net.constant({64})});
  EXPECT_EQ(refusal(scaled.net, scaled.product(by_scale)), "the normalisation has a scale or a bias");
  NormNet read(plain);
  const ValueId y = read.result();
  read.net.add(Activation{.kind = ActivationKind::kRelu}, {read.rows});
  EXPECT_EQ(refusal(read.net, y), "others read what is normalised");
  NormNet seen(plain);
  const ValueId z = seen.result();
  seen.net.finish(seen.rows);
  EXPECT_EQ(refusal(seen.net, z), "others read what is normalised");
  NormNet floats({"", DType::kF32, {4, 64}, 32});
  numerics_.tf32 = false;
  EXPECT_EQ(refusal(floats.net, floats.result()), "no kernel normalises rows of f32[4, 64]");
}

class NormalizedProductsOnGpu : public OnGpu {};

TEST_F(NormalizedProductsOnGpu, AgreeWithTheirParts) {
  constexpr DType kF32 = DType::kF32, kF16 = DType::kF16, kBF16 = DType::kBF16;
  constexpr MatrixOp kN = MatrixOp::kNone, kT = MatrixOp::kTranspose;
  for (const NormCase& c :
       {NormCase{"one row", kF16, {1, 2048}, 3072}, NormCase{"one row, gated", kF16, {1, 2048}, 8192, true},
        NormCase{"16 rows", kF16, {16, 1, 256}, 136}, NormCase{"7 rows, k of 40", kF16, {7, 40}, 24, true},
        NormCase{"5 rows, a bias", kBF16, {5, 320}, 24, true, kT, true},
        NormCase{"many rows", kF16, {2, 100, 256}, 192, false, kT, true},
        NormCase{"many rows, gated", kBF16, {300, 136}, 72, true, kN, true},
        NormCase{"many tiles", kF16, {1024, 512}, 4096}, NormCase{"many tiles, gated", kF16, {1040, 512}, 2048, true},
        NormCase{"few columns", kF16, {600, 128}, 40, false, kN, true},
        NormCase{"floats", kF32, {40, 128}, 96, true, kT, true},
        NormCase{"a few floats", kF32, {7, 128}, 20, false, kN, true},
        NormCase{"one row and a residual", kF16, {1, 512}, 136, false, kN, true, true},
        NormCase{"x is the residual", kF16, {9, 256}, 256, false, kN, false, true},
        NormCase{"many rows, x is the residual", kF16, {300, 256}, 256, false, kT, false, true}}) {
    NormNet made(c);
    made.net.finish(made.result());
    const double tolerance = c.type == kF16 ? 4e-3 : c.type == kBF16 ? 3e-2 : 3e-3;
    EXPECT_GT(expect_agreement(c.name, made.net, normalized_product_tactic(), tolerance), 1) << c.name;
  }
}

TEST_F(NormalizedProductsOnGpu, DISABLED_NormalizedRates) {  // llama1b's
  for (const auto& [columns, gated] : {std::pair<int64_t, bool>{3072, false}, {8192, true}, {128256, false}})
    for (const int64_t rows : {1, 16, 512}) {
      NormNet made({"", DType::kF16, {rows, 2048}, columns, gated}, Net::Inputs::kNone);
      made.net.finish(made.result());
      const auto ran =
          run_variants(*gpu_, made.net.graph, normalized_product_tactic(), {}, {.timed = true, .made_up = true});
      ASSERT_TRUE(ran) << ran.error().message;
      const double sums = static_cast<double>(columns) * (gated ? 2 : 1);
      print_rates(str("normalized, ", rows, " rows by ", sums), 2.0 * static_cast<double>(rows) * 2048 * sums, *ran);
    }
}

}  // namespace
}  // namespace kiln::cuda
