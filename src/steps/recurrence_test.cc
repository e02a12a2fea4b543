#include "steps/recurrence.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

std::string error_of(const Status& status) { return status ? "" : status.error().message; }

StepTensor tensor(int rank, DType dtype = DType::kF32) { return {.dtype = dtype, .format = {}, .rank = rank}; }
StepTypes types() { return {{tensor(3), tensor(3), tensor(3)}, {tensor(4), tensor(3)}, 0}; }
const AnyStep kRnn = steps::Recurrence{{.activations = {{ops::GateFunction::kTanh}}}};

TEST(RecurrenceStep, ChecksTypes) {
  EXPECT_EQ(error_of(kRnn.check(types())), "");
  StepTypes half = types();
  half.inputs[1].dtype = DType::kF16;
  EXPECT_EQ(error_of(kRnn.check(half)), "input 1 of a recurrence is f16; f32 is needed");
  StepTypes lengths = types();
  lengths.inputs.push_back({.present = false});
  lengths.inputs.push_back(tensor(1));
  EXPECT_EQ(error_of(kRnn.check(lengths)), "input 4 of a recurrence is f32; i32 is needed");
  StepTypes more = types();
  more.outputs.push_back(tensor(3));
  EXPECT_EQ(error_of(kRnn.check(more)), "a recurrence of rnn has 2 outputs, not 3");
}

TEST(RecurrenceStep, ChecksShapes) {
  const std::vector<Extents> inputs{{7, 3, 5}, {1, 6, 5}, {1, 6, 6}}, outputs{{7, 1, 3, 6}, {1, 3, 6}};
  EXPECT_EQ(error_of(kRnn.check(types(), {.inputs = inputs, .outputs = outputs, .params = {}})), "");
  std::vector<Extents> other = inputs;
  other[1] = {1, 24, 5};
  EXPECT_EQ(error_of(kRnn.check(types(), {.inputs = other, .outputs = outputs, .params = {}})),
            "axis 1 of w f32[1, 24, 5], where f32[1, 6, 5] is needed: 24 and 6 differ");
  other = outputs;
  other[1] = {1, 3, 5};
  EXPECT_EQ(error_of(kRnn.check(types(), {.inputs = inputs, .outputs = other, .params = {}})),
            "Recurrence is [1, 3, 5]; the step's other tensors imply [1, 3, 6]");
  const AnyStep two = steps::Recurrence{
      {.direction = ops::RecurrenceDirection::kBidirectional, .activations = {{ops::GateFunction::kTanh}}}};
  EXPECT_EQ(error_of(two.check(types(), {.inputs = inputs, .outputs = outputs, .params = {}})),
            "there are 1 activations; rnn in 2 directions needs 2");
}

}  // namespace
}  // namespace kiln
