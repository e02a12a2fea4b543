#include "ops/dist_collective.h"

#include <gtest/gtest.h>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {

using ops::DistCollective;
using ops::ReduceKind;
using enum CollectiveKind;

const CaseTable<DistCollective> kCases{
    {"all reduce", {}, {{{2, 3}}}},
    {"all gather, integers", {.kind = kAllGather, .reduction = ReduceKind::kNone}, {{{4}, DType::kI32}}},
    {"reduce scatter", {.kind = kReduceScatter, .reduction = ReduceKind::kAvg, .ranks = {0}}, {{{2, 3}, DType::kF16}}},
};

TEST(DistCollective, OneRankGetsWhatItHas) {
  const CaseInput x = numbers({3}, {1, -2, 3});
  for (const CollectiveKind kind : {kAllReduce, kReduce, kReduceScatter})
    EXPECT_EQ(run_reference_numbers(DistCollective{.kind = kind, .reduction = ReduceKind::kProd}, {x}),
              (std::vector<double>{1, -2, 3}));
  for (const CollectiveKind kind : {kAllGather, kBroadcast})
    EXPECT_EQ(run_reference_numbers(DistCollective{.kind = kind, .reduction = ReduceKind::kNone}, {x}),
              (std::vector<double>{1, -2, 3}));
}
TEST(DistCollective, SaysWhatIsWrong) {
  const CaseInput x{{3}};
  EXPECT_EQ(infer_error(DistCollective{.kind = kAllGather}, {x}),
            "operation all_gather has reduction sum; it moves elements, none is needed");
  EXPECT_EQ(infer_error(DistCollective{.reduction = ReduceKind::kNone}, {x}),
            "operation all_reduce has reduction none; another one is needed");
  EXPECT_EQ(infer_error(DistCollective{.kind = kReduce, .root = 1}, {x}), "root is rank 1; Kiln runs on one rank, 0");
  EXPECT_EQ(infer_error(DistCollective{.ranks = {0, 1}}, {x}), "rank 1 is to take part; Kiln runs on one rank, 0");
  EXPECT_EQ(infer_error(DistCollective{.ranks = {0, 0}}, {x}), "rank 0 takes part 2 times");
}

}  // namespace
}  // namespace kiln
