#include "passes/quantize_contractions.h"

#include <gtest/gtest.h>

#include <limits>

#include "ops/convolution.h"
#include "ops/dequantize.h"
#include "ops/transpose.h"
#include "tensor/view.h"

namespace kiln::passes {
namespace {

using ir::ValueId;

/// A transposed x, convolved.
struct Network {
  explicit Network(double weight = -2) {
    x = graph.add_input("x", tensor_type(DType::kF32, Extents{1, 4, 4, 2}));
    const ValueId moved = *graph.add_one(ops::Transpose{{0, 3, 1, 2}}, {x}, "moved");
    const std::vector<double> w{1, weight, 0, 0, 254, 127};
    HostTensor::Fresh fresh = *HostTensor::make(DType::kF32, {3, 2, 1, 1});
    for (size_t i = 0; i < w.size(); ++i) store_number(DType::kF32, fresh.data.data(), static_cast<int64_t>(i), w[i]);
    y = *graph.add_one(ops::Convolution{}, {moved, graph.add_constant(std::move(fresh.tensor))}, "conv");
    graph.mark_output(y, "y");
  }
  const ir::Node& dequantize(int input) {
    const ValueId value = graph.node(graph.value(y).producer).inputs[static_cast<size_t>(input)];
    return graph.node(graph.value(value).producer);
  }
  ir::Graph graph;
  ValueId x, y;
};

TEST(QuantizeContractions, ByTheRangeOfWhatIsMoved) {
  Network n;
  std::vector<LeftInFloat> left;
  ASSERT_TRUE(quantize_contractions(n.graph, {{"x", 2.54F}}, left).has_value());
  EXPECT_TRUE(left.empty());
  ASSERT_TRUE(n.dequantize(0).op.as<ops::Dequantize>());
  ASSERT_TRUE(n.dequantize(1).op.as<ops::Dequantize>());
  EXPECT_FLOAT_EQ(static_cast<float>(View(*n.graph.constant(n.dequantize(0).inputs[1]))[0]), 0.02F);
  const HostTensor& scales = *n.graph.constant(n.dequantize(1).inputs[1]);
  EXPECT_EQ(scales.extents(), (Extents{3, 1, 1, 1}));
  EXPECT_FLOAT_EQ(static_cast<float>(View(scales)[0]), 2.0F / 127);
  EXPECT_EQ(View(scales)[1], 1);  // a channel of zeros
  EXPECT_EQ(View(scales)[2], 2);
}
TEST(QuantizeContractions, TellsWhatHasNoRange) {
  Network n;
  std::vector<LeftInFloat> left;
  ASSERT_TRUE(quantize_contractions(n.graph, {{"z", 1.0F}}, left).has_value());
  EXPECT_EQ(left, (std::vector<LeftInFloat>{{"conv", "the range of its input is not known"}}));
  EXPECT_FALSE(n.dequantize(0).op.as<ops::Dequantize>());
}

TEST(QuantizeContractions, LeavesWeightsThatAreNotFinite) {
  for (const double weight : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Network n(weight);
    std::vector<LeftInFloat> left;
    ASSERT_TRUE(quantize_contractions(n.graph, {{"x", 1.0F}}, left).has_value());
    EXPECT_EQ(left, (std::vector<LeftInFloat>{{"conv", "its weights are not all finite"}}));
    EXPECT_FALSE(n.dequantize(1).op.as<ops::Dequantize>());
  }
}
/// Numbers whose 127th part no float can tell still have a scale.
TEST(QuantizeContractions, HasAScaleForTheSmallest) {
  Network n(1e-44);
  std::vector<LeftInFloat> left;
  ASSERT_TRUE(quantize_contractions(n.graph, {{"x", 1e-45F}}, left).has_value());
  EXPECT_TRUE(left.empty());
  EXPECT_GT(static_cast<float>(View(*n.graph.constant(n.dequantize(0).inputs[1]))[0]), 0);
  EXPECT_GT(scale_of_range(1e-44F), 0);
  EXPECT_EQ(scale_of_range(127), 1);
}

}  // namespace
}  // namespace kiln::passes
