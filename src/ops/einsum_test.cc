#include "ops/einsum.h"

#include <gtest/gtest.h>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {

using ops::Einsum;
using sym::Expr;
using Numbers = std::vector<double>;

const CaseTable<Einsum> kCases{
    {"matrix product", {"ij,jk->ik"}, {{{5, 7}}, {{7, 3}}}},
    {"batches, moved", {"bqnh,bknh->bnqk"}, {{{2, 5, 3, 4}}, {{2, 6, 3, 4}}}},
    {"three operands", {"ab,bc,cd->ad"}, {{{3, 4}}, {{4, 5}}, {{5, 2}}}},
    {"ellipsis", {"...ij,...jk->...ik"}, {{{2, 1, 3, 4}}, {{5, 4, 2}}}},
    {"no output named", {"ba,ca"}, {{{3, 4}}, {{2, 4}}}},
    {"outer product", {"i,j->ji"}, {{{3}}, {{4}}}},
    {"to a number", {"ij,ij->"}, {{{3, 4}}, {{3, 4}}}},
    {"sums alone", {"ijk->j"}, {{{3, 4, 2}}}},
    {"diagonal", {"...ii->...i"}, {{{2, 3, 3}}}},
    {"trace of a product", {"iji,j->"}, {{{3, 2, 3}}, {{2}}}},
    {"half", {"ij,jk->ki"}, {{{5, 7}, DType::kF16}, {{7, 3}, DType::kF16}}},
    {"f64, outer product", {"n,d->nd"}, {{{21}, DType::kF64}, {{3}, DType::kF64}}},
};

TEST(Einsum, KnownAnswers) {
  const CaseInput a = numbers({2, 2}, {1, 2, 3, 4}), b = numbers({2, 2}, {5, 6, 7, 8});
  const auto y = [](const char* equation, const std::vector<CaseInput>& inputs) {
    return run_reference_numbers(Einsum{equation}, inputs);
  };
  EXPECT_EQ(y("ij,jk->ik", {a, b}), (Numbers{19, 22, 43, 50}));
  EXPECT_EQ(y("ij , jk", {a, b}), (Numbers{19, 22, 43, 50}));
  EXPECT_EQ(y("ij->ji", {a}), (Numbers{1, 3, 2, 4}));
  EXPECT_EQ(y("ij,jk->ik", {numbers({2, 1}, {1, 10}), b}), (Numbers{12, 14, 120, 140}));  // 1 repeats
  EXPECT_EQ(y("ii->i", {a}), (Numbers{1, 4}));
  EXPECT_EQ(y("ii", {a}), Numbers{5});
  EXPECT_EQ(y("ij,ij,j->i", {a, b, numbers({2}, {1, 10})}), (Numbers{125, 341}));
  EXPECT_EQ(y("ij,j->i", {numbers({2, 2}, {1, 2, 3, 4}, DType::kI32), numbers({2}, {10, 1}, DType::kI32)}),
            (Numbers{12, 34}));
}
TEST(Einsum, InfersSymbolically) {
  sym::Table t;
  const Expr n = t.symbol("n"), m = t.symbol("m");
  EXPECT_EQ(inferred(Einsum{"...ij,...jk->...ik"}, {{DType::kF16, {n, 3, m}}, {DType::kF16, {n, m, 5}}}, t),
            "f16[n, 3, 5]");
}
TEST(Einsum, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(Einsum{"ij,jk->ik"}, {{{2, 4}}}), "equation 'ij,jk->ik' does not fit 1 operands");
  EXPECT_EQ(infer_error(Einsum{"ij->ik"}, {{{2, 4}}}),
            "label 'k' of the output of 'ij->ik' must be there once, and in an operand");
  EXPECT_EQ(infer_error(Einsum{"ijk->i"}, {{{2, 4}}}), "term 'ijk' has 3 letters; the operand has 2 axes");
  EXPECT_EQ(infer_error(Einsum{"i1->i"}, {{{2, 4}}}), "equation 'i1->i' has '1'; labels are letters");
  EXPECT_EQ(infer_error(Einsum{"i,i->i"}, {{{2}}, {{2}, DType::kF16}}),
            "operand 1 is f16[2]; numbers of one type are needed");
  EXPECT_EQ(infer_error(Einsum{"i,i->i"}, {{{2}}, {{3}}}), "axes 'i' of 'i,i->i': 2 and 3 differ");
}

}  // namespace
}  // namespace kiln
