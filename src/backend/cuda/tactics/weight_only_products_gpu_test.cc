// Products by quantized weights by every variant of their tactic, against the ops' references; on a machine with a GPU
// only.

#include "backend/cuda/tactics/weight_only_products.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "backend/cuda/testing/filter_net.h"
#include "backend/cuda/testing/on_gpu.h"
#include "ops/dequantize.h"
#include "ops/matrix_multiply.h"

namespace kiln::cuda {
namespace {

using ops::MatrixOp;
constexpr DType kF32 = DType::kF32, kF16 = DType::kF16, kBF16 = DType::kBF16, kI4 = DType::kI4, kI8 = DType::kI8,
                kU8 = DType::kU8;

HostTensor random_integers(DType type, const Extents& extents, unsigned seed) {
  HostTensor::Fresh fresh = *HostTensor::make(type, extents);
  std::mt19937 random(seed);
  for (std::byte& byte : fresh.data) byte = static_cast<std::byte>(random());
  return std::move(fresh.tensor);
}
HostTensor random_scales(DType type, const Extents& extents, double size) {
  std::mt19937 random(7);
  std::vector<double> numbers(static_cast<size_t>(volume(extents)));
  for (double& number : numbers) number = size * (1 + static_cast<double>(random() % 64) / 64);
  return HostTensor::of(type, extents, numbers);
}

struct Case {
  const char* name;
  DType type, weights;
  Extents x;
  int64_t n, block;  ///< of k; that itself: one scale a column
  MatrixOp b = MatrixOp::kTranspose;
  bool has_zeros = false;
  DType scale = kF32;
  Tail tail = Tail::kNone;
};
Net net_of(const Case& c) {
  Net net(c.type);
  const int64_t k = c.x.back(), blocks = k / c.block;
  const bool turned = c.b == MatrixOp::kTranspose;
  const auto matrix = [&](int64_t along_k) {
    Extents extents(c.x.size(), 1);
    extents[extents.size() - 2] = turned ? c.n : along_k, extents.back() = turned ? along_k : c.n;
    return extents;
  };
  const ir::ValueId x = net.input(c.x), q = net.graph.add_constant(random_integers(c.weights, matrix(k), 1));
  const double size = (bits_of(c.weights) == 4 ? 0.1 : 0.006) / std::sqrt(static_cast<double>(k));
  const ir::ValueId scale = net.graph.add_constant(random_scales(c.scale, matrix(blocks), size));
  ir::ValueId b = ir::ValueId::kNone;
  if (c.has_zeros)
    b = net.add(ops::Dequantize{.to = c.type},
                {q, scale, net.graph.add_constant(random_integers(c.weights, matrix(blocks), 2))});
  else
    b = net.add(ops::Dequantize{.to = c.type}, {q, scale});
  const ir::ValueId y = net.add(ops::MatrixMultiply{.b = c.b}, {x, b});
  Extents bias(c.x.size(), 1);
  bias.back() = c.n;
  net.finish(with_tail(net, y, c.tail, bias));
  return net;
}

class WeightOnlyOnGpu : public OnGpu {};

TEST_F(WeightOnlyOnGpu, AgreeWithTheReference) {
  const Case cases[] = {
      {"one row", kF16, kI4, {1, 1024}, 300, 128},
      {"one row with all behind it", kF16, kI4, {1, 1024}, 304, 128, MatrixOp::kTranspose, true, kF16, Tail::kBiasRelu},
      {"sixteen rows", kF16, kI4, {16, 2048}, 256, 32, MatrixOp::kTranspose, true, kF32, Tail::kResidual},
      {"five rows in bf16", kBF16, kI4, {5, 512}, 96, 64, MatrixOp::kTranspose, true, kBF16, Tail::kSilu},
      {"blocks of 16", kF16, kI4, {3, 256}, 48, 16},
      {"blocks of 256", kF16, kI4, {3, 1024}, 48, 256},
      {"blocks across steps", kF16, kI4, {3, 384}, 48, 48, MatrixOp::kTranspose, true},
      {"a scale a column", kF16, kI4, {9, 520}, 40, 520},
      {"k of no whole pieces", kF16, kI4, {9, 515}, 41, 515, MatrixOp::kTranspose, true},
      {"along n", kF16, kI4, {4, 256}, 72, 64, MatrixOp::kNone, true},
      {"bytes", kF16, kI8, {7, 640}, 80, 128, MatrixOp::kNone},
      {"bytes with zero points", kF16, kI8, {16, 640}, 80, 64, MatrixOp::kTranspose, true, kF16, Tail::kBiasRelu},
      {"bytes without a sign", kBF16, kU8, {2, 640}, 81, 32, MatrixOp::kTranspose, true},
      {"bytes whose zero is 0", kF16, kU8, {2, 640}, 81, 32},
      {"in FP32", kF32, kI4, {6, 512}, 64, 128, MatrixOp::kTranspose, true, kF32, Tail::kSilu},
      {"one row in FP32", kF32, kI8, {1, 512}, 65, 32},
      {"many rows", kF16, kI4, {200, 1024}, 264, 128, MatrixOp::kTranspose, true, kF16, Tail::kResidual},
      {"many rows of bytes", kBF16, kU8, {129, 256}, 72, 256, MatrixOp::kNone, true},
      {"batches", kF16, kI4, {2, 3, 256}, 64, 32, MatrixOp::kTranspose, false, kF32, Tail::kBiasRelu},
      {"more rows than kernels of few take at once", kF16, kI4, {40, 256}, 64, 32},
      {"a deep product", kF16, kI4, {1, 14336}, 64, 128},
  };
  for (const Case& c : cases) {
    const double tolerance = c.type == kF16 ? 4e-3 : c.type == kBF16 ? 3e-2 : 2e-5;
    const int ran = expect_agreement(c.name, net_of(c), weight_only_tactic(), tolerance, {.numerics = {.tf32 = false}});
    EXPECT_GE(ran, c.type == kF32 ? 1 : 2) << c.name;
  }
}

/// Times when weights are in the cache of the device; bench/weight_only.py has those from memory.
TEST_F(WeightOnlyOnGpu, DISABLED_Rates) {
  for (const int64_t rows : {1, 16, 512})
    for (const DType weights : {kI4, kI8}) {
      const Net net = net_of({"", kF16, weights, {rows, 4096}, 4096, 128});
      const auto ran = run_variants(*gpu_, net.graph, weight_only_tactic(), net.inputs, {.timed = true});
      ASSERT_TRUE(ran) << ran.error().message;
      print_rates(str(rows, " rows by ", weights), 2.0 * static_cast<double>(rows * 4096 * 4096), *ran);
    }
}

}  // namespace
}  // namespace kiln::cuda
