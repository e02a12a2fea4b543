#include "passes/drop_unread_numbers.h"

#include <gtest/gtest.h>

#include "ir/interpret.h"
#include "ops/cast.h"
#include "ops/element_wise.h"
#include "ops/expand.h"
#include "ops/read_values.h"
#include "ops/unsqueeze.h"
#include "passes/testing/check_pass.h"
#include "tensor/view.h"

namespace kiln::passes {
namespace {

/// A graph whose host reads the integer x.
class ReadNumber : public ::testing::Test {
 protected:
  std::string after() {
    NullLog log;
    PassContext cx{log};
    EXPECT_TRUE(drop_unread_numbers(graph, cx) && verify(graph));
    return print(graph);
  }

  ir::Graph graph;
  const ir::ValueId x = graph.add_input("x", tensor_type(DType::kI64, Extents{1}));
  const ir::ValueId read = *graph.add_one(ops::ReadValues{}, {x}, "read");
};

TEST_F(ReadNumber, IsNotReadForDataAlone) {
  const ir::ValueId twice = *graph.add_one(ops::ElementWise{ops::ElementWiseKind::kSum}, {read, read});
  ASSERT_TRUE(graph.type(twice).values) << "its elements are known as expressions";
  graph.mark_output(twice, "y");
  const std::string text = after();
  EXPECT_EQ(text.find("ReadValues"), std::string::npos) << text;
  EXPECT_NE(text.find("(x, x)"), std::string::npos) << text;
}
TEST_F(ReadNumber, IsReadForAShape) {
  const ir::ValueId one = graph.add_input("one", tensor_type(DType::kF32, Extents{1}));
  graph.mark_output(*graph.add_one(ops::Expand{}, {one, read}), "y");
  const std::string before = print(graph);
  EXPECT_EQ(after(), before);
}
TEST_F(ReadNumber, IsReadForWhatIsAssumed) {
  graph.mark_output(read, "y");
  const sym::Expr n = (*graph.type(read).values)[0];
  graph.assume({sym::Relation::kEqual, n, 3, "x is 3"});
  const std::string before = print(graph);
  EXPECT_EQ(after(), before);
}
TEST_F(ReadNumber, OfAnOutputIsTheInput) {
  graph.mark_output(read, "y");
  const std::string text = after();
  EXPECT_EQ(text.find("ReadValues"), std::string::npos) << text;
  EXPECT_EQ(graph.outputs()[0].value, x);
}
// Random graphs have one symbol, so that none of their ops decides another.
TEST_F(ReadNumber, KeepsValuesAndSettles) {
  const ir::ValueId list = *graph.add_one(ops::Unsqueeze{{0}}, {read});
  const ir::ValueId floats = *graph.add_one(ops::Cast{DType::kF32}, {list});
  graph.mark_output(*graph.add_one(ops::ElementWise{ops::ElementWiseKind::kProd}, {floats, floats}), "y");
  graph.mark_output(read, "z");
  const std::vector<HostTensor> inputs{HostTensor::of(DType::kI64, {1}, std::vector<double>{-7})};
  const auto before = ir::interpret(graph, inputs);
  const std::string once = after();
  const auto behind = ir::interpret(graph, inputs);
  ASSERT_TRUE(before && behind);
  ASSERT_EQ(before->size(), 2u);
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ((*before)[i], (*behind)[i]);
  EXPECT_EQ(View((*behind)[0])[0], 49);
  EXPECT_EQ(after(), once);
}

}  // namespace
}  // namespace kiln::passes
