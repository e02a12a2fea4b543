#include "backend/cpu/kernels/weight_only/product.h"

#include <gtest/gtest.h>

#include "backend/cpu/kernels/testing.h"
#include "tensor/numeric.h"
#include "tensor/view.h"

namespace kiln::cpu {
namespace {

/// Random weights with what makes numbers of them.
struct Weights {
  DType type;
  int64_t k, n, block;
  bool along_k = false;  ///< column by column, as exporters of transposed weights write them
  bool one_scale = false;
  bool has_zeros = false;
  DType scale_type = DType::kF32;

  std::vector<std::byte> data{}, scales{}, zeros{};
  QuantizedMatrix matrix() const {
    const int64_t blocks = k / block;
    return {data.data(),
            type,
            k,
            n,
            along_k ? 1 : n,
            along_k ? k : 1,
            block,
            scales.data(),
            scale_type,
            has_zeros ? zeros.data() : nullptr,
            one_scale ? 0
            : along_k ? 1
                      : n,
            one_scale ? 0
            : along_k ? blocks
                      : 1};
  }
  void fill() {
    std::mt19937 random(static_cast<uint32_t>(k * 31 + n));
    const int64_t count = one_scale ? 1 : k / block * n;
    data.resize(static_cast<size_t>(size_bytes(type, k * n)));
    zeros.resize(static_cast<size_t>(size_bytes(type, count)));
    scales.resize(static_cast<size_t>(size_bytes(scale_type, count)));
    for (std::byte& byte : data) byte = static_cast<std::byte>(random());
    for (std::byte& byte : zeros) byte = static_cast<std::byte>(random());
    for (int64_t i = 0; i < count; ++i)
      store_number(scale_type, scales.data(), i, 0.01 + static_cast<double>(random() % 1000) / 5e4);
  }
  double value(int64_t i, int64_t j) const {
    const QuantizedMatrix m = matrix();
    const int64_t at = m.scale_offset(i / block, j);
    const double zero = has_zeros ? load_number(type, zeros.data(), at) : 0;
    return (load_number(type, data.data(), m.offset(i, j)) - zero) * load_number(scale_type, scales.data(), at);
  }
};

/// Bias, residual and a clamp that some sums reach; numbers of k terms are far smaller than the bound says.
void check(Weights w, int64_t rows) {
  w.fill();
  const Result<PackedWeights> packed = pack_weights(w.matrix());
  ASSERT_TRUE(packed.has_value());
  Team team(2);
  const std::vector<float> a = random_floats(rows * w.k, 7), bias = random_floats(w.n, 8),
                           residual = random_floats(rows * w.n, 9);
  std::vector<float> c(static_cast<size_t>(rows * w.n), NAN);
  Epilogue epilogue{bias.data(), residual.data(), w.n, -2.5F, 1e30F};
  const TestWorkspace workspace(weight_workspace_bytes(rows, w.k, w.n, w.block, team.size()));
  multiply_weights(team, {rows, a.data(), w.k, c.data(), w.n}, *packed, epilogue, workspace.data());
  const QuantizedMatrix m = w.matrix();
  // Sums by a zero point, or of biased nibbles, cancel: what they add and take away counts.
  const double most = w.type == DType::kI4 ? 16 : 256;
  for (int64_t j = 0; j < w.n; ++j) {
    std::vector<double> column, moved;
    for (int64_t i = 0; i < w.k; ++i) {
      column.push_back(w.value(i, j));
      moved.push_back(most * load_number(w.scale_type, w.scales.data(), m.scale_offset(i / w.block, j)));
    }
    for (int64_t r = 0; r < rows; ++r) {
      const auto at = static_cast<size_t>(r * w.n + j);
      Sum sum;
      for (size_t i = 0; i < column.size(); ++i) {
        const double x = a[static_cast<size_t>(r * w.k) + i];
        sum.add(x * column[i]);
        sum.magnitude += std::fabs(x) * moved[i];
      }
      sum.add(bias[static_cast<size_t>(j)]);
      sum.add(residual[at]);
      ASSERT_NEAR(double{c[at]}, std::max(sum.value, -2.5), sum.bound()) << r << ' ' << j;
    }
  }
  std::vector<std::byte> unpacked(w.data.size());
  unpack_weights(*packed, w.matrix(), unpacked.data());
  const int64_t count = w.k * w.n;
  for (int64_t i = 0; i < count; ++i)
    ASSERT_EQ(load_number(w.type, unpacked.data(), i), load_number(w.type, w.data.data(), i)) << i;
}

TEST(WeightOnly, EachTypeAndRowCount) {
  for_each_target([] {
    for (const DType type : {DType::kI4, DType::kI8, DType::kU8})
      for (const int64_t rows : {1, 2, 3, 5, 8, 9, 100}) {
        SCOPED_TRACE(::testing::Message() << name_of(type) << ' ' << rows);
        check({.type = type, .k = 96, .n = 70, .block = 32}, rows);
      }
  });
}
TEST(WeightOnly, BlocksAndZeroPoints) {
  for_each_target([] {
    for (const DType type : {DType::kI4, DType::kI8, DType::kU8})
      for (const int64_t block : {8, 16, 48, 96})
        for (const bool along_k : {false, true})
          for (const int64_t rows : {1, 4, 11}) {
            SCOPED_TRACE(::testing::Message() << name_of(type) << ' ' << block << ' ' << along_k << ' ' << rows);
            check({.type = type, .k = 96, .n = 33, .block = block, .along_k = along_k, .has_zeros = true}, rows);
            check({.type = type, .k = 96, .n = 33, .block = block, .along_k = along_k, .scale_type = DType::kF16},
                  rows);
          }
  });
}
TEST(WeightOnly, DepthsThatFillNoWord) {
  for_each_target([] {
    for (const DType type : {DType::kI4, DType::kI8, DType::kU8})
      for (const int64_t k : {1, 7, 13, 1291})
        for (const int64_t rows : {1, 9}) {
          SCOPED_TRACE(::testing::Message() << name_of(type) << ' ' << k << ' ' << rows);
          check({.type = type, .k = k, .n = 5, .block = k, .has_zeros = true}, rows);
          check({.type = type, .k = k, .n = 5, .block = k, .along_k = true, .one_scale = true}, rows);
        }
  });
}
TEST(WeightOnly, DeepSumsPassThroughC) {
  for_each_target([] {
    check({.type = DType::kI4, .k = 1408, .n = 270, .block = 64, .along_k = true, .has_zeros = true}, 110);
    check({.type = DType::kU8, .k = 1408, .n = 40, .block = 128}, 17);
  });
}
TEST(WeightOnly, KeepsTheirBits) {
  Weights w{.type = DType::kI4, .k = 256, .n = 64, .block = 128};
  w.fill();
  const auto packed = pack_weights(w.matrix());
  ASSERT_TRUE(packed.has_value());
  EXPECT_EQ(packed->panels() * packed->panel_bytes(), 256 * 64 / 2);
}
TEST(WeightOnly, TeamsGiveTheSameBits) {
  Weights w{.type = DType::kI4, .k = 512, .n = 700, .block = 32, .has_zeros = true};
  w.fill();
  const auto packed = pack_weights(w.matrix());
  for (const int64_t rows : {3, 20}) {
    const std::vector<float> a = random_floats(rows * w.k, 7);
    expect_same_bits_for_team_sizes([&](Team& team) {
      std::vector<float> c(static_cast<size_t>(rows * w.n));
      const TestWorkspace workspace(weight_workspace_bytes(rows, w.k, w.n, w.block, team.size()));
      multiply_weights(team, {rows, a.data(), w.k, c.data(), w.n}, *packed, {}, workspace.data());
      return c;
    });
  }
}
TEST(WeightOnly, NotANumberStays) {
  Weights w{.type = DType::kI8, .k = 16, .n = 4, .block = 16};
  w.fill();
  const auto packed = pack_weights(w.matrix());
  const std::vector<float> a(16, NAN);
  std::vector<float> c(4);
  Team team(1);
  Epilogue epilogue;
  epilogue.lo = 0;
  const TestWorkspace workspace(weight_workspace_bytes(1, w.k, w.n, w.block, 1));
  multiply_weights(team, {1, a.data(), 16, c.data(), 4}, *packed, epilogue, workspace.data());
  for (const float x : c) EXPECT_TRUE(std::isnan(x));
}

}  // namespace
}  // namespace kiln::cpu
