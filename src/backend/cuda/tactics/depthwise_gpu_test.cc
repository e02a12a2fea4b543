// Depthwise convolutions by every variant of their tactic, against the op's reference, and their rates; on a machine
// with a GPU only.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "backend/cuda/tactics/convolution.h"
#include "backend/cuda/testing/on_gpu.h"
#include "ops/activation.h"
#include "ops/convolution.h"

namespace kiln::cuda {
namespace {

struct DepthwiseCase {
  int64_t images, channels, size, kernel, stride;
};

Net net_of(const DepthwiseCase& c, DType type, Net::Inputs inputs) {
  Net net(type, inputs);
  ops::Convolution op;
  op.kernel = {c.kernel, c.kernel};
  op.strides = {c.stride, c.stride};
  op.pre_pads = op.post_pads = {c.kernel / 2, c.kernel / 2};
  op.groups = c.channels;
  const ir::ValueId x = net.input({c.images, c.channels, c.size, c.size + 1});
  const ir::ValueId y = net.add(op, {x, net.constant({c.channels, 1, c.kernel, c.kernel}), net.constant({c.channels})});
  net.finish(net.add(ops::Activation{.kind = ops::ActivationKind::kRelu}, {y}));
  return net;
}

std::string text_of(const DepthwiseCase& c) {
  return str(c.images, " of ", c.channels, " x ", c.size, ", ", c.kernel, "x", c.kernel, " by ", c.stride);
}

class DepthwiseOnGpu : public OnGpu {};

TEST_F(DepthwiseOnGpu, AgreesWithTheReference) {
  for (const DType type : {DType::kF16, DType::kF32})
    for (const DepthwiseCase& c :
         {DepthwiseCase{1, 96, 13, 3, 1}, DepthwiseCase{2, 72, 14, 5, 2}, DepthwiseCase{1, 40, 7, 7, 1},
          DepthwiseCase{3, 7, 9, 3, 2}, DepthwiseCase{1, 36, 11, 5, 1}}) {
      const VariantRun options{.numerics = {.strongly_typed = true}, .only = "depthwise", .optimization_level = 5};
      EXPECT_GE(expect_agreement(str(text_of(c), " of ", type), net_of(c, type, Net::Inputs::kRandom),
                                 convolution_tactic(), type == DType::kF32 ? 3e-6 : 2e-3, options),
                3);
    }
}

TEST_F(DepthwiseOnGpu, DISABLED_DepthwiseRates) {
  for (const DepthwiseCase& c :
       {DepthwiseCase{1, 32, 112, 3, 1}, DepthwiseCase{1, 96, 112, 3, 2}, DepthwiseCase{1, 144, 56, 5, 2},
        DepthwiseCase{1, 240, 28, 3, 2}, DepthwiseCase{1, 672, 14, 5, 1}, DepthwiseCase{1, 1152, 7, 5, 1},
        DepthwiseCase{1, 96, 56, 7, 1}, DepthwiseCase{1, 384, 14, 7, 1}, DepthwiseCase{32, 96, 112, 3, 2},
        DepthwiseCase{32, 672, 14, 5, 1}, DepthwiseCase{32, 96, 56, 7, 1}}) {
    const Net net = net_of(c, DType::kF16, Net::Inputs::kNone);
    auto ran = run_variants(*gpu_, net.graph, convolution_tactic(), {},
                            {.timed = true, .made_up = true, .only = "depthwise", .optimization_level = 5});
    ASSERT_TRUE(ran) << ran.error().message;
    const std::string first = ran->front().name;
    std::ranges::stable_sort(*ran, {}, [](const RanVariant& v) { return v.failure.empty() ? v.time_us : 1e9; });
    std::string line;
    for (const RanVariant& variant : *ran)
      line += str(" | ", variant.name.substr(10), variant.name == first ? "*" : "", ' ',
                  static_cast<double>(static_cast<int64_t>(variant.time_us * 100)) / 100, variant.failure);
    std::printf("depthwise %s%s\n", text_of(c).c_str(), line.c_str());
  }
}

}  // namespace
}  // namespace kiln::cuda
