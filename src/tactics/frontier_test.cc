#include "tactics/frontier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace kiln {
namespace {

Want want(int value, int format) { return {static_cast<ir::ValueId>(value), format}; }

TEST(Frontier, KeysTellWhatIsThereNotHowItCame) {
  Frontier a, b;
  const uint32_t three_five[] = {3, 5}, seven[] = {7};
  a.claim(three_five);
  a.claim(seven);
  a.add(want(1, 0));
  a.add(want(2, 1));
  b.add(want(2, 1));
  b.claim(seven);
  b.add(want(9, 0));
  b.add(want(1, 0));
  b.claim(three_five);
  EXPECT_NE(a.key(), b.key());
  b.drop(static_cast<ir::ValueId>(9));
  EXPECT_EQ(a.key(), b.key());
  EXPECT_EQ(a.claimed().back(), 7u);
  a.drop_last_claim();
  EXPECT_NE(a.key(), b.key());
  EXPECT_FALSE(a.claims(7));
  EXPECT_TRUE(a.claims(5));
}

TEST(Frontier, AKeyOfAWantIsNotThatOfAClaim) {
  Frontier wants, claims, other;
  const uint32_t one[] = {1};
  wants.add(want(0, 1));
  claims.claim(one);
  other.add(want(1, 0));
  EXPECT_NE(wants.key(), claims.key());
  EXPECT_NE(wants.key(), other.key());
}

TEST(Frontier, WhatARegionOfManyWantsCoversIsNotKeptTwice) {
  const CommonWants none(10);
  const ManyWants many{{want(1, 0), want(2, 0), want(4, 1)}, 0, 3};
  Frontier before, behind;
  before.add(want(2, 0));
  before.add(want(2, 1));
  before.add(many);
  behind.add(many);
  ASSERT_TRUE(behind.wants(want(2, 0), none));
  behind.add(want(2, 1));
  EXPECT_EQ(before.key(), behind.key());
  EXPECT_EQ(before.formats_of(static_cast<ir::ValueId>(2), none), (std::vector<int>{0, 1}));
  EXPECT_TRUE(before.wants(static_cast<ir::ValueId>(4), none));
  EXPECT_FALSE(before.wants(static_cast<ir::ValueId>(3), none));
  before.drop_met(4);
  EXPECT_TRUE(before.wants(want(1, 0), none)) << "a value is met at position 3";
  before.drop_met(3);
  EXPECT_FALSE(before.wants(want(1, 0), none));
}

TEST(Frontier, CommonWantsAreEverybodys) {
  CommonWants common(10);
  Frontier a, b, only_a;
  for (Frontier* frontier : {&a, &b}) frontier->add(want(3, 0));
  a.add(want(5, 1));
  only_a.add(want(5, 1));
  const Want shared[] = {want(3, 0)};
  common.add(shared[0]);
  for (Frontier* frontier : {&a, &b}) frontier->drop(shared);
  EXPECT_EQ(a.key(), only_a.key());
  EXPECT_EQ(b.key(), Frontier().key());
  EXPECT_TRUE(b.wants(want(3, 0), common));
  EXPECT_EQ(a.formats_of(static_cast<ir::ValueId>(3), common), std::vector<int>{0});
}

/// Against a set of wants, whatever is added and dropped.
TEST(Frontier, AgreesWithASet) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    CommonWants common(8);
    std::vector<Want> all;
    for (int value = 0; value < 8; ++value)
      for (int format = 0; format < 3; ++format) all.push_back(want(value, format));
    ManyWants many{{}, 0, 0};
    for (const Want& w : all)
      if (random() % 3 == 0) many.wants.push_back(w);
    Frontier frontier;
    std::set<Want> set;
    for (int i = 0; i < 40; ++i) {
      const Want w = all[random() % all.size()];
      if (random() % 8 == 0) {
        frontier.drop(w.value);
        std::erase_if(set, [&](const Want& other) { return other.value == w.value; });
      } else if (random() % 20 == 0 && set.empty()) {
        frontier.add(many);
        set.insert(many.wants.begin(), many.wants.end());
        break;  // what a region of many wants is dropped by positions
      } else if (!frontier.wants(w, common)) {
        frontier.add(w);
        set.insert(w);
      }
    }
    for (const Want& w : all) EXPECT_EQ(frontier.wants(w, common), set.contains(w)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace kiln
