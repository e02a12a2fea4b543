#include "sym/program.h"

#include <gtest/gtest.h>

#include "sym/program_words.h"
#include "sym/table.h"

namespace kiln::sym {
namespace {

constexpr int64_t kC = static_cast<int64_t>(Kind::kConst), kS = static_cast<int64_t>(Kind::kSymbol),
                  kAdd = static_cast<int64_t>(Kind::kSum);

std::string why_not(std::vector<int64_t> words) { return Program::from_words(words, 2).error().message; }

TEST(Program, KnownAnswers) {
  Table table;
  const Expr h = table.symbol("h"), w = table.symbol("w");
  const Program program = Program::compile(floor_div(h + 2 * w, 3) - 1);
  EXPECT_EQ(str(program), "s0 2 s1 prod sum 3 floor_div 1 sub");
  EXPECT_EQ(*program.run(std::vector<int64_t>{5, 4}), 3);
  EXPECT_EQ(program.num_symbols(), 2);
  EXPECT_EQ(Program::constant(7).constant(), 7);
  EXPECT_EQ(Program().constant(), 0);
  EXPECT_EQ(Program::compile(h).constant(), std::nullopt);
}

TEST(Program, FloorIsMathematical) {
  Table table;
  const Expr x = table.symbol("x", kAnyValue), y = table.symbol("y", kAnyValue);
  const Program floor = Program::compile(floor_div(x, y));
  for (const auto& [a, b, q] : {std::array<int64_t, 3>{7, 2, 3}, {-7, 2, -4}, {7, -2, -4}, {-7, -2, 3}, {-6, 2, -3}})
    EXPECT_EQ(*floor.run(std::vector<int64_t>{a, b}), q) << a << " / " << b;
}

TEST(Program, SaysWhatFailed) {
  Table table;
  const Expr x = table.symbol("x"), y = table.symbol("y");
  const Program program = Program::compile(floor_div(x, y) * 3);
  const auto error_at = [&](std::vector<int64_t> at) { return program.run(at).error().message; };
  EXPECT_EQ(error_at({7, 0}), "floor_div(7, 0) divides by zero");
  EXPECT_EQ(error_at({INT64_MAX, 1}), "prod(3, 9223372036854775807) overflows int64");
  EXPECT_EQ(error_at({INT64_MIN, -1}), "floor_div(-9223372036854775808, -1) overflows int64");
  EXPECT_EQ(error_at({1}), "a dimension program reads symbol 1; 1 symbols are bound");
  EXPECT_EQ(program.try_run(std::vector<int64_t>{7, 0}), std::nullopt);
  EXPECT_EQ(program.try_run(std::vector<int64_t>{7, 2}), 9);
}

TEST(Program, RejectsWordsThatAreNone) {
  EXPECT_EQ(why_not({}), "dimension program leaves 0 values; one is needed");
  EXPECT_EQ(why_not({kC}), "dimension program, word 0: its operand is missing");
  EXPECT_EQ(why_not({kC, 1, kC, 2}), "dimension program leaves 2 values; one is needed");
  EXPECT_EQ(why_not({kC, 1, kAdd}), "dimension program, word 2: operation 2 finds 1 of its 2 operands");
  EXPECT_EQ(why_not({kS, 2}), "dimension program, word 0: symbol 2 of 2");
  EXPECT_EQ(why_not({kS, -1}), "dimension program, word 0: symbol -1 of 2");
  EXPECT_EQ(why_not({11}), "dimension program, word 0: unknown operation 11");
  EXPECT_EQ(why_not({258}), "dimension program, word 0: unknown operation 258");
  EXPECT_EQ(why_not({kKeep}), "dimension program, word 0: there is no value to keep");
  EXPECT_EQ(why_not({kKept, 0}), "dimension program, word 0: kept value 0 of 0");
  EXPECT_EQ(why_not({kC, 1, kKeep}), "dimension program leaves 0 values; one is needed");
  EXPECT_EQ(why_not({kC, 1, kKeep, kKept, 0}), "dimension program keeps 1 values and says that it keeps 0");
  EXPECT_EQ(why_not({kRoom, INT64_MAX, kC, 1, kKeep, kKept, 0}),
            "dimension program keeps 1 values and says that it keeps 9223372036854775807");
  EXPECT_EQ(why_not({kC, 1, kRoom, 1}), "dimension program, word 2: unknown operation 14");
  EXPECT_EQ(why_not({kRoom, 0, kC, 1}), "dimension program keeps 0 values and says that it keeps 0");
  EXPECT_EQ(why_not({kRoom, 1, kC, 1, kKeep, kKept, 1}), "dimension program, word 5: kept value 1 of 1");
}

TEST(Program, WhatIsSharedIsComputedOnce) {
  Table table;
  const Expr n = table.symbol("n"), m = table.symbol("m");
  const Expr half = floor_div(n + m, 2), e = max(half * half, m) + floor_div(half, max(n, half - 7));
  const Program program = Program::compile(e);
  EXPECT_EQ(str(program), "room 1 s0 s1 sum 2 floor_div keep s1 k0 k0 prod max k0 s0 k0 7 sub max floor_div sum");
  EXPECT_EQ(*program.run(std::vector<int64_t>{8, 3}), 25);
  EXPECT_EQ(operands_of(program).symbols, (std::vector<int>{0, 1, 1, 0}));
  EXPECT_EQ(operands_of(program).constants, (std::vector<int64_t>{2, 7}));
  EXPECT_TRUE(reads_any(program, {false, true}));
  EXPECT_TRUE(reads_any(program, {true, false, false}));
  EXPECT_FALSE(reads_any(program, {false, false, true})) << "2 is a constant, and kept values have numbers, too";
  const auto read = Program::from_words(program.words(), 2);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, program);
  EXPECT_EQ(*read->run(std::vector<int64_t>{8, 3}), 25);
}

TEST(Program, ManyKeptValuesFindRoom) {
  std::vector<int64_t> words{kRoom, 1'000, kC, 1};
  for (int i = 0; i < 1'000; ++i) words.insert(words.end(), {kKeep, kKept, i, kC, 1, kAdd});
  const auto program = Program::from_words(words, 0);
  ASSERT_TRUE(program);
  EXPECT_EQ(*program->run({}), 1'001);
  EXPECT_EQ(program->try_run({}), 1'001);
}

TEST(Program, StackIsLimited) {
  std::vector<int64_t> words;
  for (int i = 0; i < Program::kMaxStack; ++i) words.insert(words.end(), {kC, 1});
  words.insert(words.end(), Program::kMaxStack - 1, kAdd);
  EXPECT_EQ(*Program::from_words(words, 0)->run({}), Program::kMaxStack);
  words.insert(words.begin(), {kC, 1});
  words.push_back(kAdd);
  EXPECT_EQ(why_not(words), "dimension program, word 512: the stack exceeds 256 values");
}

}  // namespace
}  // namespace kiln::sym
