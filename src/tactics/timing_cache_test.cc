#include "tactics/timing_cache.h"

#include <gtest/gtest.h>

#include <limits>

namespace kiln {
namespace {

constexpr Hash128 kKey{1, 2}, kOther{3, 4};

TEST(TimingCache, IsItsBytes) {
  TimingCache cache("a device");
  cache.insert(kKey, 1.5);
  cache.insert(kOther, 0);
  const auto read = TimingCache::parse(cache.serialize(), "a device");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ((*read)->find(kKey), 1.5);
  EXPECT_EQ((*read)->find(kOther), 0);
  EXPECT_FALSE((*read)->find({5, 6}));
  EXPECT_EQ((*read)->serialize(), cache.serialize());
  EXPECT_EQ(TimingCache::parse(cache.serialize(), "another").error().code, Code::kVersion);
}

TEST(TimingCache, KeepsAssignments) {
  using Assignment = TimingCache::Assignment;
  TimingCache cache("a device");
  cache.insert(kKey, 1.5);
  cache.assign(kOther, {77, 2.5});
  EXPECT_EQ(cache.keys(), (std::vector<Hash128>{kKey, kOther}));
  EXPECT_FALSE(cache.find(kOther));
  EXPECT_FALSE(cache.find_assignment(kKey));
  const auto read = TimingCache::parse(cache.serialize(), "a device");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ((*read)->find_assignment(kOther), (Assignment{77, 2.5}));
  EXPECT_EQ((*read)->serialize(), cache.serialize());
  TimingCache other("a device");
  other.assign(kOther, {78, 1});
  ASSERT_TRUE(other.merge(cache, false));
  EXPECT_EQ(other.find_assignment(kOther), (Assignment{78, 1}));  // one's own counts
  EXPECT_TRUE(cache.erase(kOther));
  EXPECT_FALSE(cache.erase(kOther));
  EXPECT_FALSE(cache.find_assignment(kOther));
}

TEST(TimingCache, EveryFlippedBitIsSeen) {
  TimingCache cache("a device");
  cache.insert(kKey, 1.5);
  cache.assign(kOther, {77, 2.5});
  const std::vector<std::byte> whole = cache.serialize();
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::vector<std::byte> damaged = whole;
    damaged[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
    EXPECT_FALSE(TimingCache::parse(damaged, "a device")) << "bit " << bit;
  }
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(TimingCache::parse(std::span(whole).first(size), "a device")) << size << " bytes";
}

TEST(TimingCache, TextIsNoOtherVersion) {
  const std::string_view text = "KKTC my own text, which is long enough for a header of a cache";
  const auto read = TimingCache::parse(std::as_bytes(std::span(text)), "a device");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::kCorrupt) << read.error().message;
}

/// Reads a cache behind a right checksum, as another program may write it.
TEST(TimingCache, TakesOnlyTimes) {
  for (const double time_us :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1.0}) {
    TimingCache cache("a device");
    cache.insert(kKey, time_us);
    const auto read = TimingCache::parse(cache.serialize(), "a device");
    ASSERT_FALSE(read) << time_us;
    EXPECT_EQ(read.error().code, Code::kCorrupt);
    TimingCache assigned("a device");
    assigned.assign(kKey, {1, time_us});
    EXPECT_FALSE(TimingCache::parse(assigned.serialize(), "a device")) << time_us;
  }
}

TEST(TimingCache, MergesTheSmallerTimes) {
  TimingCache one("a device"), two("a device"), other("another");
  one.insert(kKey, 2);
  two.insert(kKey, 1);
  two.insert(kOther, 5);
  ASSERT_TRUE(one.merge(two, false));
  EXPECT_EQ(one.find(kKey), 1);
  EXPECT_EQ(one.find(kOther), 5);
  other.insert(kKey, 0.5);
  EXPECT_FALSE(one.merge(other, false));
  ASSERT_TRUE(one.merge(other, true));
  EXPECT_EQ(one.find(kKey), 0.5);
}

}  // namespace
}  // namespace kiln
