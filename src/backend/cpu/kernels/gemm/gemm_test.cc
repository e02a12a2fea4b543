#include "backend/cpu/kernels/gemm/gemm.h"

#include <algorithm>

#include "backend/cpu/kernels/testing.h"
#include "tensor/numeric.h"

namespace kiln::cpu {
namespace {

enum class BKind { kPacked, kRowMajor, kTransposed };

struct Case {
  int64_t m, n, k;
  int64_t outer = 1, inner = 1;
  BKind b = BKind::kPacked;
  bool transposed_a = false;
  bool residual = false, in_place = false, clamp = false, shared_b = false;
  DType b_type = DType::kF32;  ///< of packed B
};

const Case kCases[] = {
    {.m = 1, .n = 1, .k = 1},
    {.m = 1, .n = 1000, .k = 7},
    {.m = 2, .n = 33, .k = 65},
    {.m = 3, .n = 17, .k = 100},
    {.m = 5, .n = 31, .k = 9, .residual = true},
    {.m = 6, .n = 16, .k = 16},
    {.m = 7, .n = 15, .k = 1300},  // three passes
    {.m = 12, .n = 32, .k = 641, .residual = true, .in_place = true},
    {.m = 13, .n = 34, .k = 640, .clamp = true},
    {.m = 97, .n = 65, .k = 33, .residual = true, .clamp = true},
    {.m = 200, .n = 5, .k = 70},
    {.m = 129, .n = 131, .k = 137, .b = BKind::kRowMajor},
    {.m = 64, .n = 40, .k = 24, .outer = 2, .inner = 3, .b = BKind::kTransposed},
    {.m = 5,
     .n = 7,
     .k = 3,
     .outer = 2,
     .inner = 2,
     .b = BKind::kRowMajor,
     .transposed_a = true,
     .residual = true,
     .clamp = true},
    {.m = 31, .n = 18, .k = 45, .outer = 3, .transposed_a = true},
    {.m = 9, .n = 20, .k = 8, .outer = 2, .inner = 4, .b = BKind::kRowMajor, .shared_b = true},
    {.m = 9, .n = 20, .k = 8, .outer = 2, .inner = 2, .shared_b = true},
    {.m = 1, .n = 1000, .k = 1300, .b_type = DType::kF16},
    {.m = 2, .n = 37, .k = 65, .b_type = DType::kF16},
    {.m = 13, .n = 34, .k = 640, .residual = true, .clamp = true, .b_type = DType::kF16},
    {.m = 97, .n = 65, .k = 1301, .outer = 2, .b_type = DType::kF16},
    {.m = 1, .n = 129, .k = 700, .b_type = DType::kBF16},
    {.m = 25, .n = 15, .k = 1300, .outer = 2, .shared_b = true, .b_type = DType::kBF16},
    // B as it is
    {.m = 1, .n = 1, .k = 1, .b = BKind::kRowMajor},
    {.m = 1, .n = 1, .k = 301, .b = BKind::kRowMajor},
    {.m = 3, .n = 19, .k = 1, .b = BKind::kRowMajor},
    {.m = 3, .n = 19, .k = 1, .b = BKind::kTransposed},
    {.m = 1, .n = 700, .k = 301, .b = BKind::kRowMajor, .residual = true, .in_place = true},
    {.m = 1, .n = 700, .k = 301, .b = BKind::kTransposed, .residual = true, .in_place = true},
    {.m = 2, .n = 415, .k = 33, .outer = 2, .inner = 3, .b = BKind::kRowMajor, .residual = true, .clamp = true},
    {.m = 2, .n = 415, .k = 33, .outer = 2, .inner = 3, .b = BKind::kTransposed, .residual = true, .clamp = true},
    {.m = 3, .n = 101, .k = 47, .outer = 3, .b = BKind::kRowMajor, .transposed_a = true, .shared_b = true},
    {.m = 3, .n = 101, .k = 47, .outer = 3, .b = BKind::kTransposed, .transposed_a = true, .shared_b = true},
    {.m = 4, .n = 1500, .k = 203, .b = BKind::kRowMajor, .clamp = true},
    {.m = 4, .n = 1500, .k = 203, .b = BKind::kTransposed, .clamp = true},
    {.m = 8, .n = 67, .k = 203, .b = BKind::kTransposed, .residual = true, .in_place = true},
    {.m = 15, .n = 67, .k = 203, .b = BKind::kRowMajor, .residual = true, .in_place = true},
    {.m = 3, .n = 5000, .k = 130, .b = BKind::kRowMajor, .residual = true, .in_place = true, .clamp = true},  // far
    {.m = 2, .n = 37, .k = 0, .b = BKind::kRowMajor, .residual = true},
    {.m = 2, .n = 37, .k = 0, .b = BKind::kTransposed, .residual = true},
    {.m = 2, .n = 0, .k = 4, .b = BKind::kRowMajor},
    {.m = 4, .n = 6, .k = 0, .residual = true},  // an empty sum
    {.m = 0, .n = 6, .k = 4},
    {.m = 6, .n = 0, .k = 4},
    {.m = 6, .n = 4, .k = 4, .outer = 0, .inner = 3},
};

float rounded(float x, DType to) {
  if (to == DType::kF16) return half_to_float(float_to_half(x));
  return to == DType::kBF16 ? bfloat16_to_float(float_to_bfloat16(x)) : x;
}

struct Problem {
  explicit Problem(const Case& c) : at(c), batches(c.outer * c.inner) {
    a = random_floats(batches * c.m * c.k, 1);
    b = random_floats((c.shared_b ? 1 : batches) * c.k * c.n, 2);
    for (float& x : b) x = rounded(x, c.b_type);
    bias = random_floats(c.n, 3);
    residual = random_floats(batches * c.m * c.n, 4);
    const ptrdiff_t a_size = c.m * c.k, b_size = c.shared_b ? 0 : c.k * c.n, c_size = c.m * c.n;
    a_matrix = {a.data(), c.transposed_a ? 1 : c.k, {c.inner * a_size, a_size}, c.transposed_a ? c.m : 1};
    if (c.b == BKind::kTransposed)
      b_matrix = {b.data(), 1, c.k};
    else
      b_matrix = {b.data(), c.n, 1};
    b_batch = {c.inner * b_size, b_size};
    c_batch = {c.inner * c_size, c_size};
  }

