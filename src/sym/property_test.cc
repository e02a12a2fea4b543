/// Seeded random trees: whatever canonical forms, limits, programs and text do, the value as written is the witness.
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "sym/checked.h"
#include "sym/facts.h"
#include "sym/program.h"
#include "sym/table.h"
#include "sym/text.h"

namespace kiln::sym {
namespace {

/// An expression as someone wrote it, before any simplification.
struct Tree {
  Kind kind = Kind::kConst;
  int64_t value = 0;  // of a constant, or a symbol's id
  std::unique_ptr<Tree> lhs, rhs;
};

void append(std::string& out, const Tree& tree) {
  if (tree.kind == Kind::kConst) return append_signed(out, tree.value);
  if (tree.kind == Kind::kSymbol) return kiln::append(out, str("s", tree.value));
  out += str(name_of(tree.kind), '(', *tree.lhs, ", ", *tree.rhs, ')');
}

struct Family {
  std::vector<Bounds> bounds;      // of the symbols
  std::vector<int64_t> constants;  // to choose from
  int depth;
  std::vector<Kind> kinds = {Kind::kSum,      Kind::kSum,      Kind::kSub,    Kind::kSub,   Kind::kProd,
                             Kind::kProd,     Kind::kMax,      Kind::kMin,    Kind::kEqual, Kind::kLess,
                             Kind::kFloorDiv, Kind::kFloorDiv, Kind::kCeilDiv};
};
const Family kSmall{{{0, 1, 6}, {1, 2, 5}, {1, 3, 3}, {-4, 0, 4}, {2, 2, 2}}, {-3, -2, -1, 0, 1, 2, 3, 4, 6}, 5};
const Family kExtents{{{1, 8, 32}, {1, 224, 1024}, {1, 3, 512}, {0, 1, INT64_MAX}}, {1, 2, 3, 4, 8, 16, -1}, 4};
const Family kExtreme{{kAnyExtent, kAnyValue, {INT64_MIN, 0, 0}, {INT64_MAX - 1, INT64_MAX, INT64_MAX}},
                      {INT64_MIN, INT64_MIN + 1, -1, 0, 1, 2, int64_t{1} << 32, INT64_MAX},
                      4};

/// Conditions, and factors that they tell something: products with equal and less, sums, few quotients.
const Family kConditions{{{0, 1, 2}, {0, 2, 3}, {1, 1, 3}, {-1, 0, 1}},
                         {-1, 0, 0, 1, 1, 2, 3},
                         5,
                         {Kind::kEqual, Kind::kEqual, Kind::kEqual, Kind::kLess, Kind::kProd, Kind::kProd, Kind::kProd,
                          Kind::kSum, Kind::kSub, Kind::kMax, Kind::kMin, Kind::kFloorDiv, Kind::kCeilDiv}};
/// Remainders of divisions by a constant.
const Family kRemainders{{{0, 1, 9}, {1, 2, 7}, {-6, 0, 6}},
                         {0, 1, 2, 3, 4, 7},
                         4,
                         {Kind::kSum, Kind::kSub, Kind::kSub, Kind::kProd, Kind::kMax, Kind::kFloorDiv, Kind::kFloorDiv,
                          Kind::kFloorDiv, Kind::kCeilDiv}};

using Random = std::mt19937_64;
int64_t pick(Random& random, int64_t least, int64_t greatest) {
  return std::uniform_int_distribution<int64_t>(least, greatest)(random);
}

std::unique_ptr<Tree> random_tree(Random& random, const Family& family, int depth) {
  auto tree = std::make_unique<Tree>();
  if (depth == 0 || pick(random, 0, 6) == 0) {
    tree->kind = pick(random, 0, 2) ? Kind::kSymbol : Kind::kConst;
    tree->value = tree->kind == Kind::kSymbol ? pick(random, 0, family.bounds.size() - 1)
                                              : family.constants[pick(random, 0, family.constants.size() - 1)];
    return tree;
  }
  tree->kind = family.kinds[pick(random, 0, family.kinds.size() - 1)];
  tree->lhs = random_tree(random, family, depth - 1);
  tree->rhs = random_tree(random, family, depth - 1);
  return tree;
}

std::optional<int64_t> value_of(const Tree& tree, const std::vector<int64_t>& at) {
  if (tree.kind == Kind::kConst) return tree.value;
  if (tree.kind == Kind::kSymbol) return at[tree.value];
  const auto a = value_of(*tree.lhs, at), b = value_of(*tree.rhs, at);
  int64_t out;
  if (!a || !b || compute(tree.kind, *a, *b, out) != Fault::kNone) return std::nullopt;
  return out;
}

Expr simplify(const Tree& tree, const Table& table) {
  if (tree.kind == Kind::kConst) return tree.value;
  if (tree.kind == Kind::kSymbol) return table.symbols()[tree.value];
  return apply(tree.kind, simplify(*tree.lhs, table), simplify(*tree.rhs, table));
}

void add_symbols(Table& table, const Family& family) {
  for (size_t i = 0; i < family.bounds.size(); ++i) table.symbol(str("s", i), family.bounds[i]);
}

/// Values at the bounds half of the time: that is where mistakes show.
std::vector<int64_t> random_binding(Random& random, const Family& family) {
  std::vector<int64_t> at;
  for (const Bounds& b : family.bounds) {
    const int64_t choice = pick(random, 0, 3);
    at.push_back(choice == 0 ? b.min : choice == 1 ? b.max : choice == 2 ? b.opt : pick(random, b.min, b.max));
  }
  return at;
}

struct Outcome {
  int compared = 0;
};

void check_value(const Tree& tree, Expr e, const std::vector<int64_t>& at, bool may_overflow, Outcome& outcome) {
  const auto result = evaluate(e, at);
  const auto run = Program::compile(e).run(at);
  ASSERT_EQ(result.has_value(), run.has_value());
  if (!result) {  // of several faults either may come first: what is shared is computed first
    EXPECT_FALSE(run.error().message.empty());
  }
  const auto written = value_of(tree, at);
  if (!written || (!result && may_overflow)) return;
  ASSERT_TRUE(result) << result.error().message;
  ++outcome.compared;
  EXPECT_EQ(*result, *written);
  EXPECT_EQ(*run, *written);
  EXPECT_LE(e.min(), *written);
  EXPECT_GE(e.max(), *written);
}

void check_text(Expr e, Table& table, const Family& family) {
  const auto same = parse(exact_text(e), table);
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ(*same, e) << str(*same);
  Table other;
  add_symbols(other, family);
  const auto elsewhere = parse(exact_text(e), other);
  ASSERT_TRUE(elsewhere);
  EXPECT_EQ(exact_text(*elsewhere), exact_text(e));
}

void check_program_bytes(Expr e, const Table& table) {
  const Program program = Program::compile(e);
  const auto read = Program::from_words(program.words(), static_cast<int>(table.symbols().size()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, program);
}

void check_family(const Family& family, bool may_overflow, uint64_t seeds, int least_compared) {
  Outcome outcome;
  for (uint64_t seed = 0; seed < seeds && !::testing::Test::HasFailure(); ++seed) {
    Random random(seed);
    Table table;
    add_symbols(table, family);
    const auto tree = random_tree(random, family, family.depth);
    const Expr e = simplify(*tree, table);
    SCOPED_TRACE(str("seed ", seed, ": ", *tree, " became ", e));
    if (!e.is_valid()) {  // only what has no value anywhere near may be given up
      for (int i = 0; i < 8 && !may_overflow; ++i)
        EXPECT_FALSE(value_of(*tree, random_binding(random, family))) << e.why_invalid();
      continue;
    }
    check_text(e, table, family);
    check_program_bytes(e, table);
    for (int i = 0; i < 16; ++i) check_value(*tree, e, random_binding(random, family), may_overflow, outcome);
  }
  EXPECT_GT(outcome.compared, least_compared);
}

TEST(SymProperty, SmallNumbers) { check_family(kSmall, false, 8'000, 50'000); }
TEST(SymProperty, Conditions) { check_family(kConditions, false, 8'000, 50'000); }
TEST(SymProperty, Remainders) { check_family(kRemainders, false, 8'000, 50'000); }
TEST(SymProperty, Extents) { check_family(kExtents, true, 5'000, 25'000); }
TEST(SymProperty, EndsOfInt64) { check_family(kExtreme, true, 20'000, 20'000); }

TEST(SymProperty, ComparisonsHoldForEveryBinding) {
  int decided = 0;
  for (uint64_t seed = 0; seed < 10'000 && !HasFailure(); ++seed) {
    Random random(seed);
    Table table;
    add_symbols(table, kSmall);
    const auto a = random_tree(random, kSmall, 3), b = random_tree(random, kSmall, 3);
    const Expr x = simplify(*a, table), y = simplify(*b, table);
    if (!x.is_valid() || !y.is_valid()) continue;
    const Truth equals = compare_equal(x, y), below = compare_less(x, y);
    SCOPED_TRACE(str("seed ", seed, ": ", x, " and ", y));
    for (int i = 0; i < 16; ++i) {
      const auto at = random_binding(random, kSmall);
      const auto p = value_of(*a, at), q = value_of(*b, at);
      if (!p || !q) continue;
      EXPECT_TRUE(equals == Truth::kUnknown || (equals == Truth::kYes) == (*p == *q));
      EXPECT_TRUE(below == Truth::kUnknown || (below == Truth::kYes) == (*p < *q));
      decided += (equals != Truth::kUnknown) + (below != Truth::kUnknown);
    }
  }
  EXPECT_GT(decided, 10'000);
}

/// Simplifications and limits hold wherever the facts do that the table was told.
TEST(SymProperty, FactsAreBelievedWhereTheyHold) {
  int compared = 0, narrowed = 0;
  for (uint64_t seed = 0; seed < 10'000 && !HasFailure(); ++seed) {
    Random random(seed);
    Table table;
    const Family& family = seed % 2 ? kSmall : kRemainders;
    add_symbols(table, family);
    const auto told = random_tree(random, family, 3);
    const Expr known = simplify(*told, table);
    const auto least = value_of(*told, random_binding(random, family));
    if (!known.is_valid() || known.is_const() || !least) continue;
    const int64_t before = known.min();
    learn(known, *least, "told");
    narrowed += known.min() > before;
    Tree tree{Kind::kSub, 0, random_tree(random, family, 3), nullptr};
    Random again(seed);  // the tree that was told, as a part of another
    tree.rhs = random_tree(again, family, 3);
    const Expr e = simplify(tree, table), capped = max(e, simplify(*tree.lhs, table));
    SCOPED_TRACE(str("seed ", seed, ": ", *told, " >= ", *least, ", ", tree, " became ", e));
    if (!e.is_valid()) continue;
    for (int i = 0; i < 16; ++i) {
      const auto at = random_binding(random, family);
      const auto held = value_of(*told, at), written = value_of(tree, at);
      if (!held || *held < *least || !written) continue;
      ++compared;
      EXPECT_EQ(evaluate(e, at).value(), *written);
      EXPECT_EQ(evaluate(capped, at).value(), std::max(*written, *value_of(*tree.lhs, at)));
      EXPECT_LE(e.min(), *written);
      EXPECT_GE(e.max(), *written);
      EXPECT_LE(known.min(), *held);
    }
  }
  EXPECT_GT(compared, 20'000);
  EXPECT_GT(narrowed, 1'000);
}

TEST(SymProperty, SubstitutionCommutesWithEvaluation) {
  int compared = 0;
  for (uint64_t seed = 0; seed < 3'000 && !HasFailure(); ++seed) {
    Random random(seed);
    Table table;
    add_symbols(table, kSmall);
    const auto tree = random_tree(random, kSmall, 4);
    const Expr e = simplify(*tree, table);
    const auto at = random_binding(random, kSmall);
    std::vector<std::pair<Expr, Expr>> constants;
    for (Expr s : table.symbols()) constants.emplace_back(s, at[s.symbol_id()]);
    const auto written = value_of(*tree, at);
    if (!e.is_valid() || !written) continue;
    EXPECT_EQ(substitute(e, constants), Expr(*written)) << "seed " << seed << ": " << str(e);
    ++compared;
  }
  EXPECT_GT(compared, 1'000);
}

TEST(SymProperty, GarbageIsNoProgramOrRuns) {
  int accepted = 0;
  for (uint64_t seed = 0; seed < 100'000; ++seed) {
    Random random(seed);
    std::vector<int64_t> words(pick(random, 0, 12)), symbols{3, -1, 0};
    for (int64_t& word : words) word = pick(random, 0, 9) ? pick(random, -1, 15) : static_cast<int64_t>(random());
    const auto program = Program::from_words(words, static_cast<int>(symbols.size()));
    if (!program) {
      EXPECT_FALSE(program.error().message.empty());
      continue;
    }
    ++accepted;
    EXPECT_EQ(program->run(symbols).has_value(), program->try_run(symbols).has_value());
  }
  EXPECT_GT(accepted, 100);
}

TEST(SymProperty, GarbageTextIsExplained) {
  static constexpr std::string_view kParts[] = {
      "n", "m",  "2",     "+", "-", "*", "(", ")", ",", "max(", "floor_div(", "abs(", "\"", " ", "9223372036854775808",
      "$", "#0", "#0 = ", "; "};
  for (uint64_t seed = 0; seed < 20'000; ++seed) {
    Random random(seed);
    Table table;
    std::string text;
    for (int64_t i = pick(random, 0, 10); i > 0; --i) text += kParts[pick(random, 0, std::size(kParts) - 1)];
    const auto e = parse(text, table);
    if (!e || !e->is_valid()) continue;
    EXPECT_EQ(*parse(exact_text(*e), table), *e) << text;
  }
}

}  // namespace
}  // namespace kiln::sym
