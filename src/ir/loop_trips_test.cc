#include "ir/loop_trips.h"

#include <gtest/gtest.h>

#include "base/str.h"
#include "ops/cast.h"
#include "ops/dim_values.h"
#include "ops/element_wise.h"
#include "ops/if.h"
#include "ops/non_zero.h"

namespace kiln::ir {
namespace {

using ops::ElementWiseKind;

/// The body of a loop over a number, next to a limit n and a flag that data decides.
class LoopTrips : public ::testing::Test {
 protected:
  ValueId number(sym::Expr e) { return body.add_one(ops::DimValues{{e}, DType::kI64, {}}, {}).value(); }
  ValueId less(sym::Expr a, sym::Expr b) { return both(ElementWiseKind::kLess, number(a), number(b)); }
  ValueId both(ElementWiseKind kind, ValueId a, ValueId b) {
    return body.add_one(ops::ElementWise{kind}, {a, b}).value();
  }
  /// if a then the flag else `other`, or the flag where there is none.
  ValueId choice(ValueId a, std::optional<bool> other) {
    std::vector<std::shared_ptr<Graph>> branches;
    for (const bool is_first : {true, false}) {
      Graph& branch = *branches.emplace_back(body.new_body());
      const ValueId input = branch.add_input("flag", body.type(flag));
      const bool passes = is_first || !other;
      branch.mark_output(passes ? input : branch.add_constant(HostTensor::scalar(DType::kBool, *other)), "out");
    }
    return body.add(ops::If{}, std::array{a, flag}, "choice", branches).value()[0];
  }
  std::string trips(ValueId condition, std::optional<sym::Expr> first, std::optional<sym::Expr> after) {
    const LoopNumber numbers[] = {{first, now, after}};
    const auto most = most_trips(body, condition, numbers);
    return most ? str(*most) : "none";
  }

  Graph body;
  const sym::Expr n = body.table().symbol("n", {1, 4, 100}), now = body.table().fresh("now", sym::kAnyValue);
  const ValueId flag = body.add_input("flag", TensorType(DType::kBool, {}));
};

TEST_F(LoopTrips, OfCounters) {
  EXPECT_EQ(trips(less(now + 1, n), 0, now + 1), "n") << "i += 1; while i < n";
  EXPECT_EQ(trips(less(now + 2, n), 0, now + 2), str(sym::ceil_div(n, 2)));
  EXPECT_EQ(trips(less(0, now - 1), n, now - 1), "n") << "i -= 1; while i > 0";
  EXPECT_EQ(trips(number(1 - sym::less(n, now + 1)), 0, now + 1), "n + 1") << "i += 1; while i <= n";
  EXPECT_EQ(trips(less(n, 1), 0, now + 1), "1") << "never again";
}
TEST_F(LoopTrips, OfConditionsThatAskForMore) {
  const ValueId counts = less(now + 1, n);
  EXPECT_EQ(trips(both(ElementWiseKind::kAnd, flag, counts), 0, now + 1), "n");
  EXPECT_EQ(trips(both(ElementWiseKind::kAnd, counts, flag), 0, now + 1), "n");
  EXPECT_EQ(trips(body.add_one(ops::Cast{DType::kBool}, {counts}).value(), 0, now + 1), "n");
  EXPECT_EQ(trips(choice(counts, false), 0, now + 1), "n");
  EXPECT_EQ(trips(both(ElementWiseKind::kAnd, less(now + 1, 7), choice(counts, false)), 0, now + 1), "min(n, 7)");
}
TEST_F(LoopTrips, AreUnknownOtherwise) {
  const ValueId counts = less(now + 1, n);
  EXPECT_EQ(trips(flag, 0, now + 1), "none");
  EXPECT_EQ(trips(both(ElementWiseKind::kOr, flag, counts), 0, now + 1), "none");
  EXPECT_EQ(trips(choice(counts, true), 0, now + 1), "none");
  EXPECT_EQ(trips(choice(counts, {}), 0, now + 1), "none");
  const sym::Expr is_end = sym::equal(now + 1, n);
  EXPECT_EQ(trips(number(1 - is_end), 0, now + 1), "none") << "i != n: i may be beyond n already";
  EXPECT_EQ(trips(number(is_end), 0, now + 1), "none");
  EXPECT_EQ(trips(counts, 0, now), "none") << "nothing counts";
  EXPECT_EQ(trips(counts, 0, now - 1), "none") << "the wrong way";
  EXPECT_EQ(trips(counts, 0, now * 2), "none") << "not by a constant";
  EXPECT_EQ(trips(counts, {}, now + 1), "none");
  EXPECT_EQ(trips(counts, 0, {}), "none");
}
TEST_F(LoopTrips, AreUnknownWhereTheLimitIsAnotherInEachIteration) {
  const ValueId x = body.add_input("x", TensorType(DType::kF32, {n}));
  const ValueId found = body.add_one(ops::NonZero{}, {x}).value();
  EXPECT_EQ(trips(less(now + 1, body.type(found).shape[1]), 0, now + 1), "none");
}
/// Against counting.
TEST_F(LoopTrips, AreEnough) {
  for (int64_t first = -3; first <= 3; ++first)
    for (int64_t step = 1; step <= 3; ++step)
      for (int64_t ahead = 0; ahead <= 3; ++ahead)
        for (int64_t limit = -4; limit <= 9; ++limit) {
          int64_t count = 1;
          for (int64_t i = first; i + ahead < limit; i += step) ++count;
          const LoopNumber numbers[] = {{first, now, now + step}};
          const auto most = most_trips(body, less(now + ahead, limit), numbers);
          ASSERT_TRUE(most.has_value());
          EXPECT_EQ(most->constant(), count) << first << ' ' << step << ' ' << ahead << ' ' << limit;
        }
}

}  // namespace
}  // namespace kiln::ir
