// Matrix products, convolutions and deconvolutions by every variant of their tactics, against the ops' references; on a
// machine with a GPU only.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "backend/cuda/tactics/convolution.h"
#include "backend/cuda/tactics/cublaslt.h"
#include "backend/cuda/tactics/deconvolution.h"
#include "backend/cuda/tactics/matrix_multiply.h"
#include "backend/cuda/testing/filter_net.h"
#include "backend/cuda/testing/on_gpu.h"
#include "ops/activation.h"
#include "ops/convolution.h"
#include "ops/deconvolution.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"

namespace kiln::cuda {
namespace {

using ops::MatrixOp;

class ContractionsOnGpu : public OnGpu {
 protected:
  /// Every variant within what the type's rounding explains.
  void check(const Net& net, const Tactic& tactic, DType type, const std::string& name) {
    for (const bool tf32 : {false, true}) {
      if (tf32 && type != DType::kF32) continue;
      const double tolerance = type == DType::kF16 ? 4e-3 : type == DType::kBF16 ? 3e-2 : tf32 ? 3e-3 : 2e-5;
      num_run_ += expect_agreement(name, net, tactic, tolerance, {.numerics = {.tf32 = tf32}});
    }
  }
  void TearDown() override {
    if (gpu_) RecordProperty("variants", num_run_);
  }

