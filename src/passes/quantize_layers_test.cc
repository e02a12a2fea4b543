#include "passes/quantize_layers.h"

#include <gtest/gtest.h>

#include "ir/precision.h"
#include "ops/dequantize.h"
#include "ops/matrix_multiply.h"
#include "ops/pooling.h"
#include "ops/quantize.h"
#include "ops/unary.h"
#include "passes/quantize_contractions.h"
#include "tensor/view.h"

namespace kiln::passes {
namespace {

using ir::ValueId;

/// x, its magnitudes, their product by a matrix, magnitudes of that. All but the product are to be INT8.
struct Network {
  Network() {
    x = graph.add_input("x", tensor_type(DType::kF32, Extents{2, 4}));
    first = *graph.add_one(ops::Unary{ops::UnaryKind::kAbs}, {x}, "first");
    graph.set_name(first, "first");
    HostTensor::Fresh fresh = *HostTensor::make(DType::kF32, {4, 4});
    for (int64_t i = 0; i < 16; ++i) store_number(DType::kF32, fresh.data.data(), i, 1);
    product = *graph.add_one(ops::MatrixMultiply{}, {first, graph.add_constant(std::move(fresh.tensor))}, "product");
    last = *graph.add_one(ops::Unary{ops::UnaryKind::kAbs}, {product}, "last");
    graph.mark_output(last, "y");
    for (const ValueId value : {first, last})
      ir::set_precision(graph, graph.value(value).producer, "layer", {DType::kI8, true});
  }
  Status quantize(const Ranges& ranges) {
    std::vector<LeftInFloat> left;
    TRY(quantize_contractions(graph, ranges, left));
    return quantize_layers(graph, ranges);
  }
  ValueId input_of(ValueId value) const { return graph.node(graph.value(value).producer).inputs[0]; }
  std::optional<ValueId> missing(ValueId value) const {
    return input_without_bytes(graph, graph.value(value).producer);
  }
  ir::Graph graph;
  ValueId x, first, product, last;
};

TEST(QuantizeLayers, ByTheRangeOfWhatTheyRead) {
  Network n;
  ASSERT_TRUE(n.quantize({{"x", 127.0F}, {"first", 127.0F}}).has_value());
  EXPECT_TRUE(n.graph.producer_as<ops::Dequantize>(n.input_of(n.first)));
  EXPECT_EQ(n.missing(n.first), std::nullopt);
}

TEST(QuantizeLayers, BehindSumsOfBytesNoRangeIsNeeded) {
  Network n;
  ASSERT_TRUE(n.quantize({{"first", 1.0F}, {"product", 1.0F}}).has_value());
  EXPECT_EQ(n.input_of(n.last), n.product);
  EXPECT_EQ(n.missing(n.last), std::nullopt);
  EXPECT_EQ(n.missing(n.first), n.x);
}

TEST(QuantizeLayers, SumsThatOthersReadHaveTheirRange) {
  Network n;
  n.graph.mark_output(n.product, "sums");
  EXPECT_EQ(n.missing(n.last), n.product);
  ASSERT_TRUE(n.quantize({{"first", 1.0F}}).has_value());
  EXPECT_EQ(n.missing(n.last), n.product);
}

TEST(QuantizeLayers, OnlyWhereThatIsAskedFor) {
  Network n;
  ir::clear_precision(n.graph, n.graph.value(n.first).producer);
  ASSERT_TRUE(n.quantize({{"x", 127.0F}}).has_value());
  EXPECT_EQ(n.input_of(n.first), n.x);
  EXPECT_EQ(n.missing(n.first), std::nullopt);
  EXPECT_EQ(n.missing(n.last), n.product);  // a product of floats
}

}  // namespace
}  // namespace kiln::passes
