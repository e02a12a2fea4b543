#include "backend/cuda/compile/weight_only/weight_only.h"

#include <set>

#include "backend/cuda/compile/testing.h"

namespace kiln::cuda {
namespace {

constexpr WeightOnlyProblem kDecode{
    .types = {}, .m = 1, .n = 4096, .k = 4096, .block = 128, .k_align = 8, .n_align = 8};

WeightOnlyProblem with(DType a, DType weights, int64_t m, int64_t block, bool has_zeros = false) {
  WeightOnlyProblem p = kDecode;
  p.types = {a, a, DType::kF16, weights, has_zeros};
  p.m = m, p.block = block;
  return p;
}

TEST(WeightOnly, RowsAreForFewOfThem) {
  EXPECT_FALSE(rows_candidates(kDecode, {}).empty());
  WeightOnlyProblem p = kDecode;
  p.m = 17;
  EXPECT_TRUE(rows_candidates(p, {}).empty());
  p = kDecode, p.block = 24, p.k = 4080;  // blocks that lie across steps
  EXPECT_TRUE(rows_candidates(p, {}).empty());
  EXPECT_FALSE(expanded_candidates(p, {}).empty());
  p = kDecode, p.k = p.block = 4090, p.k_align = 2;  // rows of A that are no whole 16 bytes
  EXPECT_TRUE(rows_candidates(p, {}).empty());
  for (const WeightOnlyCandidate& c : rows_candidates(kDecode, {.compute = 80})) EXPECT_EQ(c.kernel.splits, 1);
  EXPECT_TRUE(rows_candidates(kDecode, {.compute = 75}).empty());
}
TEST(WeightOnly, RowsSurviveTheirRecords) {
  for (const WeightOnlyCandidate& c : rows_candidates(kDecode, {})) {
    const auto again = from_record<WeightOnlyRows>(to_record(c.kernel));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(to_record(*again), to_record(c.kernel));
  }
  WeightOnlyRows kernel = rows_candidates(kDecode, {}).front().kernel;
  const auto refused = [&](int64_t WeightOnlyRows::*field, int64_t value) {
    WeightOnlyRows other = kernel;
    other.*field = value;
    return !from_record<WeightOnlyRows>(to_record(other));
  };
  EXPECT_TRUE(refused(&WeightOnlyRows::bm, 12));
  EXPECT_TRUE(refused(&WeightOnlyRows::panels, 3));
  EXPECT_TRUE(refused(&WeightOnlyRows::warps, 0));
  EXPECT_TRUE(refused(&WeightOnlyRows::fold, 24));
  EXPECT_TRUE(refused(&WeightOnlyRows::vec, 3));
}
TEST(WeightOnly, RowsRefuseWhatTheyWereNotCompiledFor) {
  const WeightOnlyRows kernel = rows_candidates(with(DType::kF16, DType::kI4, 1, 32), {}).front().kernel;
  WeightOnlyArguments g;
  g.m = 3, g.n = 4096, g.k = 4096, g.a_row = 4096, g.block = 32, g.blocks = 128;
  const auto shape = plan_rows(kernel, g, 232'448);
  ASSERT_TRUE(shape) << shape.error().message;
  EXPECT_EQ(shape->grid[0], 4096u / 16 / kernel.panels * kernel.splits);
  const auto refused = [&](auto change) {
    WeightOnlyArguments other = g;
    change(other);
    return !plan_rows(kernel, other, 232'448);
  };
  EXPECT_TRUE(refused([](auto& a) { a.block = 16; }));
  EXPECT_TRUE(refused([](auto& a) { a.k = 4092; }));
  EXPECT_TRUE(refused([](auto& a) { a.k = a.a_row = 1 << 20; }));
}
/// Two columns of 32 numbers: each lands where its lane reads it.
TEST(WeightOnly, PacksInPieces) {
  std::vector<std::byte> data(32), scales(8);
  for (int i = 0; i < 64; ++i)  // columns of k: number i of column 0 is i % 16 - 8, of column 1 all are 7
    data[static_cast<size_t>(i / 2)] |= static_cast<std::byte>((i < 32 ? (i % 16) ^ 8 : 7) << (i % 2 * 4));
  WeightMatrix m;
  m.data = data, m.scales = scales;
  m.types = {DType::kF16, DType::kF16, DType::kF32, DType::kI4, false};
  m.k = 32, m.n = 2, m.k_stride = 1, m.n_stride = 32;
  m.layout = {.block = 32, .k_stride = 0, .n_stride = 1};
  const PackedWeights packed = pack_weights(m);
  ASSERT_EQ(packed.weights.size(), size_t{WeightPieces::kBytes});
  const auto byte = [&](int lane, int at) {
    return static_cast<int>(packed.weights[static_cast<size_t>(lane * WeightPieces::kLaneBytes + at)]);
  };
  // Lane (0, 1): numbers 4 to 7 of the first 16, then of the next.
  EXPECT_EQ(byte(1, 0), 4 | 6 << 4);
  EXPECT_EQ(byte(1, 2), 5 | 7 << 4);
  EXPECT_EQ(byte(1, 1), 4 | 6 << 4);
  EXPECT_EQ(byte(4, 0), 15 | 15 << 4);
  EXPECT_EQ(byte(1, 4), 0);  // beyond k
}

TEST(WeightOnly, RowsCompile) {
  const Epilogue epilogue{.bias = DType::kF32, .residual = DType::kF16, .lo = 0};
  for (const DType a : {DType::kF16, DType::kBF16, DType::kF32})
    for (const DType weights : {DType::kI4, DType::kU8}) {
      const bool is_row = weights == DType::kU8;
      const auto candidates =
          rows_candidates(with(a, weights, is_row ? 1 : 16, is_row ? 32 : 128, is_row), {.compute = is_row ? 80 : 90});
      ASSERT_FALSE(candidates.empty());
      ASSERT_NO_FATAL_FAILURE(expect_compiles(source_of(candidates.front().kernel, epilogue)));
      if (::testing::Test::IsSkipped()) return;
    }
}
/// The kernel that makes floats stands behind the text of every family.
TEST(WeightOnly, ExpandedOfEachFamilyCompile) {
  Compiler compiler("sm_90a", "");
  std::set<const GemmFamily*> seen;
  for (const int64_t m : {8, 300})
    for (const DType a : {DType::kF16, DType::kF32}) {
      const WeightOnlyProblem p = with(a, DType::kI4, m, 32, true);
      for (const GemmCandidate& c : expanded_candidates(p, {})) {
        if (!seen.insert(c.kernel.family).second) continue;
        const auto cubin = compiler.compile(source_of(c.kernel, p.types, {.bias = a}));
        if (!cubin && cubin.error().code == Code::kNotFound) GTEST_SKIP() << cubin.error().message;
        EXPECT_TRUE(cubin) << c.kernel.name() << ": " << cubin.error().message;
      }
    }
  EXPECT_GE(seen.size(), 4u);
}
TEST(WeightOnly, ExpandedCompile) {
  for (const auto& [a, weights] : {std::pair{DType::kF16, DType::kI4}, {DType::kBF16, DType::kU8}}) {
    const WeightOnlyProblem p = with(a, weights, 512, 48, weights == DType::kU8);
    const auto candidates = expanded_candidates(p, {.compute = 80});
    ASSERT_FALSE(candidates.empty());
    ASSERT_NO_FATAL_FAILURE(expect_compiles(source_of(candidates.front().kernel, p.types, {.bias = a})));
    if (::testing::Test::IsSkipped()) return;
  }
}

}  // namespace
}  // namespace kiln::cuda
