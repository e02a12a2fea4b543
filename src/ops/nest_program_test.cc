#include "ops/nest_program.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

using enum ScalarFn;

/// clip(f32(x) + b), x f16
NestProgram example() {
  return {{{kCast, DType::kF16, DType::kF32, {~0}},
           {kSum, DType::kF32, DType::kF32, {0, ~1}},
           {kClip, DType::kF32, DType::kF32, {1}, 0, 6}},
          {DType::kF16, DType::kF32},
          {DType::kF32},
          {2}};
}
std::string problem(const NestProgram& program) {
  const Status status = validate(program);
  return status ? "" : status.error().message;
}

TEST(NestProgram, SurvivesARecord) {
  const auto copy = from_record<NestProgram>(to_record(example()));
  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_EQ(*copy, example());
}
TEST(NestProgram, SaysWhatIsWrong) {
  NestProgram p = example();
  p.code[1].args[1] = 1;
  EXPECT_EQ(problem(p), "nest instruction 1: operand 1 is neither an input nor an earlier instruction");
  p = example();
  p.code[1].args[0] = ~0;
  EXPECT_EQ(problem(p), "nest instruction 1: sum takes f32 as argument 0; operand -1 is f16");
  p = example();
  p.code[2].result = DType::kBool;
  EXPECT_EQ(problem(p), "nest instruction 2: clip of f32 gives f32, not bool");
  p = example();
  p.inputs[0] = DType::kF8E4M3;
  EXPECT_EQ(problem(p), "nest instruction 0: cast takes f16 as argument 0; operand -1 is f8e4m3");
  p.inputs[0] = DType::kI4;
  EXPECT_EQ(problem(p), "an input is i4; nests have no such type");
  p = example();
  p.outputs[0] = DType::kF16;
  EXPECT_EQ(problem(p), "nest output 0 is f16, its operand f32");
  p = example();
  p.code[2].fn = kNot;
  EXPECT_EQ(problem(p), "nest instruction 2: nests have no not of f32");
}

}  // namespace
}  // namespace kiln
