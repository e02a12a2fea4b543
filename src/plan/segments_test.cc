#include "plan/segments.h"

#include <gtest/gtest.h>

#include "plan/testing/sample_plan.h"

namespace kiln::plan {
namespace {

sym::Program symbol(int id) {
  return *sym::Program::from_words(std::vector<int64_t>{static_cast<int64_t>(sym::Kind::kSymbol), id}, id + 1);
}

/// Steps, each of which may decide one symbol, and read others as parameters. Symbol 0 is an input's.
class Segments : public ::testing::Test {
 protected:
  Segments() { plan.symbols = {{"n", 0, 0, -1}, {"a"}, {"b"}}; }
  void step(std::optional<int> decides, std::vector<int> reads) {
    Step s;
    if (decides) s.sizes = {{*decides, symbol(0)}};
    for (const int id : reads) s.params.push_back(symbol(id));
    profile.steps.push_back(std::move(s));
  }
  /// Where segments begin, or the error.
  std::string begins() {
    plan.profiles = {profile};
    const auto all = segments_of(plan);
    if (!all) return all.error().message;
    const std::vector<Segment>* segments = &all->front();
    std::string text;
    for (size_t i = 0; i < segments->size(); ++i) {
      const Segment& s = (*segments)[i];
      text += str(i ? " " : "", s.first);
      EXPECT_EQ(s.end, i + 1 < segments->size() ? (*segments)[i + 1].first : profile.steps.size());
    }
    return text;
  }

  Plan plan;
  Profile profile;
};

TEST_F(Segments, OneWhereNothingIsDecided) {
  step({}, {0}), step({}, {});
  EXPECT_EQ(begins(), "0");
}
TEST_F(Segments, BeginAtTheFirstReaderAfterTheSizesBefore) {
  step(1, {}), step(2, {0}), step({}, {}), step({}, {2}), step({}, {1, 2});
  EXPECT_EQ(begins(), "0 3");
}
TEST_F(Segments, ReadersThatDecideBeginOneToo) {
  step(1, {}), step({}, {1}), step(2, {1}), step({}, {1}), step({}, {2});
  EXPECT_EQ(begins(), "0 1 4");
}
TEST_F(Segments, AKnownSizeIsWhereItsSymbolsAre) {
  profile.known_sizes = {{2, symbol(1)}};
  step(1, {}), step({}, {2});
  EXPECT_EQ(begins(), "0 1");
  profile.known_sizes[0].value = sym::Program::constant(5);
  EXPECT_EQ(begins(), "0 2") << "nothing waits, and the size is taken at the end";
}
TEST_F(Segments, ADecidersOutputsDoNotWaitForItsSize) {
  step(1, {});
  profile.tensors.emplace_back().extents = {symbol(1)};
  profile.steps[0].outputs = {0};
  EXPECT_EQ(begins(), "0 1") << "the size is taken at the end";
  step({}, {});
  profile.steps[1].inputs = {0};
  EXPECT_EQ(begins(), "0 1");
}
TEST_F(Segments, SayWhatIsUnbound) {
  step({}, {1}), step(1, {});
  EXPECT_EQ(begins(), "profile 0: step 0 '': symbol 'a' is read, and nothing before binds it");
  profile.steps[0].params.clear();
  plan.outputs.resize(1);
  plan.outputs[0].name = "y", plan.outputs[0].extents = {symbol(2)};
  EXPECT_EQ(begins(), "profile 0: output 'y': symbol 'b' is read, and nothing before binds it");
  step(1, {});
  EXPECT_EQ(begins(), "profile 0: step 2 '': it decides symbol 'a', which is bound already");
}

}  // namespace
}  // namespace kiln::plan
