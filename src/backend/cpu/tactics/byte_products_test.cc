#include "backend/cpu/tactics/byte_products.h"

#include <gtest/gtest.h>

#include <random>

#include "backend/cpu/kernels/testing.h"
#include "backend/cpu/tactics/registry.h"
#include "backend/cpu/tactics/testing.h"
#include "ops/activation.h"
#include "ops/convolution.h"
#include "ops/dequantize.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/quantize.h"
#include "ops/reference_context.h"
#include "tensor/view.h"

namespace kiln::cpu {
namespace {

using ir::NodeId;
using ir::ValueId;

HostTensor random_bytes(DType type, Extents extents, unsigned seed) {
  HostTensor::Fresh fresh = *HostTensor::make(type, std::move(extents));
  std::mt19937 random(seed);
  for (std::byte& byte : fresh.data) byte = static_cast<std::byte>(random());
  return std::move(fresh.tensor);
}
HostTensor scales(Extents extents, float first) {
  std::vector<float> values(static_cast<size_t>(volume(extents)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = first * static_cast<float>(i % 3 + 1);
  return tensor_of(std::move(extents), values);
}

HostTensor byte(DType type, int rank, int64_t value) {
  return HostTensor::of_ints(type, Extents(static_cast<size_t>(rank), 1), std::vector{value});
}

/// A graph of dequantized operands under construction, with what its inputs get.
struct Network {
  ir::Graph graph;
  std::vector<ValueId> inputs;
  std::vector<HostTensor> fed;

  ValueId input(HostTensor value) {
    inputs.push_back(graph.add_input(str("x", inputs.size()), tensor_type(value.dtype(), value.extents())));
    fed.push_back(std::move(value));
    return inputs.back();
  }
  ValueId constant(HostTensor value) { return graph.add_constant(std::move(value)); }
  ValueId add(Op op, std::initializer_list<ValueId> inputs) { return *graph.add_one(std::move(op), inputs); }
  ValueId scale(int rank, float value) { return constant(scales(Extents(static_cast<size_t>(rank), 1), value)); }
  /// Bytes fed as an input, as numbers.
  ValueId numbers(DType type, Extents extents, float scale_value, unsigned seed) {
    const int rank = static_cast<int>(extents.size());
    return add(ops::Dequantize{}, {input(random_bytes(type, std::move(extents), seed)), scale(rank, scale_value)});
  }
  /// What the references of all nodes make of the inputs.
  HostTensor expected() const {
    std::map<ValueId, HostTensor> values;
    for (size_t i = 0; i < inputs.size(); ++i) values.emplace(inputs[i], fed[i]);
    const std::vector<NodeId> order = *graph.topological_order();
    for (const NodeId id : order) {
      const ir::Node& node = graph.node(id);
      if (const HostTensor* constant = graph.constant(node.outputs[0])) {
        values.emplace(node.outputs[0], *constant);
        continue;
      }
      std::vector<const HostTensor*> arguments;
      for (const ValueId value : node.inputs)
        arguments.push_back(value == ValueId::kNone ? nullptr : &values.at(value));
      values.emplace(node.outputs[0], std::move(run_reference(node.op, arguments)->front()));
    }
    return values.at(graph.outputs()[0].value);
  }
};

/// Runs the only variant on each target; bytes may be one level off, where rounding falls to the other side.
void check(Network& network, ValueId y, const Tactic& tactic, size_t nodes) {
  network.graph.mark_output(y, "y");
  const HostTensor expected = network.expected();
  for_each_target([&] {
    const auto device = test_device(2);
    const Numerics numerics;
    const TacticContext cx{network.graph, numerics, *device};
    const Match region = tactic.match(cx, network.graph.value(y).producer);
    ASSERT_TRUE(region.has_value()) << region.error().reason;
    EXPECT_EQ(region->nodes.size(), nodes);
    const Variant variant = tactic.variants(cx, *region)[0];
    std::vector<HostTensor> fed;  // in the order of the region's inputs
    for (const ValueId value : region->inputs)
      for (size_t i = 0; i < network.inputs.size(); ++i)
        if (network.inputs[i] == value) fed.push_back(network.fed[i]);
    const auto raw = run_variant(cx, tactic, *region, variant, fed, expected.extents());
    ASSERT_TRUE(raw.has_value()) << raw.error().message;
    const HostTensor ordered = *in_memory_order(variant.outputs[0], expected);
    const View got(*raw), want(ordered);
    const double allowed = expected.dtype() == DType::kF32 ? 1e-4 : 1;
    int64_t off = 0;
    for (int64_t i = 0; i < want.volume(); ++i) {
      ASSERT_NEAR(got[i], want[i], allowed) << i;
      off += got[i] != want[i];
    }
    EXPECT_LE(expected.dtype() == DType::kF32 ? 0 : off, want.volume() / 200);
  });
}

ops::Convolution padded() { return {.pre_pads = {1, 1}, .post_pads = {1, 1}}; }

TEST(ByteProducts, ConvolutionWithBiasAndRelu) {
  for (const DType type : {DType::kI8, DType::kU8}) {
    Network n;
    const ValueId q = n.input(random_bytes(type, {2, 5, 7, 6}, 1));
    const ValueId zero = n.constant(byte(type, 4, type == DType::kI8 ? -7 : 131));
    const ValueId x = n.add(ops::Dequantize{}, {q, n.scale(4, 0.02F), zero});
    const ValueId w = n.add(ops::Dequantize{}, {n.constant(random_bytes(DType::kI8, {40, 5, 3, 3}, 2)),
                                                n.constant(scales({40, 1, 1, 1}, 0.001F))});
    const ValueId sum = n.add(padded(), {x, w, n.constant(scales({40}, 0.5F))});
    const ValueId relu = n.add(ops::Activation{}, {sum});
    const ValueId y = n.add(ops::Quantize{DType::kU8}, {relu, n.scale(4, 0.03F), n.constant(byte(DType::kU8, 4, 3))});
    check(n, y, byte_convolution_tactic(), 5);
  }
}
TEST(ByteProducts, DepthwiseConvolution) {
  for (const DType type : {DType::kI8, DType::kU8}) {
    Network n;
    const ValueId x = n.numbers(type, {2, 40, 7, 6}, 0.02F, 1);
    const ValueId w = n.add(ops::Dequantize{}, {n.constant(random_bytes(DType::kI8, {40, 1, 3, 3}, 2)),
                                                n.constant(scales({40, 1, 1, 1}, 0.001F))});
    ops::Convolution op = padded();
    op.groups = 40;
    const ValueId sum = n.add(op, {x, w, n.constant(scales({40}, 0.5F))});
    const ValueId y = n.add(ops::Quantize{DType::kI8}, {n.add(ops::Activation{}, {sum}), n.scale(4, 0.01F)});
    check(n, y, byte_convolution_tactic(), 5);
  }
}
TEST(ByteProducts, RefuseOtherGroups) {
  Network n;
  const ValueId x = n.numbers(DType::kI8, {1, 8, 5, 5}, 0.01F, 1);
  const ValueId w =
      n.add(ops::Dequantize{}, {n.constant(random_bytes(DType::kI8, {8, 4, 1, 1}, 2)), n.scale(4, 0.002F)});
  const ValueId y = n.add(ops::Convolution{.groups = 2}, {x, w});
  const auto device = test_device(1);
  const Numerics numerics;
  const Match match = byte_convolution_tactic().match({n.graph, numerics, *device}, n.graph.value(y).producer);
  ASSERT_FALSE(match.has_value());
  EXPECT_EQ(match.error().reason,
            "a convolution in 2 groups by w f32[8, 4, 1, 1]; bytes have one, or one a channel of x and of the result");
}
TEST(ByteProducts, ConvolutionThatMakesFloats) {
  Network n;
  const ValueId x = n.numbers(DType::kI8, {1, 16, 5, 5}, 0.01F, 1);
  const ValueId w =
      n.add(ops::Dequantize{}, {n.constant(random_bytes(DType::kI8, {8, 16, 1, 1}, 2)), n.scale(4, 0.002F)});
  check(n, n.add(ops::Convolution{}, {x, w}), byte_convolution_tactic(), 3);
}
TEST(ByteProducts, ConvolutionWithAResidualOfBytes) {
  Network n;
  const ValueId x = n.numbers(DType::kI8, {1, 16, 5, 5}, 0.01F, 1),
                more = n.numbers(DType::kI8, {1, 8, 5, 5}, 0.05F, 3);
  const ValueId w =
      n.add(ops::Dequantize{}, {n.constant(random_bytes(DType::kI8, {8, 16, 3, 3}, 2)), n.scale(4, 0.002F)});
  const ValueId sum = n.add(ops::ElementWise{}, {n.add(padded(), {x, w}), more});
  const ValueId y = n.add(ops::Quantize{}, {n.add(ops::Activation{}, {sum}), n.scale(4, 0.1F)});
  check(n, y, byte_convolution_tactic(), 7);
}
TEST(ByteProducts, ProductsOfRows) {
  for (const int64_t rows : {1, 3, 30}) {
    Network n;
    const ValueId x = n.numbers(DType::kU8, {2, rows, 70}, 0.01F, 1);
    const ValueId b = n.add(ops::Dequantize{}, {n.constant(random_bytes(DType::kI8, {1, 70, 33}, 2)),
                                                n.constant(scales({1, 1, 33}, 0.01F))});
    const ValueId product = n.add(ops::MatrixMultiply{}, {x, b});
    const ValueId sum = n.add(ops::ElementWise{}, {product, n.constant(scales({1, 1, 33}, 0.25F))});
    check(n, n.add(ops::Quantize{}, {sum, n.scale(3, 0.3F)}), byte_product_tactic(), 5);
  }
}
TEST(ByteProducts, ATransposedMatrix) {
  Network n;
  const ValueId x = n.numbers(DType::kI8, {4, 32}, 0.01F, 1);
  const ValueId b =
      n.add(ops::Dequantize{}, {n.constant(random_bytes(DType::kI8, {17, 32}, 2)), n.constant(scales({17, 1}, 0.01F))});
  check(n, n.add(ops::MatrixMultiply{.b = ops::MatrixOp::kTranspose}, {x, b}), byte_product_tactic(), 3);
}

/// Why a product of x by w is none of bytes.
std::string refusal(Network& n, ValueId x, ValueId w) {
  const ValueId y = n.add(ops::MatrixMultiply{}, {x, w});
  const auto device = test_device(1);
  const Numerics numerics;
  const Match match = byte_product_tactic().match({n.graph, numerics, *device}, n.graph.value(y).producer);
  EXPECT_EQ(match.has_value(), takes_bytes(n.graph, n.graph.value(y).producer));
  return match ? "" : match.error().reason;
}
TEST(ByteProducts, SayWhatTheyDoNotTake) {
  Network n;
  const ValueId x = n.numbers(DType::kI8, {4, 8}, 0.01F, 1), bytes = n.constant(random_bytes(DType::kI8, {8, 8}, 2));
  const ValueId zeros = n.constant(byte(DType::kI8, 2, 1));
  EXPECT_EQ(refusal(n, x, n.add(ops::Dequantize{}, {bytes, n.scale(2, 1)})), "");
  EXPECT_EQ(refusal(n, x, n.add(ops::Dequantize{}, {bytes, n.scale(2, 1), zeros})), "w has zero points");
  EXPECT_EQ(refusal(n, x, n.add(ops::Dequantize{}, {bytes, n.constant(scales({8, 1}, 1))})),
            "w i8[8, 8] has scales f32[8, 1]; one, or one a channel of the result, is needed");
  EXPECT_EQ(refusal(n, x, n.numbers(DType::kI8, {8, 8}, 1, 3)), "w is i8[8, 8]; constant i8 is needed");
  EXPECT_EQ(refusal(n, n.input(scales({4, 8}, 1)), n.add(ops::Dequantize{}, {bytes, n.scale(2, 1)})),
            "f32[4, 8] is not dequantized");
}

/// SiLU of bytes: a function of a byte, which a nest looks up. It is no part of the convolution's step, and the
/// Quantize in front of it none of the nest's.
TEST(ByteProducts, FunctionsOfAByteAreStepsOfTheirOwn) {
  for (const int64_t extent : {4, 40}) {  // small results have no table
    Network n;
    const ValueId w =
        n.add(ops::Dequantize{}, {n.constant(random_bytes(DType::kI8, {8, 5, 1, 1}, 2)), n.scale(4, 0.01F)});
    const ValueId y = n.add(ops::Convolution{}, {n.numbers(DType::kI8, {1, 5, extent, extent}, 0.05F, 1), w});
    const auto through_bytes = [&](ValueId x) {
      const ValueId q = n.add(ops::Quantize{}, {x, n.scale(4, 0.03F)});
      return std::pair{q, n.add(ops::Dequantize{}, {q, n.scale(4, 0.03F)})};
    };
    const auto [sums, x] = through_bytes(y);
    const ValueId again = n.add(ops::Dequantize{}, {sums, n.scale(4, 0.03F)});
    const auto [sigmoid, weight] = through_bytes(n.add(ops::Activation{ops::ActivationKind::kSigmoid}, {x}));
    const ValueId product = n.add(ops::ElementWise{ops::ElementWiseKind::kProd}, {again, weight});
    const auto [silu, numbers] = through_bytes(product);
    n.graph.mark_output(silu, "y");
    const auto device = test_device(1);
    const Numerics numerics;
    const TacticContext cx{n.graph, numerics, *device};
    const Match whole = byte_convolution_tactic().match(cx, n.graph.value(silu).producer);
    EXPECT_EQ(whole.has_value(), extent == 4);
    if (extent == 4) continue;
    EXPECT_EQ(whole.error().reason, "it ends with a function of a byte, which is looked up in a step of its own");
    EXPECT_TRUE(byte_convolution_tactic().match(cx, n.graph.value(sums).producer).has_value());
    const auto& ends = tactics_of<ops::Quantize>();
    const Match nest = ends.back()->match(cx, n.graph.value(silu).producer);
    ASSERT_TRUE(nest.has_value()) << nest.error().reason;
    EXPECT_EQ(nest->inputs[0], sums);
    EXPECT_EQ(nest->nodes.size(), 7u);
  }
}

}  // namespace
}  // namespace kiln::cpu
