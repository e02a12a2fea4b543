#include "passes/source_uses.h"

#include <gtest/gtest.h>

#include "base/log.h"
#include "ops/cast.h"
#include "ops/convolution.h"
#include "ops/element_wise.h"
#include "ops/fold.h"
#include "ops/reshape.h"
#include "ops/slice.h"
#include "ops/unary.h"
#include "passes/pass.h"

namespace kiln::passes {
namespace {

using Fixed = FixedSources;

class SourceUsesTest : public ::testing::Test {
 protected:
  ir::ValueId source(const std::string& name, const Extents& extents, double value) {
    const std::vector<double> numbers(static_cast<size_t>(volume(extents)), value);
    return graph_.add_constant(source_constant(name, HostTensor::of(DType::kF32, extents, numbers)), name);
  }
  ir::ValueId add(Op op, std::initializer_list<ir::ValueId> inputs) {
    return graph_.add_one(std::move(op), inputs).value();
  }
  Fixed fixed_by_pipeline(ir::ValueId output, bool refittable = false) {
    graph_.mark_output(output, "y");
    NullLog log;
    PassContext cx{log};
    cx.refittable = refittable;
    const Status done = run_pipeline(graph_, cx);
    EXPECT_TRUE(done) << done.error().message;
    return cx.fixed_sources;
  }
  /// Sources of all constants that are left, in the order of nodes.
  std::vector<std::string> sources_left() const {
    std::vector<std::string> result;
    for (int i = 0; i < graph_.num_nodes(); ++i)
      if (const auto id = static_cast<ir::NodeId>(i); graph_.alive(id))
        if (const auto* constant = graph_.node(id).op.as<ops::Constant>(); constant && constant->origin)
          result.push_back(str(constant->origin->sources));
    return result;
  }

  ir::Graph graph_;
  const ir::ValueId x_ = graph_.add_input("x", tensor_type(DType::kF32, Extents{1, 4, 8, 8}));
  const ops::ElementWise prod_{ops::ElementWiseKind::kProd}, sum_{ops::ElementWiseKind::kSum};
};

TEST_F(SourceUsesTest, FoldsKeepTheirSources) {
  const ir::ValueId convolved = add(ops::Convolution{}, {x_, source("w", {4, 4, 1, 1}, 2)});
  const ir::ValueId scaled = add(prod_, {convolved, source("scale", {1, 4, 1, 1}, 3)});
  EXPECT_EQ(fixed_by_pipeline(add(sum_, {scaled, source("shift", {1, 4, 1, 1}, 4)})), Fixed{});
  EXPECT_EQ(sources_left(), (std::vector<std::string>{"[scale, w]", "[scale, shift]"}));
}

TEST_F(SourceUsesTest, WhatDecidesARewriteIsFixed) {
  const ir::ValueId one = add(prod_, {x_, source("one", {1, 1, 1, 1}, 1)});
  const ir::ValueId kept = add(sum_, {one, source("kept", {1, 4, 1, 1}, 1.5)});
  EXPECT_EQ(fixed_by_pipeline(kept), (Fixed{{"one", "its elements decided a rewrite (simplify_arithmetic)"}}));
  EXPECT_EQ(sources_left(), std::vector<std::string>{"[kept]"});
}

TEST_F(SourceUsesTest, WhatDecidesOnceIsFixedWhoeverElseReadsIt) {
  const ir::ValueId one = source("one", {1, 1, 1, 1}, 1);
  EXPECT_EQ(fixed_by_pipeline(add(sum_, {add(prod_, {x_, one}), one})),
            (Fixed{{"one", "its elements decided a rewrite (simplify_arithmetic)"}}));
  EXPECT_EQ(sources_left(), std::vector<std::string>{"[one]"});
}

TEST_F(SourceUsesTest, WhatDecidesAndKeepsItsReaderIsFixed) {
  const ir::ValueId scaled = add(prod_, {add(ops::Unary{ops::UnaryKind::kAbs}, {x_}), source("c", {1, 4, 1, 1}, 1.5)});
  const ir::ValueId half = graph_.add_constant(HostTensor::of(DType::kF32, {1, 1, 1, 1}, std::vector<double>{0.5}));
  EXPECT_EQ(fixed_by_pipeline(add(ops::ElementWise{ops::ElementWiseKind::kPow}, {scaled, half})),
            (Fixed{{"c", "its signs decided a rewrite (simplify_arithmetic)"}}));
  EXPECT_EQ(sources_left(), std::vector<std::string>{"[c]"});
}

TEST_F(SourceUsesTest, NothingIsFixedByValueInRefittableNetworks) {
  const ir::ValueId one = add(prod_, {x_, source("one", {1, 1, 1, 1}, 1)});
  const ir::ValueId two = add(sum_, {one, source("also one", {1, 1, 1, 1}, 1)});
  const ops::Slice pad{.starts = {0, 0, -1, -1}, .sizes = {1, 4, 10, 10}, .mode = SliceMode::kFill};
  constexpr ir::ValueId kNone = ir::ValueId::kNone;
  const ir::ValueId padded = add(pad, {two, kNone, kNone, kNone, source("zero", {}, 0)});
  const ir::ValueId convolved = add(ops::Convolution{}, {padded, source("w", {4, 4, 3, 3}, 2)});
  EXPECT_EQ(fixed_by_pipeline(convolved, true), Fixed{});
  EXPECT_EQ(sources_left(), (std::vector<std::string>{"[one]", "[also one]", "[zero]", "[w]"}));
}

TEST_F(SourceUsesTest, NodesThatMergeKeepTheirSourcesEqual) {
  const ir::ValueId a = add(prod_, {x_, source("a", {1, 4, 1, 1}, 1.5)});
  const ir::ValueId b = add(prod_, {x_, source("b", {1, 4, 1, 1}, 1.5)});
  const std::string why = "another constant has the same elements, and what reads them became one";
  EXPECT_EQ(fixed_by_pipeline(add(ops::ElementWise{ops::ElementWiseKind::kMax}, {a, b})),
            (Fixed{{"a", why}, {"b", why}}));
}

TEST_F(SourceUsesTest, EqualConstantsOfTwoSourcesStayTwo) {
  const ir::ValueId a = add(prod_, {x_, source("a", {1, 4, 1, 1}, 1.5)});
  EXPECT_EQ(fixed_by_pipeline(add(sum_, {a, source("b", {1, 4, 1, 1}, 1.5)})), Fixed{});
  EXPECT_EQ(sources_left(), (std::vector<std::string>{"[a]", "[b]"}));
}

TEST_F(SourceUsesTest, WhatDecidesShapesIsFixed) {
  const auto* sixteen = graph_.producer_as<ops::Constant>(source("sixteen", {2}, 16));
  const ops::Constant shape = fold_one(ops::Cast{DType::kI64}, {sixteen}).value();
  EXPECT_EQ(fixed_by_pipeline(add(ops::Reshape{}, {x_, graph_.add_constant(shape)})),
            (Fixed{{"sixteen", "it decides shapes"}}));
}

}  // namespace
}  // namespace kiln::passes
