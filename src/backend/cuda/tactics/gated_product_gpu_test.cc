// Gated linear units: what their tactic takes, on a stand-in for a GPU; and every variant of it against the references
// of its ops, on a machine with a GPU only.
#include <gtest/gtest.h>

#include "backend/cuda/device/testing/fake_driver.h"
#include "backend/cuda/tactics/gated_product.h"
#include "backend/cuda/testing/on_gpu.h"
#include "backend/cuda/testing/product_net.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/slice.h"

namespace kiln::cuda {
namespace {

using ir::ValueId;
using ops::ElementWise, ops::ElementWiseKind, ops::MatrixOp;
using enum Gate;

struct GatedNet : ProductNet {
  explicit GatedNet(const ProductCase& c, Net::Inputs given = Net::Inputs::kRandom)
      : ProductNet(c, given), product(sums(x)) {}
  ValueId gated() { return result(product); }

  ValueId product;
};

class GatedProducts : public testing::Test {
 protected:
  GatedProducts() {
    fake_cuda_control().reset();
    fake_cuda_control().set_devices(1, 9, 0);
    device_ = CudaDevice::create(0, fake_driver()).value();
  }
  /// Empty where the tactic takes what makes `result`.
  std::string refusal(const Net& net, ValueId result) {
    const TacticContext cx{net.graph, numerics_, *device_, 5};
    const Match region = gated_product_tactic().match(cx, net.graph.value(result).producer);
    return region ? gated_product_tactic().variants(cx, *region).empty() ? "no variants" : "" : region.error().reason;
  }

  Numerics numerics_;
  std::unique_ptr<CudaDevice> device_;
};

TEST_F(GatedProducts, AreTakenWithTheirHalvesInAnyOrder) {
  for (const bool has_bias : {false, true})
    for (const Gate gate : {kFirst, kSecond})
      for (const int64_t rows : {1, 16, 512}) {
        GatedNet made({"", DType::kF16, {2, rows, 256}, 64, gate, MatrixOp::kNone, has_bias});
        const ValueId y = made.gated();
        EXPECT_EQ(refusal(made.net, y), "") << rows << " rows, bias " << has_bias;
      }
}
TEST_F(GatedProducts, AreRefusedWhereMoreIsReadOrSeen) {
  const ProductCase plain{"", DType::kF16, {4, 64}, 32, kFirst};
  GatedNet seen(plain);
  const ValueId y = seen.gated();
  seen.net.finish(seen.product);
  EXPECT_EQ(refusal(seen.net, y), "others read the value whose halves it reads");
  GatedNet part(plain);
  const ValueId short_value = part.net.add(ops::Slice{{33}, {31}, {1}, {1}}, {part.product}),
                short_gate = part.net.add(ops::Slice{{1}, {31}, {1}, {1}}, {part.product});
  EXPECT_EQ(refusal(part.net, part.net.add(ElementWise{ElementWiseKind::kProd}, {short_gate, short_value})),
            "it does not read the two halves of the columns of f16[4, 64]");
  GatedNet third(plain);
  const ValueId more = third.net.add(ElementWise{ElementWiseKind::kProd}, {third.gated(), third.net.input({4, 32})});
  EXPECT_EQ(refusal(third.net, more), "the chain does not read two parts of one value alone");
  Net computed(DType::kF16);
  const ValueId sums = computed.add(ops::MatrixMultiply{}, {computed.input({4, 64}), computed.input({64, 64})});
  const auto half = [&](int64_t first) { return computed.add(ops::Slice{{first}, {32}, {1}, {1}}, {sums}); };
  EXPECT_EQ(refusal(computed, computed.add(ElementWise{ElementWiseKind::kProd}, {half(0), half(32)})),
            "b is no constant");
  GatedNet floats({"", DType::kF32, {4, 64}, 32, kFirst});
  numerics_.tf32 = false;
  EXPECT_EQ(refusal(floats.net, floats.gated()), "no kernel ends pairs of columns of f32[64, 64]");
}

class GatedProductsOnGpu : public OnGpu {};

TEST_F(GatedProductsOnGpu, AgreeWithTheirParts) {
  constexpr DType kF32 = DType::kF32, kF16 = DType::kF16, kBF16 = DType::kBF16;
  constexpr MatrixOp kN = MatrixOp::kNone, kT = MatrixOp::kTranspose;
  for (const ProductCase& c :
       {ProductCase{"one row", kF16, {1, 2048}, 8192, kFirst}, ProductCase{"16 rows", kF16, {16, 1, 256}, 136, kFirst},
        ProductCase{"5 rows, a bias", kBF16, {5, 320}, 24, kFirst, kT, true},
        ProductCase{"many rows", kF16, {2, 100, 256}, 192, kSecond},
        ProductCase{"many rows, a bias", kBF16, {300, 136}, 72, kSecond, kN, true},
        ProductCase{"many rows and columns", kF16, {512, 512}, 1024, kFirst, kT},
        ProductCase{"halves of an odd number of vectors", kF16, {33, 64}, 44, kFirst, kN, true},
        ProductCase{"floats", kF32, {40, 128}, 96, kFirst, kT, true},
        ProductCase{"a few floats", kF32, {7, 128}, 20, kFirst, kN, true}}) {
    GatedNet made(c);
    made.net.finish(made.gated());
    const double tolerance = c.type == kF16 ? 4e-3 : c.type == kBF16 ? 3e-2 : 3e-3;
    EXPECT_GT(expect_agreement(c.name, made.net, gated_product_tactic(), tolerance), 1) << c.name;
  }
}

TEST_F(GatedProductsOnGpu, DISABLED_GatedRates) {  // llama1b's
  for (const int64_t rows : {1, 16, 512}) {
    GatedNet made({"", DType::kF16, {rows, 2048}, 8192, kFirst}, Net::Inputs::kNone);
    made.net.finish(made.gated());
    const auto ran = run_variants(*gpu_, made.net.graph, gated_product_tactic(), {}, {.timed = true, .made_up = true});
    ASSERT_TRUE(ran) << ran.error().message;
    print_rates(str("gated, ", rows, " rows"), 2.0 * static_cast<double>(rows) * 2048 * 16384, *ran);
  }
}

}  // namespace
}  // namespace kiln::cuda