  int num_run_ = 0;
};

struct ProductCase {
  const char* name;
  DType type;
  Extents a, b;
  MatrixOp op_a = MatrixOp::kNone, op_b = MatrixOp::kNone;
  bool constant_b = false;
  Tail tail = Tail::kNone;
};
constexpr DType kF32 = DType::kF32, kF16 = DType::kF16, kBF16 = DType::kBF16;
constexpr MatrixOp kT = MatrixOp::kTranspose, kN = MatrixOp::kNone, kV = MatrixOp::kVector;

TEST_F(ContractionsOnGpu, Products) {
  const ProductCase cases[] = {
      {"one element", kF32, {1, 1}, {1, 1}},
      {"primes", kF32, {37, 53}, {53, 41}},
      {"primes in half", kF16, {37, 53}, {53, 41}, kN, kN, false, Tail::kBiasRelu},
      {"both transposed", kF16, {128, 96}, {80, 128}, kT, kT},
      {"both transposed, odd", kBF16, {67, 33}, {29, 67}, kT, kT},
      {"transposed a in f32", kF32, {64, 128}, {64, 96}, kT, kN},
      {"one past the tile", kF16, {129, 65}, {65, 129}},
      {"aligned", kF16, {256, 256}, {256, 256}, kN, kN, false, Tail::kResidual},
      {"aligned, along k", kBF16, {256, 320}, {192, 320}, kN, kT, true, Tail::kSilu},
      {"aligned in f32", kF32, {256, 320}, {192, 320}, kN, kT, true, Tail::kSilu},
      {"packed weights", kF16, {100, 72}, {72, 88}, kN, kN, true, Tail::kBiasRelu},
      {"packed weights, odd k", kF16, {100, 71}, {71, 88}, kN, kN, true, Tail::kBiasRelu},
      {"few rows", kF16, {5, 768}, {768, 768}, kN, kN, true, Tail::kSilu},
      {"one row", kF16, {1, 1024}, {1024, 300}, kN, kN, true, Tail::kResidual},
      {"batches that share weights", kF16, {3, 20, 64}, {1, 64, 48}, kN, kN, true, Tail::kBiasRelu},
      {"batches", kF16, {2, 3, 40, 64}, {2, 3, 64, 40}},
      {"batches, repeated", kF32, {2, 1, 9, 17}, {1, 3, 17, 11}},
      {"heads", kF16, {2, 4, 64, 32}, {2, 4, 64, 32}, kN, kT, false, Tail::kResidual},
      {"vector on the right", kF32, {6, 31}, {31}, kN, kV},
      {"vector on the left", kF16, {31}, {31, 13}, kV, kN},
      {"no k", kF32, {4, 0}, {0, 5}},
      {"no rows", kF16, {0, 16}, {16, 8}},
      {"deep k", kF16, {33, 4096}, {4096, 40}, kN, kN, true},
  };
  for (const ProductCase& c : cases) {
    Net net(c.type);
    const double scale = 1 / std::sqrt(std::max<double>(1, static_cast<double>(c.a.back())));
    const ir::ValueId a = net.input(c.a), b = c.constant_b ? net.constant(c.b, scale) : net.input(c.b, scale);
    const ir::ValueId y = net.add(ops::MatrixMultiply{c.op_a, c.op_b}, {a, b});
    Extents bias = *net.graph.type(y).extents();
    std::fill(bias.begin(), bias.end() - (c.tail == Tail::kNone ? 0 : 1), 1);
    net.finish(with_tail(net, y, c.tail, bias));
    check(net, matrix_multiply_tactic(), c.type, c.name);
  }
}

TEST_F(ContractionsOnGpu, Convolutions) {
  const FilterCase cases[] = {
      {"3x3", kF16, {2, 64, 14, 14}, {64, 64, 3, 3}, {}, {1, 1}, {}, 1, Tail::kBiasRelu},
      {"3x3 with residual", kBF16, {1, 32, 9, 11}, {48, 32, 3, 3}, {}, {1, 1}, {}, 1, Tail::kResidual},
      {"3x3 in f32", kF32, {1, 32, 9, 11}, {48, 32, 3, 3}, {2, 2}, {1, 1}, {}, 1, Tail::kSilu},
      {"first layer", kF16, {2, 3, 33, 35}, {64, 3, 7, 7}, {2, 2}, {3, 3}, {}, 1, Tail::kBiasRelu},
      {"first layer in f32", kF32, {1, 3, 19, 23}, {16, 3, 3, 3}, {2, 2}, {1, 1}},
      {"twelve channels", kF16, {1, 12, 20, 20}, {16, 12, 3, 3}, {}, {1, 1}, {}, 1, Tail::kSilu},
      {"58 channels", kF16, {1, 58, 10, 10}, {58, 58, 3, 3}, {}, {1, 1}, {}, 1, Tail::kSilu},
      {"1x1", kF16, {2, 64, 7, 7}, {256, 64, 1, 1}, {}, {}, {}, 1, Tail::kResidual},
      {"1x1, odd channels", kF16, {1, 35, 6, 5}, {27, 35, 1, 1}},
      {"1x1 strided", kF16, {1, 64, 8, 8}, {128, 64, 1, 1}, {2, 2}},
      {"dilated", kF16, {1, 16, 17, 15}, {24, 16, 3, 3}, {}, {2, 2}, {2, 2}},
      {"odd everything", kF16, {1, 5, 13, 9}, {7, 5, 3, 2}, {3, 2}, {1, 0}, {}, 1, Tail::kBiasRelu},
      {"grouped", kF16, {1, 32, 10, 10}, {64, 8, 3, 3}, {}, {1, 1}, {}, 4, Tail::kBiasRelu},
      {"grouped, odd", kF32, {1, 6, 10, 10}, {9, 2, 3, 3}, {}, {1, 1}, {}, 3},
      {"depthwise", kF16, {2, 32, 12, 13}, {32, 1, 3, 3}, {}, {1, 1}, {}, 32, Tail::kBiasRelu},
      {"depthwise strided 5x5", kF16, {1, 24, 15, 14}, {24, 1, 5, 5}, {2, 2}, {2, 2}, {}, 24, Tail::kSilu},
      {"depthwise, odd channels", kF32, {1, 7, 9, 9}, {7, 1, 3, 3}, {}, {1, 1}, {}, 7},
      {"depthwise multiplied", kF16, {1, 8, 9, 9}, {16, 1, 3, 3}, {}, {1, 1}, {}, 8},
      {"one axis", kF16, {2, 16, 40}, {32, 16, 5}, {2}, {2}},
      {"three axes", kF16, {1, 8, 5, 6, 7}, {16, 8, 3, 3, 3}, {1, 2, 1}, {1, 1, 1}},
      {"kernel as large as the input", kF32, {1, 4, 5, 5}, {6, 4, 5, 5}},
      {"deep, few pixels", kF16, {1, 256, 7, 7}, {64, 256, 3, 3}, {}, {1, 1}, {}, 1, Tail::kBiasRelu},
  };
  for (const FilterCase& c : cases) check(filter_net<ops::Convolution>(c), convolution_tactic(), c.type, c.name);
}

TEST_F(ContractionsOnGpu, Deconvolutions) {
  const FilterCase cases[] = {
      {"2x2 by 2", kF16, {1, 32, 7, 7}, {32, 16, 2, 2}, {2, 2}, {}, {}, 1, Tail::kBiasRelu},
      {"3x3 by 2", kF32, {2, 6, 5, 7}, {6, 5, 3, 3}, {2, 2}, {1, 1}, {}, 1, Tail::kResidual},
      {"dilated", kF32, {1, 4, 6, 6}, {4, 3, 3, 3}, {1, 2}, {1, 1}, {2, 2}},
      {"grouped", kF16, {1, 12, 6, 6}, {12, 2, 4, 4}, {2, 2}, {1, 1}, {}, 3},
      {"one axis", kF32, {1, 4, 9}, {4, 6, 3}, {3}, {}},
      {"three axes", kF32, {1, 4, 3, 4, 3}, {4, 2, 2, 2, 2}, {2, 1, 2}, {}},
  };
  for (const FilterCase& c : cases) check(filter_net<ops::Deconvolution>(c), deconvolution_tactic(), c.type, c.name);
}

/// Ours and cuBLASLt's, timed with `numerics`.
void print_product_rates(CudaDevice& gpu, const Net& net, int64_t m, int64_t n, int64_t k,
                         const VariantRun& options = {.timed = true, .optimization_level = 4}) {
  const double flops = 2.0 * static_cast<double>(m * n * k);
  const std::string name = str(m, " x ", n, " x ", k);
  const auto ours = run_variants(gpu, net.graph, matrix_multiply_tactic(), net.inputs, options);
  ASSERT_TRUE(ours) << ours.error().message;
  print_rates(name, flops, *ours);
  if (const auto theirs = run_variants(gpu, net.graph, cublaslt_product_tactic(), net.inputs, {.timed = true}))
    print_rates(name + " by cuBLASLt", flops, *theirs, 1);
}

TEST_F(ContractionsOnGpu, DISABLED_LargeProductRates) {
  for (const int64_t size : {2048, 4096, 8192}) {
    Net net(kF16);
    net.finish(
        net.add(ops::MatrixMultiply{MatrixOp::kNone, kT}, {net.input({size, size}), net.input({size, size}, 0.02)}));
    print_product_rates(*gpu_, net, size, size, size,
                        {.timed = true, .only = "wgmma 128x256", .optimization_level = 5});
  }
}

TEST_F(ContractionsOnGpu, DISABLED_SmallProductRates) {
  const int64_t sizes[][3] = {{128, 768, 768},  {128, 2304, 768},  {128, 3072, 768}, {128, 768, 3072},
                              {197, 768, 768},  {197, 2304, 768},  {197, 3072, 768}, {197, 768, 3072},
                              {1024, 768, 768}, {1024, 3072, 768}, {1024, 768, 3072}};
  for (const auto& [m, n, k] : sizes) {
    Net net(kF16);
    const ir::ValueId y = net.add(ops::MatrixMultiply{}, {net.input({m, k}), net.constant({k, n}, 0.02)});
    net.finish(with_tail(net, y, Tail::kBiasRelu, {1, n}));
    print_product_rates(*gpu_, net, m, n, k);
  }
}

TEST_F(ContractionsOnGpu, DISABLED_FewRowsProductRates) {
  const int64_t sizes[][3] = {{1, 2304, 768},   {1, 768, 3072},  {8, 3072, 768},   {1, 4096, 4096},
                              {16, 4096, 4096}, {1, 50257, 768}, {16, 50257, 768}, {1, 14336, 4096}};
  for (const auto& [m, n, k] : sizes) {
    Net net(kF16);
    const ir::ValueId y = net.add(ops::MatrixMultiply{}, {net.input({m, k}), net.constant({k, n}, 0.02)});
    net.finish(with_tail(net, y, Tail::kBiasRelu, {1, n}));
    print_product_rates(*gpu_, net, m, n, k);
  }
}

TEST_F(ContractionsOnGpu, DISABLED_SingleProductRates) {
  for (const bool tf32 : {false, true})
    for (const auto& [m, n, k] : {std::array<int64_t, 3>{128, 768, 768}, {128, 768, 3072}, {2048, 2048, 2048}}) {
      Net net(kF32);
      net.finish(net.add(ops::MatrixMultiply{}, {net.input({m, k}), net.constant({k, n}, 0.02)}));
      print_product_rates(*gpu_, net, m, n, k, {.numerics = {.tf32 = tf32}, .timed = true, .optimization_level = 4});
    }
}

TEST_F(ContractionsOnGpu, DISABLED_ConvolutionRates) {
  struct Layer {
    int64_t channels, size, out, kernel, stride;
  };
  const Layer layers[] = {{3, 224, 64, 7, 2},    {64, 56, 64, 1, 1},   {64, 56, 64, 3, 1},  {64, 56, 256, 1, 1},
                          {128, 28, 128, 3, 1},  {256, 14, 256, 3, 1}, {512, 7, 512, 3, 1}, {256, 56, 512, 1, 2},
                          {1024, 14, 256, 1, 1}, {512, 7, 2048, 1, 1}};
  for (const int64_t batch : {1, 32})
    for (const Layer& l : layers) {
      const Net net = filter_net<ops::Convolution>({"",
                                                    kF16,
                                                    {batch, l.channels, l.size, l.size},
                                                    {l.out, l.channels, l.kernel, l.kernel},
                                                    {l.stride, l.stride},
                                                    {l.kernel / 2, l.kernel / 2},
                                                    {},
                                                    1,
                                                    Tail::kBiasRelu});
      const auto ran =
          run_variants(*gpu_, net.graph, convolution_tactic(), net.inputs, {.timed = true, .optimization_level = 5});
      ASSERT_TRUE(ran) << ran.error().message;
      const int64_t pixels = batch * (l.size / l.stride) * (l.size / l.stride);
      print_rates(str("batch ", batch, ": ", l.channels, " of ", l.size, " to ", l.out, ", ", l.kernel, "x", l.kernel,
                      " by ", l.stride),
                  2.0 * static_cast<double>(pixels * l.out * l.channels * l.kernel * l.kernel), *ran);
    }
}

}  // namespace
}  // namespace kiln::cuda
