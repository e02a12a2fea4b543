#include "sym/program.h"

#include <gtest/gtest.h>

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
