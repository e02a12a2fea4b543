// Compares NVIDIA's libraries, by every variant of their tactics, with the ops' references; on a machine with a GPU and
// these libraries only.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backend/cuda/device/cublaslt.h"
#include "backend/cuda/device/cudnn.h"
#include "backend/cuda/tactics/cublaslt.h"
#include "backend/cuda/tactics/cudnn.h"
#include "backend/cuda/testing/on_gpu.h"
#include "ops/activation.h"
#include "ops/convolution.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"

namespace kiln::cuda {
namespace {

using ops::MatrixOp;
constexpr DType kF32 = DType::kF32, kF16 = DType::kF16, kBF16 = DType::kBF16;
constexpr MatrixOp kT = MatrixOp::kTranspose, kN = MatrixOp::kNone;

/// The ops behind a contraction.
struct Tail {
  bool bias = false, residual = false, relu = false;
};
constexpr Tail kNone{}, kBias{true, false, false}, kRelu{false, false, true}, kBiasRelu{true, false, true},
    kResidual{false, true, false}, kAll{true, true, true};

/// Adds the tail, whose bias runs along `axis`, and the output.
void finish(Net& net, ir::ValueId y, const Tail& tail, size_t axis) {
  const Extents extents = *net.graph.type(y).extents();
  Extents bias(extents.size(), 1);
  bias[axis] = extents[axis];
  const ops::ElementWise sum{ops::ElementWiseKind::kSum};
  if (tail.bias) y = net.add(sum, {y, net.constant(bias)});
  if (tail.residual) y = net.add(sum, {y, net.input(extents)});
  if (tail.relu) y = net.add(ops::Activation{.kind = ops::ActivationKind::kRelu}, {y});
  net.finish(y);
}

class LibrariesOnGpu : public OnGpu {
 protected:
  /// Every variant within what the type's rounding explains.
  void check(const Net& net, const Tactic& tactic, DType type, const std::string& name) {
    for (const bool tf32 : {false, true}) {
      if (tf32 && type != kF32) continue;
      Numerics numerics{.tf32 = tf32, .cudnn = true};
      numerics.cublas_lt = &tactic != &cudnn_tactic();  // to which it leaves products
      const double tolerance = type == kF16 ? 4e-3 : type == kBF16 ? 3e-2 : tf32 ? 3e-3 : 2e-5;
      num_run_ += expect_agreement(name, net, tactic, tolerance, {.numerics = numerics});
    }
  }
  void TearDown() override {
    if (gpu_) std::printf("%d variants\n", num_run_);
  }

