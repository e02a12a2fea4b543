#include "builder/sources.h"

#include <gtest/gtest.h>

#include "ops/fold.h"
#include "ops/unary.h"

namespace kiln {
namespace {

const HostTensor kOne = HostTensor::scalar(DType::kF32, 1);

TEST(Sources, ConstantsOfTheApiTakeNoNameThatAnotherComesFrom) {
  ir::Graph network;
  const ops::Constant given = source_constant("w", kOne);
  network.add_constant(fold_one(ops::Unary{ops::UnaryKind::kExp}, {&given}).value(), "derived");
  const ir::ValueId own = network.add_constant(kOne, "w"), second = network.add_constant(kOne, "w");
  const ir::Graph named = with_sources(network);
  EXPECT_EQ(named.origin(own)->source, "w (2)");
  EXPECT_EQ(named.origin(second)->source, "w (3)");
}

TEST(Sources, WhatAnImporterReadsIsFixedWhereOthersComeFromItToo) {
  ir::Graph network;
  const ops::Constant given = source_constant("w", kOne);
  const ir::ValueId read = network.add_constant(given, "w");
  network.add_constant(fold_one(ops::Unary{ops::UnaryKind::kExp}, {&given}).value(), "derived");
  EXPECT_EQ(read_sources(network), FixedSources{});
  network.mark_read(network.value(read).producer);
  EXPECT_EQ(read_sources(network), (FixedSources{{"w", "an attribute has its elements"}}));
}

}  // namespace
}  // namespace kiln
