// Nests and concatenations that read what Slices and Transposes move where it lies, against the references of the ops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "backend/cpu/kernels/testing.h"
#include "backend/cpu/tactics/registry.h"
#include "backend/cpu/tactics/testing.h"
#include "ir/interpret.h"
#include "ir/parse.h"

namespace kiln::cpu {
namespace {

HostTensor made_up(const TensorType& type, double seed) {
  const Extents extents = type.opt_extents();
  std::vector<double> values;
  for (int64_t i = 0; i < volume(extents); ++i) values.push_back(std::sin(0.7 * static_cast<double>(i) + seed));
  return HostTensor::of(type.dtype, extents, values);
}

const Tactic* tactic_named(const ir::Graph& graph, ir::NodeId root, std::string_view name) {
  for (const Tactic* tactic : tactics_for(graph.node(root).op.info()))
    if (tactic->name() == name) return tactic;
  return nullptr;
}

/// The region of the network's last node by the tactic of that name, or why there is none.
struct Found {
  ir::Graph graph;
  Match region = reject("there is no such tactic");
};
Found find(std::string_view tactic, std::string_view text) {
  Found found{ir::parse(text).value()};
  const ir::NodeId root = found.graph.value(found.graph.outputs()[0].value).producer;
  const auto device = test_device(1);
  const Numerics numerics;
  if (const Tactic* named = tactic_named(found.graph, root, tactic))
    found.region = named->match({found.graph, numerics, *device}, root);
  return found;
}

/// One step does all of the network, and its numbers are those of the references, bit by bit.
void expect_one_step(std::string_view tactic, std::string_view text) {
  SCOPED_TRACE(text);
  const Found found = find(tactic, text);
  ASSERT_TRUE(found.region) << found.region.error().reason;
  const ir::Graph& graph = found.graph;
  std::vector<HostTensor> inputs;
  std::map<ir::ValueId, HostTensor> known;
  for (const ir::ValueId input : graph.inputs()) {
    inputs.push_back(made_up(graph.type(input), static_cast<double>(inputs.size())));
    known.emplace(input, inputs.back());
  }
  const auto expected = ir::interpret(graph, inputs);
  ASSERT_TRUE(expected) << expected.error().message;
  std::vector<HostTensor> of_region;
  for (const ir::ValueId id : found.region->inputs) {
    ASSERT_TRUE(known.contains(id) || graph.constant(id)) << "it reads a value that another step makes";
    if (!graph.constant(id)) of_region.push_back(known.at(id));
  }
  for_each_target([&] {
    const auto device = test_device(2);
    const Numerics numerics;
    const TacticContext cx{graph, numerics, *device};
    const Tactic& named = *tactic_named(graph, found.region->nodes.back(), tactic);
    const auto y = run_variant(cx, named, *found.region, named.variants(cx, *found.region)[0], of_region,
                               graph.output_type(found.region->nodes.back()).opt_extents());
    ASSERT_TRUE(y) << y.error().message;
    EXPECT_TRUE(std::ranges::equal(y->bytes(), (*expected)[0].bytes()));
  });
}

TEST(NestOfViews, Gates) {  // the halves of one product
  expect_one_step("nest of views",
                  "x: f32[2, 3, 34]; a = Slice{starts=[0], sizes=[17], axes=[2]}(x); "
                  "b = Slice{starts=[17], sizes=[17], axes=[2]}(x); s = Activation{kind=relu}(a); "
                  "y = ElementWise{kind=prod}(s, b); return y");
}
TEST(NestOfViews, RotaryEmbedding) {  // of heads that are part of a product of three projections
  expect_one_step(
      "nest of views",
      "x: f32[2, 5, 48]; c: f32[1, 1, 5, 2, 4]; s: f32[1, 1, 5, 2, 4]; "
      "q = Slice{starts=[16], sizes=[24], axes=[2]}(x); r = Reshape{dims=[2, 5, 3, 2, 4]}(q); "
      "t = Transpose{perm=[0, 2, 1, 3, 4]}(r); b = Slice{starts=[1], sizes=[2], strides=[-1], axes=[3]}(t); "
      "u = ElementWise{kind=prod}(t, c); v = ElementWise{kind=prod}(b, s); "
      "y = ElementWise{kind=sum}(u, v); return y");
}
TEST(NestOfViews, PairsThatTakeTurns) {
  expect_one_step("nest of views",
                  "x: f32[2, 3, 5, 8]; c: f32[1, 1, 5, 4, 1]; r = Reshape{dims=[2, 3, 5, 4, 2]}(x); "
                  "b = Slice{starts=[1], sizes=[2], strides=[-1], axes=[4]}(r); "
                  "u = ElementWise{kind=prod}(r, c); y = ElementWise{kind=sum}(u, b); return y");
}
TEST(NestOfViews, OfHalvesThatBroadcast) {
  expect_one_step("nest of views",
                  "x: f16[4, 6]; z: f16[3, 5, 3]; a = Slice{starts=[2], sizes=[1], axes=[0]}(x); "
                  "b = Slice{starts=[3], sizes=[3], axes=[1]}(a); r = Reshape{dims=[1, 1, 3]}(b); "
                  "y = ElementWise{kind=sum}(z, r); return y");
}
TEST(NestOfViews, SaysWhyNot) {
  const auto reason = [](std::string_view text) {
    const Found found = find("nest of views", text);
    return found.region ? "" : found.region.error().reason;
  };
  EXPECT_EQ(reason("x: f32[2, 6]; z: f32[2, 6]; y = ElementWise{kind=sum}(x, z); return y"),
            "it reads nothing that Slices or Transposes move");
  // Others read the slice, so it is there; rows would be read across; an image may lie with channels last.
  for (const char* text :
       {"x: f32[2, 6]; a = Slice{starts=[3], sizes=[3], axes=[1]}(x); y = Unary{kind=abs}(a); return y, a",
        "x: f32[2, 6]; a = Transpose{perm=[1, 0]}(x); y = Unary{kind=abs}(a); return y",
        "x: f32[2, 6]; a = Slice{starts=[0], sizes=[3], strides=[2], axes=[1]}(x); y = Unary{kind=abs}(a); return y",
        "x: f32[2, 6, 4, 4]; a = Slice{starts=[3], sizes=[3], axes=[1]}(x); y = Unary{kind=abs}(a); return y"})
    EXPECT_EQ(reason(text), "it reads nothing that Slices or Transposes move") << text;
}
/// A pointwise node above a Slice is computed for all that the Slice leaves out, too: it is not in the chain.
TEST(NestOfViews, EndsAtASliceOfWhatIsComputed) {
  const Found found = find("nest of views",
                           "x: f32[2, 6]; a = Unary{kind=abs}(x); b = Slice{starts=[3], sizes=[3], axes=[1]}(a); "
                           "y = Unary{kind=sqrt}(b); return y");
  ASSERT_TRUE(found.region) << found.region.error().reason;
  EXPECT_EQ(found.region->nodes.size(), 2U);
}

TEST(ConcatenationOfViews, Cache) {  // one layer's cache, and the heads of a product
  expect_one_step("concatenation of views",
                  "p: f32[3, 2, 4, 7, 8]; x: f32[2, 2, 96]; l = Slice{starts=[1], sizes=[1], axes=[0]}(p); "
                  "o = Reshape{dims=[2, 4, 7, 8]}(l); k = Slice{starts=[32], sizes=[32], axes=[2]}(x); "
                  "r = Reshape{dims=[2, 2, 4, 8]}(k); t = Transpose{perm=[0, 2, 1, 3]}(r); "
                  "y = Concatenation{axis=2}(o, t); return y");
}
TEST(ConcatenationOfViews, OfElementsOfOneByte) {
  expect_one_step("concatenation of views",
                  "x: i8[5, 6]; z: i8[5, 2]; a = Slice{starts=[3], sizes=[3], strides=[-1], axes=[1]}(x); "
                  "y = Concatenation{axis=1}(z, a, z); return y");
}
TEST(ConcatenationOfViews, SaysWhyNot) {
  const Found found =
      find("concatenation of views",
           "x: f32[6]; z: f32[3, 2]; r = Reshape{dims=[3, 2]}(x); y = Concatenation{axis=1}(r, z); return y");
  ASSERT_FALSE(found.region);
  EXPECT_EQ(found.region.error().reason, "it reads nothing that Slices or Transposes move");
}

}  // namespace
}  // namespace kiln::cpu
