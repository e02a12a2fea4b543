#include "backend/cpu/kernels/attention/attention.h"

#include <gtest/gtest.h>

#include "backend/cpu/kernels/testing.h"

namespace kiln::cpu {
namespace {

enum class Order : uint8_t { kHeadsFirst, kRowsFirst };  // [b, h, s, d] or [b, s, h, d]

HeadStrides strides(Order order, int64_t heads, int64_t rows, int64_t columns) {
  if (order == Order::kHeadsFirst) return {heads * rows * columns, rows * columns, columns, 1};
  return {heads * rows * columns, columns, heads * columns, 1};
}

struct Data {
  AttentionShape s;
  std::vector<float> q, k, v, mask, out;
  AttentionTensors t{};

  Data(const AttentionShape& shape, Order order, bool masked) : s(shape) {
    q = random_floats(s.batch * s.heads * s.queries * s.depth, 1);
    k = random_floats(s.batch * s.kv_heads * s.keys * s.depth, 2);
    v = random_floats(s.batch * s.kv_heads * s.keys * s.value_depth, 3);
    out.resize(static_cast<size_t>(s.batch * s.heads * s.queries * s.value_depth));
    t.q = q.data(), t.q_strides = strides(order, s.heads, s.queries, s.depth);
    t.k = k.data(), t.k_strides = strides(order, s.kv_heads, s.keys, s.depth);
    t.v = v.data(), t.v_strides = strides(order, s.kv_heads, s.keys, s.value_depth);
    t.out = out.data(), t.out_strides = strides(order, s.heads, s.queries, s.value_depth);
    if (!masked) return;
    mask = random_floats(s.batch * s.queries * s.keys, 4);  // the same for all heads
    for (size_t i = 0; i < mask.size(); i += 5) mask[i] = -INFINITY;
    t.mask = mask.data(), t.mask_strides = {s.queries * s.keys, 0, s.keys, 1};
  }
  void run(Team& team) {
    const TestWorkspace workspace(attention_workspace_bytes(s, team.size()));
    attention(team, s, t, workspace.data());
  }
};

template <class T>
T* at(T* data, const HeadStrides& strides, int64_t b, int64_t h, int64_t row, int64_t column) {
  return data + b * strides.batch + h * strides.head + row * strides.row + column * strides.column;
}

/// One row of the result, in double.
std::vector<double> expected_row(const Data& d, int64_t b, int64_t h, int64_t query) {
  const AttentionShape& s = d.s;
  const int64_t kv = h / (s.heads / s.kv_heads);
  std::vector<double> scores(static_cast<size_t>(s.keys), -INFINITY), out(static_cast<size_t>(s.value_depth));
  double peak = -INFINITY, sum = 0;
  for (int64_t j = 0; j < s.keys; ++j) {
    if (s.lookahead < s.keys && j > query + s.lookahead) continue;
    double score = 0;
    for (int64_t i = 0; i < s.depth; ++i)
      score += double{*at(d.t.q, d.t.q_strides, b, h, query, i)} * double{*at(d.t.k, d.t.k_strides, b, kv, j, i)};
    score = score * double{s.scale} + (d.t.mask ? double{*at(d.t.mask, d.t.mask_strides, b, h, query, j)} : 0);
    scores[static_cast<size_t>(j)] = score;
    peak = std::max(peak, score);
  }
  for (double& score : scores) sum += score = std::exp(score - peak);
  for (int64_t j = 0; j < s.keys; ++j)
    for (int64_t i = 0; i < s.value_depth; ++i)
      out[static_cast<size_t>(i)] +=
          scores[static_cast<size_t>(j)] / sum * double{*at(d.t.v, d.t.v_strides, b, kv, j, i)};
  return out;
}

void check(const AttentionShape& s, Order order = Order::kHeadsFirst, bool masked = false) {
  Data d(s, order, masked);
  Team team(2);
  d.run(team);
  // Scores err by their sum's bound, exp and the weighted mean of values below 1 pass that on; the mean adds its own.
  const double score =
      sum_error(static_cast<double>(s.depth), static_cast<double>(s.depth) * double{s.scale}) + 0x1p-22;
  const double bound = 2 * score + sum_error(static_cast<double>(s.keys), 1) + 0x1p-21;
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t h = 0; h < s.heads; ++h)
      for (int64_t query = 0; query < s.queries; ++query) {
        const std::vector<double> wanted = expected_row(d, b, h, query);
        for (int64_t i = 0; i < s.value_depth; ++i)
          ASSERT_NEAR(*at(d.t.out, d.t.out_strides, b, h, query, i), wanted[static_cast<size_t>(i)], bound)
              << b << " " << h << " " << query << " " << i;
      }
}

TEST(Attention, Shapes) {
  for_each_target([] {
    for (const Order order : {Order::kHeadsFirst, Order::kRowsFirst})
      for (const bool masked : {false, true}) {
        check({2, 3, 3, 33, 33, 16, 16, 0.25f}, order, masked);
        check({1, 2, 2, 7, 130, 64, 64, 0.125f}, order, masked);
        check({1, 4, 2, 100, 61, 20, 36, 0.2f}, order, masked);  // two heads share one of K and V
        check({1, 1, 1, 1, 257, 8, 8, 1}, order, masked);
      }
    check({1, 1, 1, 97, 2100, 16, 8, 0.25f});
    check({1, 1, 1, 5, 1, 3, 5, 1});
  });
}
TEST(Attention, Causal) {
  for_each_target([] {
    AttentionShape s{1, 2, 2, 65, 65, 16, 16, 0.25f};
    s.lookahead = 0;
    check(s, Order::kRowsFirst);
    s.queries = 30;
    s.lookahead = 35;  // the queries are the last of the keys
    check(s);
  });
}
TEST(Attention, MaskThatHidesTheLastKeys) {  // what it hides is not computed with, be it NaN
  for_each_target([] {
    const AttentionShape s{1, 2, 2, 70, 300, 16, 40, 0.25f};
    Data d(s, Order::kHeadsFirst, true);
    for (int64_t row = 0; row < s.queries; ++row)
      std::fill(d.mask.begin() + row * s.keys + row + 20, d.mask.begin() + (row + 1) * s.keys, -INFINITY);
    Team team(2);
    d.run(team);
    const std::vector<float> clean = d.out;
    for (int64_t b = 0; b < s.heads; ++b)
      for (int64_t i = 89 * 16; i < 300 * 16; ++i) d.k[static_cast<size_t>(b * 300 * 16 + i)] = NAN;
    d.run(team);
    for (int64_t h = 0; h < s.heads; ++h)
      for (int64_t query = 0; query < s.queries; ++query) {
        const std::vector<double> wanted = [&] {
          Data at(s, Order::kHeadsFirst, true);
          at.mask = d.mask, at.t.mask = at.mask.data();
          return expected_row(at, 0, h, query);
        }();
        for (int64_t i = 0; i < s.value_depth; ++i) {
          const float out = *at(d.t.out, d.t.out_strides, 0, h, query, i);
          ASSERT_NEAR(out, wanted[static_cast<size_t>(i)], 1e-5) << h << " " << query << " " << i;
        }
      }
    EXPECT_EQ(clean, d.out);
  });
}
TEST(Attention, NanRowsAreZeroWhereAsked) {
  for_each_target([] {
    AttentionShape s{1, 1, 1, 4, 40, 8, 20, 1};
    s.nan_rows_are_zero = true;
    Data d(s, Order::kHeadsFirst, true);
    std::fill_n(d.mask.begin(), 40, -INFINITY);  // query 0 sees nothing
    d.q[2 * 8] = NAN;                            // query 2 has NaN scores
    Team team(1);
    d.run(team);
    for (int64_t row : {0, 2})
      for (int64_t i = 0; i < 20; ++i) EXPECT_EQ(d.out[static_cast<size_t>(row * 20 + i)], 0) << row;
    for (int64_t row : {1, 3}) EXPECT_NE(d.out[static_cast<size_t>(row * 20)], 0) << row;
  });
}
TEST(Attention, KnownAnswer) {  // scores 0 and ln 3: weights 1/4 and 3/4
  const float q[] = {1}, k[] = {0, std::log(3.0f)}, v[] = {4, 8};
  float out[1];
  AttentionTensors t{q, {1, 1, 1}, k, {2, 2, 1}, v, {2, 2, 1}, out, {1, 1, 1}};
  Team team(1);
  const AttentionShape s{.keys = 2};
  for_each_target([&] {
    const TestWorkspace workspace(attention_workspace_bytes(s, 1));
    attention(team, s, t, workspace.data());
    EXPECT_NEAR(out[0], 7, 1e-6);
  });
}
TEST(Attention, NothingVisibleIsNan) {
  AttentionShape s{1, 1, 1, 3, 3, 4, 4, 1};
  s.lookahead = -1;
  Data d(s, Order::kHeadsFirst, false);
  Team team(1);
  d.run(team);
  EXPECT_TRUE(std::isnan(d.out[0]));
  EXPECT_FALSE(std::isnan(d.out[4]));
}
TEST(Attention, Nothing) {
  Team team(1);
  for (const AttentionShape& s : {AttentionShape{0, 2, 2, 3, 3, 4, 4}, {1, 2, 2, 0, 3, 4, 4}}) {
    Data d(s, Order::kHeadsFirst, false);
    d.run(team);
  }
}
TEST(Attention, SameBitsForAllTeams) {
  expect_same_bits_for_team_sizes([](Team& team) {
    Data d({2, 3, 3, 150, 150, 32, 32, 0.2f}, Order::kRowsFirst, true);
    d.run(team);
    return d.out;
  });
}

}  // namespace
}  // namespace kiln::cpu
