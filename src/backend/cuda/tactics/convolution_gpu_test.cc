// Convolutions of pictures by the kernels of sm_90a's copy engine: every variant against the ops' references, and their
// rates; on a machine with a GPU only.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backend/cuda/tactics/convolution.h"
#include "backend/cuda/tactics/deconvolution.h"
#include "backend/cuda/testing/filter_net.h"
#include "backend/cuda/testing/on_gpu.h"
#include "ops/activation.h"
#include "ops/concatenation.h"
#include "ops/convolution.h"
#include "ops/deconvolution.h"
#include "ops/element_wise.h"

namespace kiln::cuda {
namespace {

constexpr DType kF32 = DType::kF32, kF16 = DType::kF16, kBF16 = DType::kBF16;

/// A network of one convolution as pictures have it, with bias and relu.
struct Layer {
  int64_t batch, channels, size, out, kernel, stride;
  std::string name() const {
    return str("batch ", batch, ": ", channels, " of ", size, " to ", out, ", ", kernel, "x", kernel, " by ", stride);
  }
  Net net() const {
    return filter_net<ops::Convolution>({"",
                                         kF16,
                                         {batch, channels, size, size},
                                         {out, channels, kernel, kernel},
                                         {stride, stride},
                                         {kernel / 2, kernel / 2},
                                         {},
                                         1,
                                         Tail::kBiasRelu});
  }
  double flops() const {
    const int64_t pixels = batch * (size / stride) * (size / stride);
    return 2.0 * static_cast<double>(pixels * out * channels * kernel * kernel);
  }
};

class ConvolutionsOnGpu : public OnGpu {
 protected:
  /// Every variant whose name holds `only`, within what the type's rounding explains. FP32 is TF32.
  void check(const Net& net, const Tactic& tactic, DType type, const std::string& name, const std::string& only) {
    const double tolerance = type == kF16 ? 4e-3 : type == kBF16 ? 3e-2 : 3e-3;
    expect_agreement(name, net, tactic, tolerance, {.numerics = {.tf32 = true}, .only = only});
  }
  /// Prints the rates of the variants whose names hold `only`.
  void print_layer(const Layer& layer, const std::string& only) {
    const Net net = layer.net();
    const auto ran = run_variants(*gpu_, net.graph, convolution_tactic(), net.inputs,
                                  {.timed = true, .only = only, .optimization_level = 5});
    ASSERT_TRUE(ran) << ran.error().message;
    print_rates(layer.name(), layer.flops(), *ran);
  }
};

TEST_F(ConvolutionsOnGpu, PixelsByTheCopyEngine) {
  const FilterCase cases[] = {
      {"3x3", kF16, {2, 64, 14, 14}, {64, 64, 3, 3}, {}, {1, 1}, {}, 1, Tail::kBiasRelu},
      {"strided, last pixels unread", kF16, {3, 64, 9, 12}, {72, 64, 3, 3}, {2, 2}, {1, 1}, {}, 1, Tail::kResidual},
      {"channels beyond a line", kBF16, {2, 72, 11, 9}, {64, 72, 3, 3}, {1, 2}, {2, 0}, {2, 1}, 1, Tail::kBiasRelu},
      {"many tiles", kF16, {1, 64, 96, 96}, {136, 64, 1, 3}, {}, {0, 1}, {}, 1, Tail::kSilu},
      {"lines of channels in f32", kF32, {2, 36, 8, 8}, {40, 36, 2, 3}, {2, 1}, {0, 1}, {}, 1, Tail::kBiasRelu},
      {"deep, few pixels", kF16, {1, 256, 7, 7}, {64, 256, 3, 3}, {}, {1, 1}, {}, 1, Tail::kBiasRelu},
  };
  for (const FilterCase& c : cases)
    check(filter_net<ops::Convolution>(c), convolution_tactic(), c.type, c.name, "im2col");
  const FilterCase transposed[] = {
      {"2x2 by 2 of lines", kF16, {2, 64, 9, 7}, {64, 24, 2, 2}, {2, 2}, {}, {}, 1, Tail::kBiasRelu},
      {"2x3 by 2 and 3, residual", kBF16, {2, 72, 20, 19}, {72, 64, 2, 3}, {2, 3}, {}, {}, 1, Tail::kResidual},
      {"4x4 by 2 of lines", kF16, {1, 64, 9, 7}, {64, 24, 4, 4}, {2, 2}, {1, 1}, {}, 1, Tail::kSilu},
  };
  for (const FilterCase& c : transposed)
    check(filter_net<ops::Deconvolution>(c), deconvolution_tactic(), c.type, c.name, "im2col");
}

TEST_F(ConvolutionsOnGpu, FirstLayers) {
  const FilterCase cases[] = {
      {"7x7 by 2", kF16, {3, 3, 61, 70}, {64, 3, 7, 7}, {2, 2}, {3, 3}, {}, 1, Tail::kBiasRelu},
      {"3x3", kBF16, {2, 3, 40, 300}, {24, 3, 3, 3}, {1, 1}, {1, 1}, {}, 1, Tail::kSilu},
      {"3x3 by 2, many turns", kF16, {4, 4, 224, 224}, {16, 4, 3, 3}, {2, 2}, {1, 1}, {}, 1, Tail::kSilu},
      {"5x4, odd out channels", kF16, {1, 1, 33, 35}, {7, 1, 5, 4}, {2, 2}, {0, 2}, {}, 1, Tail::kResidual},
      {"two groups of sums", kF16, {2, 7, 30, 29}, {120, 7, 5, 5}, {1, 1}, {2, 2}, {}, 1, Tail::kBiasRelu},
  };
  for (const FilterCase& c : cases)
    check(filter_net<ops::Convolution>(c), convolution_tactic(), c.type, c.name, "stem");
}

TEST_F(ConvolutionsOnGpu, TilesWithTheirHalo) {
  const FilterCase cases[] = {
      {"3x3", kF16, {2, 64, 40, 56}, {64, 64, 3, 3}, {}, {1, 1}, {}, 1, Tail::kBiasRelu},
      {"3x2, odd extents", kBF16, {2, 72, 37, 29}, {40, 72, 3, 2}, {}, {2, 0}, {}, 1, Tail::kResidual},
      {"two chunks", kF16, {1, 128, 30, 33}, {64, 128, 3, 3}, {}, {1, 1}, {}, 1, Tail::kSilu},
      {"two groups of sums", kF16, {1, 64, 30, 33}, {120, 64, 3, 3}, {}, {0, 0}, {}, 1, Tail::kBiasRelu},
      {"in f32", kF32, {1, 32, 17, 19}, {33, 32, 3, 3}, {}, {1, 1}, {}, 1, Tail::kBiasRelu},
      {"many tiles a block", kF16, {16, 64, 112, 112}, {8, 64, 2, 2}, {}, {1, 1}, {}, 1, Tail::kBiasRelu},
  };
  for (const FilterCase& c : cases)
    check(filter_net<ops::Convolution>(c), convolution_tactic(), c.type, c.name, "halo");
}

TEST_F(ConvolutionsOnGpu, JoinedInputs) {
  struct Case {
    int64_t first, second, out;
    Tail tail;
  };
  for (const Case& c : {Case{64, 64, 40, Tail::kBiasRelu}, Case{128, 72, 136, Tail::kResidual}}) {
    Net net(kF16);
    const ir::ValueId a = net.input({2, c.first, 21, 19}), b = net.input({2, c.second, 21, 19});
    const ir::ValueId x = net.add(ops::Concatenation{.axis = 1}, {a, b});
    ops::Convolution op;
    op.pre_pads = op.post_pads = {1, 1};
    const ir::ValueId y = net.add(op, {x, net.constant({c.out, c.first + c.second, 3, 3}, 0.03)});
    net.finish(with_tail(net, y, c.tail, {1, c.out, 1, 1}));
    check(net, joined_convolution_tactic(), kF16, str("to ", c.out), "");
  }
}

TEST_F(ConvolutionsOnGpu, DISABLED_CopyEngineRates) {
  const Layer layers[] = {{32, 64, 56, 64, 3, 1},  {32, 128, 28, 128, 3, 1}, {32, 256, 14, 256, 3, 1},
                          {32, 512, 7, 512, 3, 1}, {32, 128, 56, 128, 3, 2}, {1, 256, 14, 256, 3, 1},
                          {1, 512, 7, 512, 3, 1},  {1, 128, 28, 128, 3, 1},  {1, 64, 256, 64, 3, 1},
                          {1, 128, 256, 64, 3, 1}, {1, 1024, 32, 512, 3, 1}, {1, 1024, 16, 1024, 3, 1},
                          {1, 128, 128, 128, 3, 1}};
  for (const Layer& l : layers) print_layer(l, "im2col");
}
TEST_F(ConvolutionsOnGpu, DISABLED_HaloRates) {
  const Layer layers[] = {{32, 64, 56, 64, 3, 1}, {1, 64, 56, 64, 3, 1},   {128, 64, 56, 64, 3, 1},
                          {1, 64, 256, 64, 3, 1}, {1, 128, 256, 64, 3, 1}, {1, 64, 128, 128, 3, 1}};
  for (const Layer& l : layers) print_layer(l, "halo");
}
TEST_F(ConvolutionsOnGpu, DISABLED_FirstLayerRates) {
  const Layer layers[] = {{1, 3, 224, 64, 7, 2}, {32, 3, 224, 64, 7, 2}, {32, 3, 224, 32, 3, 2}, {1, 3, 256, 64, 3, 1}};
  for (const Layer& l : layers) print_layer(l, "stem");
}

}  // namespace
}  // namespace kiln::cuda