  Epilogue epilogue(const float* residual_at) const {
    Epilogue e;
    e.bias = bias.data();
    if (at.residual) e.residual = residual_at, e.ldr = at.n;
    if (at.clamp) e.lo = 0, e.hi = 1.5f;
    return e;
  }

  std::vector<float> run(Team& team) const {
    std::vector<float> result = at.in_place ? residual : std::vector<float>(residual.size(), NAN);
    const GemmShape shape{at.m, at.n, at.k, at.outer, at.inner};
    const GemmC out{result.data(), at.n, c_batch, c_batch};
    const Epilogue e = epilogue(at.in_place ? result.data() : residual.data());
    if (at.b == BKind::kPacked) {
      const auto packed = pack_b(b_matrix, at.k, at.n, 1, at.shared_b ? 1 : batches, at.k * at.n, at.b_type);
      TestWorkspace workspace(gemm_workspace_bytes(shape, a_matrix, *packed));
      gemm(team, shape, a_matrix, *packed, out, e, workspace.data());
    } else {
      TestWorkspace workspace(gemm_workspace_bytes(shape, a_matrix, b_matrix, b_batch));
      gemm(team, shape, a_matrix, b_matrix, b_batch, out, e, workspace.data());
    }
    return result;
  }

  void check(const std::vector<float>& result) const {
    const Epilogue e = epilogue(residual.data());
    for (int64_t batch = 0; batch < batches; ++batch)
      for (int64_t r = 0; r < at.m; ++r)
        for (int64_t j = 0; j < at.n; ++j) {
          const auto index = static_cast<size_t>((batch * at.m + r) * at.n + j);
          const float* a0 = a.data() + batch * at.m * at.k + r * a_matrix.ld;
          const float* b0 = b.data() + (at.shared_b ? 0 : batch * at.k * at.n) + j * b_matrix.n_stride;
          Sum sum;
          sum.add(bias[static_cast<size_t>(j)]);
          if (at.residual) sum.add(residual[index]);
          for (int64_t i = 0; i < at.k; ++i) sum.add(double{a0[i * a_matrix.k_stride]} * b0[i * b_matrix.k_stride]);
          const double expected = std::clamp(sum.value, double{e.lo}, double{e.hi});
          ASSERT_NEAR(result[index], expected, sum.bound()) << "batch " << batch << " row " << r << " column " << j;
        }
  }

