#include "tensor/refinement.h"

#include <gtest/gtest.h>

#include "sym/table.h"

namespace kiln {
namespace {

using Pieces = std::vector<std::vector<int64_t>>;

TEST(Refinement, CutsWhereEitherShapeDoes) {
  sym::Table table;
  const sym::Expr n = table.symbol("n", sym::kAnyExtent);
  const auto r = refine({n, 12, 64}, {n * 3, 4, 1, 64});
  ASSERT_TRUE(r.has_value());
  EXPECT_EQ(r->pieces, (Shape{n, 3, 4, 64}));
  EXPECT_EQ(r->from, (Pieces{{0}, {1, 2}, {3}}));
  EXPECT_EQ(r->to, (Pieces{{0, 1}, {2}, {}, {3}}));
}
TEST(Refinement, NoneWhereExtentsShareNothing) {
  EXPECT_FALSE(refine({6, 4}, {4, 6}).has_value());
  EXPECT_FALSE(refine({0, 4}, {0, 4}).has_value());
}

}  // namespace
}  // namespace kiln
