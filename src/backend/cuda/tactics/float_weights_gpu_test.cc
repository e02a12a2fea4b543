// Convolutions of halves by FP32 weights: every family's digits; on a machine with a GPU only.
#include <gtest/gtest.h>

#include <cmath>

#include "backend/cuda/tactics/convolution.h"
#include "backend/cuda/testing/net.h"
#include "backend/cuda/testing/on_gpu.h"
#include "ir/interpret.h"
#include "ops/activation.h"
#include "ops/cast.h"
#include "ops/convolution.h"
#include "tensor/view.h"

namespace kiln::cuda {
namespace {

class FloatWeightsOnGpu : public OnGpu {};

struct Case {
  const char* family;  ///< in the names of variants
  Extents x, w;
  std::vector<int64_t> strides, pads;
  int64_t groups;
};

/// The same numbers as another type has them.
HostTensor as(DType type, const HostTensor& value) {
  HostTensor::Fresh fresh = HostTensor::make(type, value.extents()).value();
  const View view(value);
  for (int64_t i = 0; i < view.volume(); ++i) store_number(type, fresh.data.data(), i, view[i]);
  return fresh.tensor;
}

/// Inputs of type `x`, results in FP32: halves would hide what is to be seen.
ir::Graph network(const Case& c, DType x, const HostTensor& w) {
  ir::Graph graph;
  ops::Convolution op{.strides = c.strides, .pre_pads = c.pads, .post_pads = c.pads, .groups = c.groups};
  const auto add = [&](Op made, std::initializer_list<ir::ValueId> from) {
    return graph.add_one(std::move(made), from).value();
  };
  ir::ValueId y = add(op, {graph.add_input("x", tensor_type(x, c.x)), graph.add_constant(w)});
  y = add(ops::Activation{.kind = ops::ActivationKind::kLeakyRelu, .alpha = 0.25f}, {y});
  if (x != DType::kF32) y = add(ops::Cast{DType::kF32}, {y});
  graph.mark_output(y, "y");
  return graph;
}

TEST_F(FloatWeightsOnGpu, KeepTheirDigits) {
  const Case cases[] = {
      {"stem", {2, 3, 61, 70}, {32, 3, 3, 3}, {2, 2}, {1, 1}, 1},
      {"mma", {2, 3, 30, 31}, {16, 3, 3, 3}, {2, 2}, {1, 1}, 1},
      {"mma", {1, 16, 28, 28}, {96, 16, 1, 1}, {1, 1}, {0, 0}, 1},
      {"mma", {2, 16, 9, 11}, {16, 8, 3, 3}, {1, 2}, {1, 0}, 2},
      {"wgmma", {2, 32, 30, 33}, {16, 32, 1, 1}, {1, 1}, {0, 0}, 1},
      {"wgmma", {1, 8, 15, 16}, {24, 8, 3, 2}, {1, 1}, {1, 1}, 1},
      {"small", {1, 32, 56, 56}, {16, 32, 1, 1}, {1, 1}, {0, 0}, 1},
      {"small", {1, 72, 13, 13}, {24, 72, 1, 1}, {1, 1}, {0, 0}, 1},
      {"simt", {1, 7, 12, 13}, {20, 7, 3, 3}, {1, 1}, {1, 1}, 1},
      {"depthwise", {2, 32, 13, 14}, {32, 1, 3, 3}, {1, 1}, {1, 1}, 32},
      {"depthwise", {1, 72, 14, 14}, {72, 1, 5, 5}, {2, 2}, {2, 2}, 72},
      {"depthwise", {1, 7, 9, 9}, {7, 1, 3, 3}, {1, 1}, {1, 1}, 7},
  };
  uint64_t seed = 0;
  for (const Case& c : cases)
    for (const DType half : {DType::kF16, DType::kBF16}) {
      const double k = static_cast<double>(volume(c.w) / c.w[0]);
      const HostTensor x = random_tensor(half, c.x, ++seed),
                       w = random_tensor(DType::kF32, c.w, ++seed, 1 / std::sqrt(k));
      const auto expected = ir::interpret(network(c, DType::kF32, w), {as(DType::kF32, x)});
      const auto rounded = ir::interpret(network(c, DType::kF32, as(DType::kF32, as(half, w))), {as(DType::kF32, x)});
      ASSERT_TRUE(expected && rounded);
      const auto ran =
          run_variants(*gpu_, network(c, half, w), convolution_tactic(), {x},
                       {.only = c.family, .optimization_level = c.family == std::string_view("simt") ? 5 : 2});
      ASSERT_TRUE(ran) << ran.error().message;
      EXPECT_FALSE(ran->empty()) << c.family;
      // BF16's two parts have 16 bits.
      const double tolerance = half == DType::kF16 ? 4e-6 : 2e-5;
      EXPECT_GT(relative_error((*rounded)[0], (*expected)[0]), 5 * tolerance) << "the test sees nothing";
      for (const RanVariant& variant : *ran) {
        EXPECT_EQ(variant.failure, "") << variant.name;
        if (!variant.failure.empty()) continue;
        EXPECT_LE(relative_error(variant.result, (*expected)[0]), tolerance)
            << name_of(half) << ' ' << volume(c.w) << " weights, " << variant.name;
      }
    }
}

}  // namespace
}  // namespace kiln::cuda
