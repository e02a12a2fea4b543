#include "ops/loop_output.h"

#include <gtest/gtest.h>

#include "ops/loop_iterator.h"
#include "ops/loop_trip_limit.h"
#include "ops/testing/case.h"

namespace kiln {
namespace {

const CaseInput kSlice{.extents = {2, 3}};
CaseInput length(double value) { return {.extents = {}, .dtype = DType::kI32, .literal = {value}, .constant = true}; }

TEST(LoopOutput, SaysWhatIsWrong) {
  using ops::LoopOutput;
  constexpr auto kStacked = LoopOutputKind::kConcatenate;
  EXPECT_EQ(infer_error(LoopOutput{.kind = kStacked}, {kSlice, length(4)}), "");
  EXPECT_EQ(infer_error(LoopOutput{.kind = kStacked, .axis = -3}, {kSlice, length(4)}), "");
  EXPECT_EQ(infer_error(LoopOutput{.kind = kStacked}, {kSlice}),
            "a concatenated output needs its length: setInput(1, length)");
  EXPECT_EQ(infer_error(LoopOutput{.kind = kStacked, .axis = 3}, {kSlice, length(4)}),
            "axis 3 is outside [-3, 3) of the output of rank 3");
  EXPECT_EQ(infer_error(LoopOutput{.kind = kStacked}, {kSlice, length(-1)}), "the length is -1; 0 is the least");
  EXPECT_EQ(infer_error(LoopOutput{.kind = kStacked}, {kSlice, kSlice}),
            "the length is f32[2, 3]; one element of type i32 or i64 is needed");
  EXPECT_EQ(infer_error(LoopOutput{}, {kSlice, length(4)}),
            "the last value has no length; input 1 is for concatenated outputs");
}

TEST(LoopTripLimit, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(ops::LoopTripLimit{}, {length(4)}), "");
  EXPECT_EQ(infer_error(ops::LoopTripLimit{}, {kSlice}),
            "the trip limit is f32[2, 3]; one element of type i32 or i64 is needed");
  EXPECT_EQ(infer_error(ops::LoopTripLimit{.limit = TripLimit::kWhile}, {length(4)}),
            "the trip limit is i32[]; one element of type bool is needed");
}

TEST(LoopIterator, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(ops::LoopIterator{.axis = -2}, {kSlice}), "");
  EXPECT_EQ(infer_error(ops::LoopIterator{.axis = 2}, {kSlice}), "axis 2 is outside [-2, 2) of x f32[2, 3]");
}

}  // namespace
}  // namespace kiln