  int num_run_ = 0;
};

struct ProductCase {
  const char* name;
  DType type;
  Extents a, b;
  MatrixOp op_a = kN, op_b = kN;
  bool constant_b = false;
  Tail tail = {};
};
Net product_net(const ProductCase& c) {
  Net net(c.type);
  const double scale = 1 / std::sqrt(std::max<double>(1, static_cast<double>(c.a.back())));
  const ir::ValueId a = net.input(c.a), b = c.constant_b ? net.constant(c.b, scale) : net.input(c.b, scale);
  const ir::ValueId y = net.add(ops::MatrixMultiply{c.op_a, c.op_b}, {a, b});
  finish(net, y, c.tail, net.graph.type(y).shape.size() - 1);
  return net;
}

TEST_F(LibrariesOnGpu, CublasLtProducts) {
  if (const auto library = CublasLt::instance(); !library) GTEST_SKIP() << library.error().message;
  const ProductCase cases[] = {
      {"plain", kF32, {128, 64}, {64, 96}},
      {"primes", kF32, {37, 53}, {53, 41}, kN, kN, false, kBiasRelu},
      {"plain in half", kF16, {128, 64}, {64, 96}},
      {"even in half", kF16, {38, 54}, {54, 42}, kN, kN, false, kBiasRelu},
      {"both transposed", kF16, {128, 96}, {80, 128}, kT, kT, false, kRelu},
      {"a transposed", kBF16, {128, 96}, {128, 80}, kT, kN, false, kBias},
      {"b transposed", kF16, {96, 128}, {80, 128}, kN, kT, true, kBiasRelu},
      {"residual", kF16, {256, 256}, {256, 256}, kN, kN, true, kResidual},
      {"all", kF16, {256, 320}, {192, 320}, kN, kT, true, kAll},
      {"all in f32", kF32, {256, 320}, {192, 320}, kN, kT, true, kAll},
      {"all in bf16", kBF16, {100, 72}, {72, 88}, kN, kN, true, kAll},
      {"one row", kF16, {1, 1024}, {1024, 304}, kN, kN, true, kBias},
      {"shared weights", kF16, {3, 20, 64}, {1, 64, 48}, kN, kN, true, kBiasRelu},
      {"shared a", kF16, {1, 20, 64}, {5, 64, 48}},
      {"shared weights, a transposed", kF32, {3, 64, 20}, {1, 64, 48}, kT, kN, false, kAll},
      {"batches", kF16, {2, 3, 40, 64}, {2, 3, 64, 40}, kN, kN, false, kResidual},
      {"heads", kF16, {2, 4, 64, 32}, {2, 4, 64, 32}, kN, kT},
      {"batches in f32", kF32, {2, 3, 17, 9}, {2, 3, 9, 11}},
      {"deep", kF16, {33, 4096}, {4096, 40}, kN, kN, true, kBias},
  };
  for (const ProductCase& c : cases) check(product_net(c), cublaslt_product_tactic(), c.type, c.name);
}

struct FilterCase {
  const char* name;
  DType type;
  Extents x, w;
  std::vector<int64_t> strides, pads, dilations;
  int64_t groups = 1;
  Tail tail = {};
};
Net filter_net(const FilterCase& c) {
  Net net(c.type);
  const double scale = 1 / std::sqrt(static_cast<double>(volume(std::span(c.w).subspan(1))));
  const ir::ValueId x = net.input(c.x), w = net.constant(c.w, scale);
  ops::Convolution op;
  op.strides = c.strides;
  op.pre_pads = op.post_pads = c.pads;
  op.dilations = c.dilations;
  op.groups = c.groups;
  finish(net, net.add(op, {x, w}), c.tail, 1);
  return net;
}

TEST_F(LibrariesOnGpu, CublasLtPointConvolutions) {
  if (const auto library = CublasLt::instance(); !library) GTEST_SKIP() << library.error().message;
  const FilterCase cases[] = {
      {"plain", kF16, {2, 64, 7, 7}, {256, 64, 1, 1}},
      {"bias, residual, relu", kF16, {2, 64, 7, 7}, {256, 64, 1, 1}, {}, {}, {}, 1, kAll},
      {"in f32", kF32, {2, 24, 5, 3}, {40, 24, 1, 1}, {}, {}, {}, 1, kAll},
      {"in bf16", kBF16, {1, 64, 9, 7}, {24, 64, 1, 1}, {}, {}, {}, 1, kBiasRelu},
      {"one axis", kF16, {2, 16, 40}, {32, 16, 1}, {}, {}, {}, 1, kResidual},
  };
  for (const FilterCase& c : cases) check(filter_net(c), cublaslt_point_tactic(), c.type, c.name);
}

TEST_F(LibrariesOnGpu, CudnnConvolutions) {
  if (const auto library = Cudnn::instance(); !library) GTEST_SKIP() << library.error().message;
  const FilterCase cases[] = {
      {"3x3", kF16, {2, 32, 14, 15}, {48, 32, 3, 3}, {}, {1, 1}},
      {"bias", kF16, {2, 32, 14, 15}, {48, 32, 3, 3}, {}, {1, 1}, {}, 1, kBias},
      {"relu", kF16, {2, 32, 14, 15}, {48, 32, 3, 3}, {}, {1, 1}, {}, 1, kRelu},
      {"residual", kF16, {2, 32, 14, 15}, {48, 32, 3, 3}, {}, {1, 1}, {}, 1, kResidual},
      {"bias, relu", kF16, {1, 64, 28, 28}, {64, 64, 3, 3}, {}, {1, 1}, {}, 1, kBiasRelu},
      {"all", kF16, {1, 64, 28, 28}, {64, 64, 3, 3}, {}, {1, 1}, {}, 1, kAll},
      {"all in bf16", kBF16, {1, 64, 14, 14}, {128, 64, 3, 3}, {2, 2}, {1, 1}, {}, 1, kAll},
      {"f32", kF32, {1, 16, 12, 12}, {32, 16, 3, 3}, {}, {1, 1}, {}, 1, kBiasRelu},
      {"all in f32", kF32, {1, 16, 12, 12}, {32, 16, 3, 3}, {}, {1, 1}, {}, 1, kAll},
      {"first layer", kF16, {2, 3, 32, 32}, {64, 3, 7, 7}, {2, 2}, {3, 3}, {}, 1, kBiasRelu},
      {"padded first layer", kF16, {1, 4, 64, 64}, {64, 4, 7, 7}, {2, 2}, {3, 3}, {}, 1, kBiasRelu},
      {"1x1 strided", kF16, {1, 64, 8, 8}, {128, 64, 1, 1}, {2, 2}},
      {"1x1, residual", kF16, {2, 64, 7, 7}, {256, 64, 1, 1}, {}, {}, {}, 1, kAll},
      {"dilated", kF16, {1, 16, 17, 15}, {24, 16, 3, 3}, {}, {2, 2}, {2, 2}, 1, kBias},
      {"depthwise", kF16, {2, 32, 12, 13}, {32, 1, 3, 3}, {}, {1, 1}, {}, 32, kBiasRelu},
      {"grouped", kF16, {1, 64, 10, 10}, {64, 16, 3, 3}, {}, {1, 1}, {}, 4, kBiasRelu},
      {"one axis", kF16, {2, 16, 40}, {32, 16, 5}, {2}, {2}, {}, 1, kBias},
      {"three axes", kF16, {1, 8, 5, 6, 7}, {16, 8, 3, 3, 3}, {1, 2, 1}, {1, 1, 1}},
      {"uneven steps", kF16, {1, 16, 16, 16}, {16, 16, 3, 3}, {2, 2}, {0, 0}},
      {"deep, few pixels", kF16, {1, 512, 7, 7}, {512, 512, 3, 3}, {}, {1, 1}, {}, 1, kBiasRelu},
  };
  for (const FilterCase& c : cases) {
    // Odd shapes may have no engine: the tactic then refuses, and says so.
    const Net net = filter_net(c);
    const Numerics numerics{.cublas_lt = false, .cudnn = true};
    const TacticContext cx{net.graph, numerics, *gpu_, 5};
    const Match match = cudnn_tactic().match(cx, net.graph.value(net.graph.outputs()[0].value).producer);
    const bool common = c.groups == 1 && c.x.size() == 4 && c.x[1] % 8 == 0;
    if (!match) {
      std::printf("%s: refused: %s\n", c.name, match.error().reason.c_str());
      EXPECT_FALSE(common) << c.name << ": " << match.error().reason;
      continue;
    }
    check(net, cudnn_tactic(), c.type, c.name);
  }
}

}  // namespace
}  // namespace kiln::cuda
