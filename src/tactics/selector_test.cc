#include "tactics/selector.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ir/parse.h"
#include "tactics/cover.h"
#include "tactics/testing/fake_backend.h"

namespace kiln {
namespace {

using testing::FakeBackend;
using testing::FakeTiming;

/// Answers what a test says, and keeps what it is shown.
class Selector final : public TacticSelector {
 public:
  Result<std::vector<size_t>> select(const TacticContext&, const std::string& name,
                                     std::span<const Algorithm> algorithms) override {
    names.push_back(name);
    shown.emplace_back();
    for (const Algorithm& one : algorithms)
      shown.back().push_back(str(one.candidate.tactic->name(), ": ", one.candidate.variant.name));
    if (wanted >= algorithms.size()) return std::vector<size_t>{};
    return std::vector<size_t>{wanted};
  }
  void chose(std::span<const std::optional<size_t>> algorithms) override {
    for (size_t i = 0; i < algorithms.size(); ++i)
      chosen.push_back(algorithms[i] ? shown[i][*algorithms[i]] : std::string("none"));
  }
  void end_profile() override {}

  size_t wanted = 99;  ///< of each region, if it has so many; else whichever the cover likes
  std::vector<std::string> names, chosen;
  std::vector<std::vector<std::string>> shown;
};

constexpr std::string_view kOne = "x: f32[1, 8, 4, 4]; y = Softmax{axis=1}(x); return y";
constexpr std::string_view kChain =
    "x: f32[1, 8, 4, 4]; a = Softmax{axis=1}(x); b = Activation{kind=relu}(a); c = Activation{kind=tanh}(b);"
    "d = Softmax{axis=1}(c); y = Activation{kind=relu}(d); return y";

struct Network {
  explicit Network(std::string_view text, uint64_t seed = 0) : graph(ir::parse(text).value()), backend(seed) {}
  Result<Cover> cover(TacticSelector* selector, size_t most_tactics = 0) {
    const Numerics numerics;
    const TacticContext cx{graph, numerics, backend.device(), 3};
    FakeTiming timing(backend);
    return cover_graph(cx, backend, timing, {.surface = {}, .selector = selector, .most_tactics = most_tactics}, log);
  }
  ir::Graph graph;
  FakeBackend backend;
  NullLog log;
};

std::vector<std::string> tiles_of(const Cover& cover) {
  std::vector<std::string> tiles;
  for (const Tile& tile : cover.tiles)
    if (tile.tactic) tiles.push_back(str(tile.tactic->name(), ": ", tile.variant.name));
  return tiles;
}

TEST(Selector, IsObeyedWhateverAChoiceCosts) {
  Network network(kOne);
  Selector all;
  ASSERT_TRUE(network.cover(&all));
  ASSERT_EQ(all.shown.size(), 1u);
  ASSERT_EQ(all.shown[0].size(), 4u);  // three variants and the reference
  for (size_t i = 0; i < 4; ++i) {
    Selector one;
    one.wanted = i;
    const auto cover = network.cover(&one);
    ASSERT_TRUE(cover) << cover.error().message;
    EXPECT_EQ(tiles_of(*cover), std::vector{all.shown[0][i]});
    EXPECT_EQ(one.chosen, std::vector{all.shown[0][i]});
  }
}

/// Whatever is measured, each build asks about the same regions, and what it runs is what it reports.
TEST(Selector, IsAskedAboutTheSameRegions) {
  Selector first;
  Network network(kChain);
  network.backend.estimates = false;
  ASSERT_TRUE(network.cover(&first));
  ASSERT_FALSE(first.shown.empty());
  for (uint64_t seed = 1; seed < 20; ++seed) {
    Network other(kChain, seed);
    other.backend.estimates = false;
    Selector selector;
    const auto cover = other.cover(&selector);
    ASSERT_TRUE(cover) << cover.error().message;
    EXPECT_EQ(selector.names, first.names) << "seed " << seed;
    EXPECT_EQ(selector.shown, first.shown) << "seed " << seed;
    EXPECT_EQ(selector.chosen, tiles_of(*cover)) << "seed " << seed;
  }
}

TEST(Selector, IsNotShownWhatFails) {
  Network network(kOne);
  Selector all;
  ASSERT_TRUE(network.cover(&all));
  const std::string first = all.shown[0][0].substr(std::string("heavy: ").size());
  for (std::string FakeBackend::*failure : {&FakeBackend::fails_to_run, &FakeBackend::fails_to_compile}) {
    Network failing(kOne);
    failing.backend.*failure = first;
    Selector selector;
    ASSERT_TRUE(failing.cover(&selector));
    EXPECT_EQ(selector.shown[0], std::vector(all.shown[0].begin() + 1, all.shown[0].end()));
  }
}

TEST(Selector, ItsErrorsEndTheBuild) {
  class Refusing final : public TacticSelector {
    Result<std::vector<size_t>> select(const TacticContext&, const std::string&, std::span<const Algorithm>) override {
      return error(Code::kInvalidArgument, "not today");
    }
    void chose(std::span<const std::optional<size_t>>) override { ADD_FAILURE() << "nothing was chosen"; }
    void end_profile() override {}
  } refusing;
  const auto cover = Network(kOne).cover(&refusing);
  ASSERT_FALSE(cover);
  EXPECT_EQ(cover.error().message, "not today");
}

TEST(MostTactics, BoundsCandidatesOfTheSameNodes) {
  for (const auto& [limit, shown] : {std::pair{size_t{0}, size_t{4}}, {1, 2}, {2, 3}}) {
    Selector selector;
    ASSERT_TRUE(Network(kOne).cover(&selector, limit));
    EXPECT_EQ(selector.shown[0].size(), shown) << limit;  // with the reference
  }
}

}  // namespace
}  // namespace kiln
