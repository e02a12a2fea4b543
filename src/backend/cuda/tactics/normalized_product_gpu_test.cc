// Products of normalized rows: what their tactic takes, on a stand-in for a GPU; and every variant of it against the
// references of its ops, on a machine with a GPU only.
#include <gtest/gtest.h>

#include "backend/cuda/device/testing/fake_driver.h"
#include "backend/cuda/tactics/normalized_product.h"
#include "backend/cuda/testing/on_gpu.h"
#include "backend/cuda/testing/product_net.h"
#include "ops/activation.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/normalization.h"

namespace kiln::cuda {
namespace {

using ir::ValueId;
using ops::MatrixOp;
using enum Gate;

/// A product of what an RMS normalization of x makes.
struct NormNet : ProductNet {
  explicit NormNet(const ProductCase& c, Net::Inputs given = Net::Inputs::kRandom)
      : ProductNet(c, given), rows(net.add(norm(), {x})) {}
  ops::Normalization norm() const {
    return {.axes = {static_cast<int64_t>(of.a.size()) - 1}, .epsilon = 0.5, .centered = false};
  }
  ValueId product(ValueId a) { return result(sums(a)); }

  ValueId rows;
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
  for (const Gate gate : {kNone, kFirst, kSecond})
    for (const bool has_bias : {false, true})
      for (const int64_t rows : {1, 16, 512}) {
        NormNet made({"", DType::kF16, {2, rows, 256}, 64, gate, MatrixOp::kNone, has_bias});
        const ValueId y = made.product(made.rows);
        EXPECT_EQ(refusal(made.net, y), "") << rows << " rows, gate " << int{gate != kNone} << ", bias " << has_bias;
      }
}
TEST_F(NormalizedProducts, AreRefusedWhereTheNormIsAnother) {
  /// The reason where what is multiplied is a normalization of x, with these inputs besides.
  const auto refusal_of = [&](void (*change)(ops::Normalization&), std::initializer_list<Extents> coefficients) {
    NormNet made({"", DType::kF16, {4, 6, 64}, 32});
    ops::Normalization norm = made.norm();
    change(norm);
    std::vector<ValueId> from{made.x};
    for (const Extents& extents : coefficients)
      from.push_back(extents.empty() ? ValueId::kNone : made.net.constant(extents));
    auto normalized = made.net.graph.add_one(norm, from);
    EXPECT_TRUE(normalized) << normalized.error().message;
    return refusal(made.net, made.product(*normalized));
  };
  const auto as_it_is = [](ops::Normalization&) {};
  constexpr std::string_view kOther = "what makes a is no RMS normalization of rows",
                             kMore = "the normalization has a scale or a bias";
  EXPECT_EQ(refusal_of(as_it_is, {}), "");
  EXPECT_EQ(refusal_of([](ops::Normalization& norm) { norm.centered = true; }, {}), kOther);
  EXPECT_EQ(refusal_of([](ops::Normalization& norm) { norm.axes = {1, 2}; }, {}), kOther);
  EXPECT_EQ(refusal_of([](ops::Normalization& norm) { norm.axes = {1}; }, {}), kOther);
  EXPECT_EQ(refusal_of(as_it_is, {{64}}), kMore);
  EXPECT_EQ(refusal_of(as_it_is, {{}, {64}}), kMore);
  NormNet bare({"", DType::kF16, {4, 64}, 32});
  EXPECT_EQ(refusal(bare.net, bare.product(bare.x)), "no normalization makes a");
}
TEST_F(NormalizedProducts, AreRefusedWhereOthersReadTheRowsOrNoKernelSumsSquares) {
  const ProductCase plain{"", DType::kF16, {4, 64}, 32};
  NormNet read(plain);
  const ValueId y = read.product(read.rows);
  read.net.add(ops::Activation{.kind = ops::ActivationKind::kRelu}, {read.rows});
  EXPECT_EQ(refusal(read.net, y), "others read what is normalized");
  NormNet seen(plain);
  const ValueId z = seen.product(seen.rows);
  seen.net.finish(seen.rows);
  EXPECT_EQ(refusal(seen.net, z), "others read what is normalized");
  NormNet floats({"", DType::kF32, {4, 64}, 32});
  numerics_.tf32 = false;
  EXPECT_EQ(refusal(floats.net, floats.product(floats.rows)), "no kernel normalizes rows of f32[4, 64]");
}

class NormalizedProductsOnGpu : public OnGpu {};

TEST_F(NormalizedProductsOnGpu, AgreeWithTheirParts) {
  constexpr DType kF32 = DType::kF32, kF16 = DType::kF16, kBF16 = DType::kBF16;
  constexpr MatrixOp kN = MatrixOp::kNone, kT = MatrixOp::kTranspose;
  for (const ProductCase& c :
       {ProductCase{"one row", kF16, {1, 2048}, 3072}, ProductCase{"one row, gated", kF16, {1, 2048}, 8192, kFirst},
        ProductCase{"16 rows", kF16, {16, 1, 256}, 136}, ProductCase{"7 rows, k of 40", kF16, {7, 40}, 24, kSecond},
        ProductCase{"5 rows, a bias", kBF16, {5, 320}, 24, kFirst, kT, true},
        ProductCase{"many rows", kF16, {2, 100, 256}, 192, kNone, kT, true},
        ProductCase{"many rows, gated", kBF16, {300, 136}, 72, kFirst, kN, true},
        ProductCase{"many tiles", kF16, {1024, 512}, 4096},
        ProductCase{"many tiles, gated", kF16, {1040, 512}, 2048, kFirst},
        ProductCase{"few columns", kF16, {600, 128}, 40, kNone, kN, true},
        ProductCase{"floats", kF32, {40, 128}, 96, kFirst, kT, true},
        ProductCase{"a few floats", kF32, {7, 128}, 20, kNone, kN, true}}) {
    NormNet made(c);
    made.net.finish(made.product(made.rows));
    const double tolerance = c.type == kF16 ? 4e-3 : c.type == kBF16 ? 3e-2 : 3e-3;
    EXPECT_GT(expect_agreement(c.name, made.net, normalized_product_tactic(), tolerance), 1) << c.name;
  }
}

TEST_F(NormalizedProductsOnGpu, AgreeWithTheirPartsAndAResidual) {
  for (const ProductCase& c :
       {ProductCase{"one row", DType::kF16, {1, 512}, 136},
        ProductCase{"x is the residual", DType::kF16, {9, 256}, 256},
        ProductCase{"many rows, x is the residual", DType::kF16, {300, 256}, 256, kNone, MatrixOp::kTranspose}}) {
    NormNet made(c);
    Extents y = c.a;
    y.back() = c.columns;
    const ValueId residual = c.columns == c.a.back() ? made.x : made.net.input(y);
    made.net.finish(made.net.add(ops::ElementWise{ops::ElementWiseKind::kSum}, {made.product(made.rows), residual}));
    EXPECT_GT(expect_agreement(c.name, made.net, normalized_product_tactic(), 4e-3), 1) << c.name;
  }
}

TEST_F(NormalizedProductsOnGpu, DISABLED_NormalizedRates) {  // llama1b's
  for (const auto& [columns, gate] : {std::pair<int64_t, Gate>{3072, kNone}, {8192, kFirst}, {128256, kNone}})
    for (const int64_t rows : {1, 16, 512}) {
      NormNet made({"", DType::kF16, {rows, 2048}, columns, gate}, Net::Inputs::kNone);
      made.net.finish(made.product(made.rows));
      const auto ran =
          run_variants(*gpu_, made.net.graph, normalized_product_tactic(), {}, {.timed = true, .made_up = true});
      ASSERT_TRUE(ran) << ran.error().message;
      const double sums = static_cast<double>(columns) * (gate == kNone ? 1 : 2);
      print_rates(str("normalized, ", rows, " rows by ", sums), 2.0 * static_cast<double>(rows) * 2048 * sums, *ran);
    }
}

}  // namespace
}  // namespace kiln::cuda
