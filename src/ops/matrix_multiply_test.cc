#include "ops/matrix_multiply.h"

#include <gtest/gtest.h>

#include "ops/reference_context.h"
#include "ops/testing/case.h"

namespace kiln {
namespace {

using ops::MatrixMultiply;
using ops::MatrixOp;

CaseInput weights(Extents extents, DType dtype = DType::kF32) {
  return {.extents = extents, .dtype = dtype, .constant = true};
}

const CaseTable<MatrixMultiply> kCases{
    {"primes", {}, {{{13, 17}}, {{17, 19}}}},
    {"constant right", {}, {{{5, 64}}, weights({64, 33})}},
    {"constant right, transposed", {.b = MatrixOp::kTranspose}, {{{5, 64}}, weights({33, 64})}},
    {"constant left", {}, {weights({9, 31}), {{31, 7}}}},
    {"left transposed", {.a = MatrixOp::kTranspose}, {{{17, 13}}, {{17, 19}}}},
    {"left transposed, a row each batch", {.a = MatrixOp::kTranspose}, {{{16, 14, 1}}, weights({1, 14, 9})}},
    {"both transposed", {.a = MatrixOp::kTranspose, .b = MatrixOp::kTranspose}, {{{17, 13}}, {{19, 17}}}},
    {"batch", {}, {{{3, 5, 7}}, {{3, 7, 4}}}},
    {"batch, broadcast right", {}, {{{3, 5, 7}}, weights({1, 7, 4})}},
    {"batch, broadcast both ways", {}, {{{3, 1, 5, 7}}, {{1, 2, 7, 4}}}},
    {"attention scores", {.b = MatrixOp::kTranspose}, {{{2, 4, 33, 16}}, {{2, 4, 33, 16}}}},
    {"vector right", {.b = MatrixOp::kVector}, {{{2, 5, 7}}, {{2, 7}}}},
    {"vector left", {.a = MatrixOp::kVector}, {{{7}}, {{7, 5}}}},
    {"vector left, right transposed", {.a = MatrixOp::kVector, .b = MatrixOp::kTranspose}, {{{3, 7}}, {{3, 5, 7}}}},
    {"dot products", {.a = MatrixOp::kVector, .b = MatrixOp::kVector}, {{{3, 70}}, {{3, 70}}}},
    {"one row", {}, {{{1, 300}}, weights({300, 65})}},
    {"one column", {}, {{{65, 300}}, weights({300, 1})}},
    {"empty batch", {}, {{{0, 5, 7}}, weights({1, 7, 4})}},
    {"nothing to sum", {}, {{{5, 0}}, {{0, 4}}}},
    {"longer than any block", {}, {{{3, 1031}}, weights({1031, 5})}},
    {"half", {}, {{{9, 40}, DType::kF16}, weights({40, 11}, DType::kF16)}},
    {"f64", {}, {{{17, 300}, DType::kF64}, {{300, 19}, DType::kF64}}},
    {"f64, both transposed",
     {.a = MatrixOp::kTranspose, .b = MatrixOp::kTranspose},
     {{{33, 5}, DType::kF64}, {{70, 33}, DType::kF64}}},
    {"f64, batch, broadcast both ways", {}, {{{3, 1, 5, 7}, DType::kF64}, {{1, 2, 7, 4}, DType::kF64}}},
    {"f64, outer", {}, {{{21, 1}, DType::kF64}, {{1, 19}, DType::kF64}}},
    {"f64, nothing to sum", {}, {{{5, 0}, DType::kF64}, {{0, 4}, DType::kF64}}},
    {"i32", {}, {{{9, 40}, DType::kI32}, {{40, 37}, DType::kI32}}},
    {"i64", {.b = MatrixOp::kTranspose}, {{{9, 40}, DType::kI64}, {{11, 40}, DType::kI64}}},
    {"i64, vectors",
     {.a = MatrixOp::kVector, .b = MatrixOp::kVector},
     {{{3, 70}, DType::kI64}, {{3, 70}, DType::kI64}}},
    {"bfloat16", {.b = MatrixOp::kTranspose}, {{{9, 40}, DType::kBF16}, weights({11, 40}, DType::kBF16)}},
};

CaseInput f64(Extents extents, std::vector<double> values) { return {extents, DType::kF64, Fill::kNormal, values}; }

TEST(MatrixMultiply, KnownAnswers) {
  const CaseInput a = f64({2, 2}, {1, 2, 3, 4}), b = f64({2, 2}, {10, 20, 30, 40}), v = f64({2}, {1, 100});
  constexpr auto kT = MatrixOp::kTranspose, kV = MatrixOp::kVector;
  EXPECT_EQ(run_reference_numbers(MatrixMultiply{}, {a, b}), (std::vector<double>{70, 100, 150, 220}));
  EXPECT_EQ(run_reference_numbers(MatrixMultiply{.a = kT}, {a, b}), (std::vector<double>{100, 140, 140, 200}));
  EXPECT_EQ(run_reference_numbers(MatrixMultiply{.b = kT}, {a, b}), (std::vector<double>{50, 110, 110, 250}));
  EXPECT_EQ(run_reference_numbers(MatrixMultiply{.b = kV}, {a, v}), (std::vector<double>{201, 403}));
  EXPECT_EQ(run_reference_numbers(MatrixMultiply{.a = kV}, {v, a}), (std::vector<double>{301, 402}));
  EXPECT_EQ(run_reference_numbers(MatrixMultiply{.a = kV, .b = kV}, {v, v}), (std::vector<double>{10001}));
  EXPECT_EQ(run_reference_numbers(MatrixMultiply{}, {f64({2, 1, 1}, {2, 3}), f64({1, 1, 2}, {5, 7})}),
            (std::vector<double>{10, 14, 15, 21}));
}
TEST(MatrixMultiply, IntegersWrap) {
  const auto ints = [](DType type, Extents extents, std::vector<double> values) {
    return CaseInput{extents, type, Fill::kNormal, values};
  };
  EXPECT_EQ(run_reference_numbers(MatrixMultiply{}, {ints(DType::kI32, {1, 2}, {65536, 3}),
                                                     ints(DType::kI32, {2, 2}, {65536, 65535, 5, 2})}),
            (std::vector<double>{15, -65530}));  // 2^32 + 15; 2^32 - 65536 + 6
  EXPECT_EQ(run_reference_numbers(MatrixMultiply{}, {ints(DType::kI64, {1, 2}, {4294967296, 1}),
                                                     ints(DType::kI64, {2, 1}, {4294967296, 7})}),
            std::vector<double>{7});  // 2^64 + 7
}
TEST(MatrixMultiply, SymbolicShapes) {
  sym::Table table;
  const sym::Expr n = table.symbol("n"), s = table.symbol("s"), k = table.symbol("k");
  const TensorType q(DType::kF32, {n, 12, s, 64}), w(DType::kF32, {1, 1, k, 80});
  const std::vector<InferInput> scores{{&q}, {&q}}, projected{{&q}, {&w}};
  EXPECT_EQ(str((*infer_types(MatrixMultiply{.b = MatrixOp::kTranspose}, scores, table))[0]), "f32[n, 12, s, s]");
  std::vector<sym::Assumption> assumptions;
  EXPECT_EQ(str((*infer_types(MatrixMultiply{}, projected, table, &assumptions))[0]), "f32[n, 12, s, 80]");
  ASSERT_EQ(assumptions.size(), 1u);
  EXPECT_EQ(assumptions[0].relation, sym::Relation::kEqual);
}
TEST(MatrixMultiply, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(MatrixMultiply{}, {{{2, 3}}, {{4, 5}}}),
            "axis 1 of a f32[2, 3] and axis 0 of b f32[4, 5] are summed over together: 3 and 4 differ");
  EXPECT_EQ(infer_error(MatrixMultiply{}, {{{2, 2, 3}}, {{3, 5}}}),
            "a f32[2, 2, 3] has 1 batch axes and b f32[3, 5] has 0; they must have equally many");
  EXPECT_EQ(infer_error(MatrixMultiply{}, {{{2, 2, 3}}, {{3, 3, 5}}}),
            "batch axis 0 of a f32[2, 2, 3] and b f32[3, 3, 5]: broadcast extents: 2 and 3 differ");
  EXPECT_EQ(infer_error(MatrixMultiply{}, {{{3}}, {{3, 5}}}),
            "a is f32[3], of rank 1; as matrices it needs at least 2");
  EXPECT_EQ(infer_error(MatrixMultiply{}, {{{2, 3}}, {{3, 5}, DType::kF16}}),
            "a is f32[2, 3] and b is f16[3, 5]; their types must agree");
  EXPECT_EQ(infer_error(MatrixMultiply{}, {{{2, 3}, DType::kU8}, {{3, 5}, DType::kU8}}),
            "a is u8[2, 3]; MatrixMultiply takes floats, i32 or i64");
}

}  // namespace
}  // namespace kiln