  Case at;
  int64_t batches;
  std::vector<float> a, b, bias, residual;
  GemmA a_matrix;
  Matrix b_matrix;
  BatchStride b_batch, c_batch;
};

std::string describe(const Case& c) {
  return str(c.m, "x", c.n, "x", c.k, " batch ", c.outer, "x", c.inner, " b ", static_cast<int>(c.b), " ", c.b_type);
}

TEST(Gemm, AgreesWithLoops) {
  for_each_target([] {
    Team team(2);
    for (const Case& c : kCases) {
      SCOPED_TRACE(describe(c));
      const Problem problem(c);
      problem.check(problem.run(team));
    }
  });
}

TEST(Gemm, TeamSizeKeepsBits) {
  for (const Case& c : {Case{300, 200, 1500}, Case{.m = 2, .n = 900, .k = 800, .b_type = DType::kF16},
                        Case{1, 3000, 700}, Case{40, 64, 64, 2, 6, BKind::kTransposed},
                        Case{1, 3000, 700, 1, 1, BKind::kRowMajor}, Case{3, 3001, 70, 2, 1, BKind::kTransposed}}) {
    const Problem problem(c);
    expect_same_bits_for_team_sizes([&](Team& team) { return problem.run(team); });
  }
}

TEST(Gemm, EachElementIsTheSameInAnyCompany) {  // splitting and tails never change an element's order of summation
  Team team(1);
  const Problem whole({25, 70, 900});
  const std::vector<float> result = whole.run(team);
  const PackedB b = *pack_b(whole.b_matrix, 900, 70);
  for (int64_t row : {0, 11, 24}) {
    std::vector<float> one(70);
    gemm(team, {1, 70, 900}, {whole.a.data() + row * 900, 900, {}}, b, {one.data(), 70, {}, {}},
         whole.epilogue(nullptr), nullptr);
    EXPECT_EQ(std::memcmp(one.data(), result.data() + row * 70, 70 * 4), 0) << row;
  }
}

TEST(Gemm, FewRowsTakeRowsOfBAsTheyAreWithTheSameBits) {
  for_each_target([] {
    Team team(2);
    for (const int64_t m : {1, 2, 4, 9, 16}) {
      Case direct{.m = m, .n = 1037, .k = 700, .b = BKind::kRowMajor, .residual = true, .clamp = true}, packed = direct;
      packed.b = BKind::kPacked;
      const std::vector<float> one = Problem(direct).run(team), other = Problem(packed).run(team);
      EXPECT_EQ(std::memcmp(one.data(), other.data(), one.size() * 4), 0) << m;
    }
  });
}

TEST(Gemm, ARowTimesColumnsOfBIsTheSameInAnyCompany) {
  for_each_target([] {
    Team team(1);
    const Problem whole({.m = 7, .n = 70, .k = 900, .b = BKind::kTransposed});
    const std::vector<float> result = whole.run(team);
    for (int64_t row : {0, 3, 6}) {
      std::vector<float> one(70);
      gemm(team, {1, 70, 900}, {whole.a.data() + row * 900, 900, {}}, whole.b_matrix, {}, {one.data(), 70, {}, {}},
           whole.epilogue(nullptr), nullptr);
      EXPECT_EQ(std::memcmp(one.data(), result.data() + row * 70, 70 * 4), 0) << row;
    }
  });
}

TEST(Gemm, FewRowsNeedNoMemoryToPackIn) {
  const float b[1] = {};
  for (const auto& [k_stride, n_stride] : {std::pair{900, 1}, std::pair{1, 800}}) {
    EXPECT_EQ(gemm_workspace_bytes({8, 900, 800}, {b, 800, {}}, Matrix{b, k_stride, n_stride}, {}), 0);
    EXPECT_GT(gemm_workspace_bytes({40, 900, 800}, {b, 800, {}}, Matrix{b, k_stride, n_stride}, {}), 0);
  }
  EXPECT_GT(gemm_workspace_bytes({4, 900, 800}, {b, 800, {}}, Matrix{b, 1800, 2}, {}), 0);
}

TEST(Gemm, HalfWeightsAreRoundedToNearestEven) {
  for_each_target([] {
    Team team(1);
    const float one[] = {1};
    // Ties of both types, a subnormal of FP16, what overflows it, the least that rounds to infinity in it.
    const float b[] = {0.1f, 1 + 0x1p-11f, 1 + 0x3p-11f, 1 + 0x1p-8f, 1 + 0x3p-8f, 0x1.8p-24f, -0.0f, 65519.0f, 1e30f};
    const int64_t n = std::size(b);
    for (const DType type : {DType::kF16, DType::kBF16}) {
      float c[std::size(b)];
      gemm(team, {1, n, 1}, {one, 1, {}}, *pack_b({b, n, 1}, 1, n, 1, 1, 0, type), {c, n, {}, {}}, {}, nullptr);
      for (size_t i = 0; i < std::size(b); ++i) EXPECT_EQ(c[i], rounded(b[i], type)) << name_of(type) << " " << b[i];
    }
  });
}

TEST(Gemm, KnownAnswer) {  // [1 2; 3 4] [5 6; 7 8] by hand
  Team team(1);
  const float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
  float c[4];
  gemm(team, {2, 2, 2}, {a, 2, {}}, *pack_b({b, 2, 1}, 2, 2), {c, 2, {}, {}}, {}, nullptr);
  EXPECT_EQ(std::vector<float>(c, c + 4), (std::vector<float>{19, 22, 43, 50}));
}

TEST(Gemm, NanPassesTheClamp) {
  for_each_target([] {
    Team team(1);
    const float a[] = {NAN, 1}, b[] = {1};
    float c[2];
    Epilogue relu;
    relu.lo = 0;
    gemm(team, {2, 1, 1}, {a, 1, {}}, *pack_b({b, 1, 1}, 1, 1), {c, 1, {}, {}}, relu, nullptr);
    EXPECT_TRUE(std::isnan(c[0]));
    EXPECT_EQ(c[1], 1);
    const float rows[] = {1, 2, 3, 4};  // 2 x 2, as it is
    for (const auto& [k_stride, n_stride] : {std::pair{2, 1}, std::pair{1, 2}}) {
      float d[2];
      gemm(team, {1, 2, 2}, {a, 2, {}}, Matrix{rows, k_stride, n_stride}, {}, {d, 2, {}, {}}, relu, nullptr);
      EXPECT_TRUE(std::isnan(d[0]) && std::isnan(d[1]));
    }
  });
}

TEST(Gemm, HookSeesEveryElementOnce) {
  struct Add {  // adds 1000 row + column to what it sees
    static void apply(const void*, float* tile, int64_t rows, int64_t cols, ptrdiff_t ld, int64_t row0, int64_t col0) {
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t j = 0; j < cols; ++j) tile[r * ld + j] += static_cast<float>(1000 * (row0 + r) + col0 + j);
    }
  };
  Team team(2);
  const int64_t batch = 2, m = 150, n = 500, k = 64;
  const std::vector<float> a(static_cast<size_t>(batch * m * k)), b(static_cast<size_t>(k * n));
  std::vector<float> c(static_cast<size_t>(batch * m * n));
  const TileHook hook{&Add::apply, nullptr};
  Epilogue e;
  e.hook = &hook;
  gemm(team, {m, n, k, batch}, {a.data(), k, {m * k, 0}}, *pack_b({b.data(), n, 1}, k, n),
       {c.data(), n, {m * n, 0}, {}}, e, nullptr);
  for (int64_t r = 0; r < batch * m; ++r)
    for (int64_t j = 0; j < n; ++j) ASSERT_EQ(c[static_cast<size_t>(r * n + j)], static_cast<float>(1000 * r + j));
}

}  // namespace
}  // namespace kiln::cpu
