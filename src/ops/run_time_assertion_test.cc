#include "ops/run_time_assertion.h"

#include <gtest/gtest.h>

#include "ops/reference_context.h"
#include "ops/testing/case.h"
#include "tensor/view.h"

namespace kiln {
namespace {

using ops::RunTimeAssertion;

const CaseTable<RunTimeAssertion> kCases{
    {"all hold", {"oops"}, {{.extents = {3}, .dtype = DType::kBool, .literal = {1, 1, 1}}}},
};

TEST(RunTimeAssertion, HoldsOrFailsWithItsMessage) {
  const auto run = [](std::vector<int64_t> flags) {
    const HostTensor condition = HostTensor::of_ints(DType::kBool, {std::ssize(flags)}, flags);
    return run_reference(RunTimeAssertion{"oops"}, std::span(&condition, 1));
  };
  const auto held = run({1, 1});
  ASSERT_TRUE(held) << held.error().message;
  EXPECT_EQ(View((*held)[0]).integer(0), 1);
  EXPECT_TRUE(run({}));
  EXPECT_EQ(run({1, 0, 0}).error().message, "the assertion 'oops' does not hold: element 1 of 3 is false");
  EXPECT_EQ(infer_error(RunTimeAssertion{"oops"}, {{{2}, DType::kI64}}),
            "the condition is i64[2]; booleans are needed");
}

}  // namespace
}  // namespace kiln
