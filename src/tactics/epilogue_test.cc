#include "tactics/epilogue.h"

#include <gtest/gtest.h>

#include "ir/parse.h"
#include "tactics/testing/fake_backend.h"

namespace kiln {
namespace {

/// Products of bytes have absent inputs behind a hook's: a sanitizer sees who looks at them.
TEST(ContractionVariant, ReadsWholeTensorsInTheFormatOfTheResult) {
  const ir::Graph graph =
      *ir::parse("x: f32[1, 8, 4, 4]; r: f32[1, 8, 4, 4]; s: f32[8]; y = Activation{kind=relu}(x); return y, r, s");
  testing::FakeBackend backend;
  const Numerics numerics;
  const ir::ValueId none = ir::ValueId::kNone, x = graph.inputs()[0], r = graph.inputs()[1], s = graph.inputs()[2];
  const Region region{.nodes = {}, .inputs = {x, x, none, none, r, s, none}, .outputs = {graph.outputs()[0].value}};
  const Format last = Format::channels_last(4);
  const Variant variant =
      contraction_variant({graph, numerics, backend.device()}, region, "packed", last, /*estimate_us=*/0);
  EXPECT_EQ(variant.inputs, (std::vector<Format>{last, {}, {}, last, last, {}, {}}));
}

}  // namespace
}  // namespace kiln
