#include "tactics/assignments.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ir/parse.h"
#include "tactics/cover.h"
#include "tactics/testing/fake_backend.h"

namespace kiln {
namespace {

using testing::FakeBackend;
using testing::FakeTiming;

class Verbose final : public Log {
 public:
  void write(Severity, std::string_view message) override { lines.emplace_back(message); }
  std::vector<std::string> lines;
};

/// One op, which "heavy" runs in three ways, two of them with copies to other formats.
struct Network {
  Network() : cache("fake") {}
  Result<Cover> cover() {
    const Numerics numerics;
    const TacticContext cx{graph, numerics, backend.device(), 3};
    FakeTiming timing(backend);
    auto found = cover_graph(cx, backend, timing, {.surface = {}, .assignments = &cache}, log);
    timed = timing.timed;
    return found;
  }
  /// The hashes of the table's rows, the fastest first, and what runs them.
  std::vector<std::pair<uint64_t, std::string>> rows() const {
    std::vector<std::pair<uint64_t, std::string>> result;
    for (const std::string& line : log.lines) {
      const size_t kernel = line.find(", 0.0, "), hash = line.find(", 0x", kernel);
      if (!line.starts_with("   ") || hash == line.npos) continue;
      result.emplace_back(std::stoull(line.substr(hash + 2), nullptr, 16), line.substr(kernel + 7, hash - kernel - 7));
    }
    return result;
  }

  static const Tile* tile_of(const Cover& cover) {
    const auto found = std::ranges::find_if(cover.tiles, [](const Tile& tile) { return tile.tactic; });
    return found == cover.tiles.end() ? nullptr : &*found;
  }

  ir::Graph graph = ir::parse("x: f32[1, 8, 4, 4]; y = Softmax{axis=1}(x); return y").value();
  FakeBackend backend;
  TimingCache cache;
  Verbose log;
  std::vector<std::string> timed;
};

TEST(Assignments, WhatIsChosenIsRecordedWithItsRivals) {
  Network network;
  const auto cover = network.cover();
  ASSERT_TRUE(cover) << cover.error().message;
  const auto rows = network.rows();
  ASSERT_EQ(rows.size(), 4u);  // the reference, too
  EXPECT_EQ(rows[3].second, "reference: only");
  ASSERT_EQ(network.cache.keys().size(), 1u);
  const auto assigned = network.cache.find_assignment(network.cache.keys()[0]);
  ASSERT_TRUE(assigned);
  const auto chosen = std::ranges::find(rows, assigned->tactic, [](const auto& row) { return row.first; });
  ASSERT_NE(chosen, rows.end());
  ASSERT_TRUE(Network::tile_of(*cover));
  EXPECT_EQ(chosen->second, "heavy: " + Network::tile_of(*cover)->variant.name);
  EXPECT_EQ(assigned->time_us, Network::tile_of(*cover)->time_us);
}

/// Whichever it is, what it costs, formats included: nothing is timed.
TEST(Assignments, AreObeyed) {
  Network network;
  const auto first = network.cover();
  ASSERT_TRUE(first) << first.error().message;
  const Hash128 op = network.cache.keys()[0];
  for (const auto& [tactic, kernel] : network.rows()) {
    network.cache.assign(op, {tactic, 1234});
    const auto cover = network.cover();
    ASSERT_TRUE(cover) << cover.error().message;
    const Tile* tile = Network::tile_of(*cover);
    ASSERT_TRUE(tile) << kernel;
    EXPECT_EQ(str(tile->tactic->name(), ": ", tile->variant.name), kernel);
    EXPECT_EQ(tile->time_us, 1234);
    EXPECT_GE(cover->estimate_us, 1234);  // what it takes, not what insisting on it is worth
    EXPECT_LT(cover->estimate_us, 1300);
    EXPECT_EQ(network.timed, std::vector<std::string>{});
    EXPECT_EQ(network.cache.find_assignment(op), (TimingCache::Assignment{tactic, 1234}));
  }
}

TEST(Assignments, OfWhatIsNotThereAreErrors) {
  Network network;
  ASSERT_TRUE(network.cover());
  const Hash128 op = network.cache.keys()[0];
  const auto rows = network.rows();
  network.cache.assign(op, {0x1234, 1});
  const auto unknown = network.cover();
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("assigns it tactic 0x1234, which is not one of those that can run it here"),
            std::string::npos)
      << unknown.error().message;
  network.cache.assign(op, {rows[0].first, 1});
  network.backend.fails_to_compile = rows[0].second.substr(std::string("heavy: ").size());
  const auto gone = network.cover();
  ASSERT_FALSE(gone);
  EXPECT_NE(gone.error().message.find("not one of those that can run it here"), std::string::npos)
      << gone.error().message;
}

/// The same op at another place of the network, or of another name, is another op.
TEST(Assignments, AreOfPlacesInANetwork) {
  const auto keys_of = [](std::string_view text) {
    Network network;
    network.graph = ir::parse(text).value();
    EXPECT_TRUE(network.cover());
    return network.cache.keys();
  };
  const std::string_view one = "x: f32[1, 8, 4, 4]; y = Softmax{axis=1}(x); return y";
  EXPECT_EQ(keys_of(one), keys_of(one));
  EXPECT_EQ(keys_of("x: f32[1, 8, 4, 4]; y = Softmax{axis=1}(x); z = Softmax{axis=1}(x); return y, z").size(), 2u);
  EXPECT_NE(keys_of(one), keys_of("x: f32[1, 8, 4, 4]; y = Softmax{axis=2}(x); return y"));
}

}  // namespace
}  // namespace kiln
