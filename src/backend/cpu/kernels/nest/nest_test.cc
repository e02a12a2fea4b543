#include "backend/cpu/kernels/nest/nest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "backend/cpu/kernels/nest/kernel.h"
#include "backend/cpu/kernels/testing.h"
#include "tensor/numeric.h"

namespace kiln::cpu {
namespace {

using enum ScalarFn;
using Shape64 = std::vector<int64_t>;

/// Strides of a dense tensor of `extents`; axes of extent 1 repeat.
NestStrides dense(const Shape64& extents) {
  NestStrides strides;
  const Extents at = row_major_strides(extents);
  for (size_t i = 0; i < at.size(); ++i) strides.at[i] = extents[i] == 1 ? 0 : at[i];
  return strides;
}
Nest nest_of(NestProgram program) {
  auto nest = Nest::make(std::move(program));
  if (!nest) throw CheckFailed{nest.error().message};
  return std::move(*nest);
}
/// relu(input 0 + input 1) * input 2
NestProgram chain() {
  return {{{kSum, DType::kF32, DType::kF32, {~0, ~1}},
           {kRelu, DType::kF32, DType::kF32, {0}},
           {kProd, DType::kF32, DType::kF32, {1, ~2}}},
          {DType::kF32, DType::kF32, DType::kF32},
          {DType::kF32},
          {2}};
}
float chain_of(float a, float b, float c) { return std::fmax(a + b, 0.0f) * c; }

/// Calls `f(index)` for each index of `extents`.
template <class F>
void for_each_index(const Shape64& extents, F f) {
  Shape64 index(extents.size(), 0);
  for (int64_t left = volume(extents); left-- > 0;) {
    f(index);
    for (size_t axis = extents.size(); axis-- > 0 && ++index[axis] == extents[axis];) index[axis] = 0;
  }
}
size_t position(const NestStrides& strides, const Shape64& index) {
  int64_t result = 0;
  for (size_t i = 0; i < index.size(); ++i) result += strides.at[i] * index[i];
  return static_cast<size_t>(result);
}

struct Layout {
  Shape64 extents;
  NestStrides in[3], out;
  int64_t out_size = 0;  // 0: dense
};
const Layout kLayouts[] = {
    {{8}, {dense({8}), dense({8}), dense({8})}, dense({8})},
    {{100'003}, {dense({100'003}), dense({100'003}), dense({1})}, dense({100'003})},
    {{300, 1000}, {dense({300, 1000}), dense({1, 1000}), dense({300, 1})}, dense({300, 1000})},
    {{300, 7}, {dense({300, 7}), dense({1, 7}), dense({300, 1})}, dense({300, 7})},
    {{2, 5, 49}, {dense({2, 5, 49}), dense({1, 5, 1}), dense({1, 5, 1})}, dense({2, 5, 49})},
    {{2, 5, 3000}, {dense({2, 5, 3000}), dense({1, 5, 1}), dense({2, 1, 3000})}, dense({2, 5, 3000})},
    {{3, 4, 5, 6}, {{{1, 3, 12, 60}}, dense({3, 1, 5, 1}), dense({1, 4, 1, 6})}, dense({3, 4, 5, 6})},
    {{2, 16, 9, 9}, {{{1296, 1, 144, 16}}, {{0, 1, 0, 0}}, {{1296, 1, 144, 16}}}, {{1296, 1, 144, 16}}},  // NHWC
    {{40, 30}, {dense({40, 30}), dense({1, 1}), dense({40, 30})}, {{64, 1}}, 40 * 64},  // within rows of 64
    {{40, 30}, {dense({40, 30}), dense({40, 30}), dense({1, 30})}, {{1, 40}}},          // transposed on the way
    {{}, {dense({}), dense({}), dense({})}, dense({})},
    {{0, 5}, {dense({0, 5}), dense({1, 5}), dense({0, 1})}, dense({0, 5})},
    {{5, 0}, {dense({5, 0}), dense({1, 0}), dense({5, 1})}, dense({5, 0})},
};

std::vector<float> run_chain(const Layout& layout, Team& team, const std::vector<float>* data) {
  const Nest nest = nest_of(chain());
  const NestStrides strides[] = {layout.in[0], layout.in[1], layout.in[2], layout.out};
  const BoundNest bound(nest, layout.extents, strides);
  const int64_t size = layout.out_size ? layout.out_size : volume(layout.extents);
  std::vector<float> y(static_cast<size_t>(size), -99);
  const void* inputs[] = {data[0].data(), data[1].data(), data[2].data()};
  void* output = y.data();
  bound.run(nest, team, inputs, &output);
  return y;
}

TEST(Nest, WalksAnyLayout) {
  Team team(2);
  for_each_target([&] {
    for (const Layout& layout : kLayouts) {
      SCOPED_TRACE(str(layout.extents));
      std::vector<float> data[3];
      for (uint32_t i = 0; i < 3; ++i) data[i] = random_floats(volume(layout.extents), i);
      const std::vector<float> y = run_chain(layout, team, data);
      int64_t written = 0;
      for_each_index(layout.extents, [&](const Shape64& index) {
        const auto at = [&](int i) { return data[i][position(layout.in[i], index)]; };
        ASSERT_EQ(y[position(layout.out, index)], chain_of(at(0), at(1), at(2))) << str(index);
        ++written;
      });
      EXPECT_EQ(std::count(y.begin(), y.end(), -99), static_cast<int64_t>(y.size()) - written);
    }
  });
}
TEST(Nest, TeamsGiveTheSameBits) {
  const Layout& layout = kLayouts[2];
  std::vector<float> data[3];
  for (uint32_t i = 0; i < 3; ++i) data[i] = random_floats(volume(layout.extents), i);
  expect_same_bits_for_team_sizes([&](Team& team) { return run_chain(layout, team, data); });
}
TEST(Nest, WritesInPlace) {
  const Nest nest = nest_of(chain());
  const int64_t size = 70'000;
  std::vector<float> x = random_floats(size, 1);
  const std::vector<float> before = x, b = random_floats(size, 2);
  const NestStrides strides[] = {dense({size}), dense({size}), dense({1}), dense({size})};
  const float two = 2;
  const void* inputs[] = {x.data(), b.data(), &two};
  void* output = x.data();
  Team team(2);
  BoundNest(nest, std::span(&size, 1), strides).run(nest, team, inputs, &output);
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], chain_of(before[i], b[i], 2));
}
TEST(Nest, AnOutputMayReplaceAnInputThatIsReadLater) {  // outputs: x + 1, then 2 x
  const Nest nest = nest_of({{{kSum, DType::kF32, DType::kF32, {~0, ~1}}, {kSum, DType::kF32, DType::kF32, {~0, ~0}}},
                             {DType::kF32, DType::kF32},
                             {DType::kF32, DType::kF32},
                             {0, 1}});
  const int64_t size = 5000;
  std::vector<float> x = random_floats(size, 1), twice(5000);
  const std::vector<float> before = x;
  const NestStrides strides[] = {dense({size}), dense({1}), dense({size}), dense({size})};
  const float one = 1;
  const void* inputs[] = {x.data(), &one};
  void* outputs[] = {x.data(), twice.data()};
  Team team(1);
  BoundNest(nest, std::span(&size, 1), strides).run(nest, team, inputs, outputs);
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(x[i], before[i] + 1);
    ASSERT_EQ(twice[i], 2 * before[i]);
  }
}
TEST(Nest, OutputsOfOneValueAndOfAnInput) {
  const Nest nest = nest_of({{{kNeg, DType::kF32, DType::kF32, {~0}}, {kIdentity, DType::kF32, DType::kF32, {~0}}},
                             {DType::kF32},
                             {DType::kF32, DType::kF32, DType::kF32},
                             {0, 0, 1}});
  const std::vector<float> x = random_floats(100, 1);
  std::vector<float> y[3] = {std::vector<float>(100), std::vector<float>(100), std::vector<float>(100)};
  const NestStrides strides[] = {dense({100}), dense({100}), dense({100}), dense({100})};
  const int64_t size = 100;
  const void* input = x.data();
  void* outputs[] = {y[0].data(), y[1].data(), y[2].data()};
  Team team(1);
  BoundNest(nest, std::span(&size, 1), strides).run(nest, team, &input, outputs);
  for (size_t i = 0; i < 100; ++i) {
    ASSERT_EQ(y[0][i], -x[i]);
    ASSERT_EQ(y[1][i], -x[i]);
    ASSERT_EQ(y[2][i], x[i]);
  }
}

TEST(Nest, RoundsHalvesAtEveryInstruction) {
  for (const bool half : {true, false}) {
    const DType type = half ? DType::kF16 : DType::kBF16;
    const auto to_bits = half ? float_to_half : float_to_bfloat16;
    const auto from_bits = [&](uint16_t bits) { return half ? half_to_float(bits) : bfloat16_to_float(bits); };
    const Nest nest =
        nest_of({{{kProd, type, type, {~0, ~1}}, {kSum, type, type, {0, ~1}}}, {type, type}, {type}, {1}});
    const std::vector<float> numbers = random_floats(4000, 5);
    std::vector<uint16_t> x, b, y(2000);
    for (size_t i = 0; i < 2000; ++i) x.push_back(to_bits(numbers[i])), b.push_back(to_bits(numbers[2000 + i]));
    const int64_t size = 2000;
    const NestStrides strides[] = {dense({size}), dense({size}), dense({size})};
    const void* inputs[] = {x.data(), b.data()};
    void* output = y.data();
    Team team(1);
    for_each_target([&] {
      const Nest chosen = nest_of(nest.program());
      BoundNest(chosen, std::span(&size, 1), strides).run(chosen, team, inputs, &output);
      for (size_t i = 0; i < y.size(); ++i) {
        const float product = from_bits(to_bits(from_bits(x[i]) * from_bits(b[i])));
        ASSERT_EQ(y[i], to_bits(product + from_bits(b[i]))) << i;
      }
    });
  }
}
TEST(Nest, MixesTypes) {  // where(x > 0 and mask, i64(x), count) as f32, with i64 in registers of twice the size
  const NestProgram program{{{kGreater, DType::kF32, DType::kBool, {~0, ~3}},
                             {kAnd, DType::kBool, DType::kBool, {0, ~1}},
                             {kCast, DType::kF32, DType::kI64, {~0}},
                             {kSelect, DType::kI64, DType::kI64, {1, 2, ~2}},
                             {kCast, DType::kI64, DType::kF32, {3}}},
                            {DType::kF32, DType::kBool, DType::kI64, DType::kF32},
                            {DType::kF32, DType::kBool, DType::kI64},
                            {4, 1, 3}};
  const Shape64 extents{50, 60};
  std::vector<float> x = random_floats(3000, 8), y(3000);
  std::vector<uint8_t> mask(60), both(3000);
  std::vector<int64_t> count(50), chosen(3000);
  for (float& v : x) v *= 100;
  for (size_t i = 0; i < 60; ++i) mask[i] = i % 3 == 0;
  for (size_t i = 0; i < 50; ++i) count[i] = static_cast<int64_t>(i) << 40;
  const float zero = 0;
  const NestStrides strides[] = {dense(extents), dense({1, 60}), dense({50, 1}), dense({1, 1}),
                                 dense(extents), dense(extents), dense(extents)};
  const void* inputs[] = {x.data(), mask.data(), count.data(), &zero};
  void* outputs[] = {y.data(), both.data(), chosen.data()};
  Team team(1);
  for_each_target([&] {
    const Nest nest = nest_of(program);
    BoundNest(nest, extents, strides).run(nest, team, inputs, outputs);
    for (size_t i = 0; i < 3000; ++i) {
      const bool take = x[i] > 0 && mask[i % 60];
      ASSERT_EQ(both[i], take);
      ASSERT_EQ(chosen[i], take ? static_cast<int64_t>(x[i]) : count[i / 60]);
      ASSERT_EQ(y[i], static_cast<float>(chosen[i]));
    }
  });
}
TEST(Nest, BytesWrap) {
  const Nest nest = nest_of({{{kSum, DType::kI8, DType::kI8, {~0, ~0}}, {kCast, DType::kI8, DType::kI32, {0}}},
                             {DType::kI8},
                             {DType::kI8, DType::kI32},
                             {0, 1}});
  const int8_t x[] = {1, 100, -100, -128};
  int8_t y[4];
  int32_t wide[4];
  const int64_t size = 4;
  const NestStrides strides[] = {dense({4}), dense({4}), dense({4})};
  const void* input = x;
  void* outputs[] = {y, wide};
  Team team(1);
  BoundNest(nest, std::span(&size, 1), strides).run(nest, team, &input, outputs);
  const int expected[] = {2, -56, 56, 0};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(y[i], expected[i]);
    EXPECT_EQ(wide[i], expected[i]);
  }
}

TEST(NestTile, IsAnEpilogue) {  // relu(tile + rows) * cols, on part of a result
  const Nest nest = nest_of(chain());
  const std::vector<float> per_row = random_floats(40, 1), per_col = random_floats(70, 2);
  const NestTile::Extra extras[] = {{per_row.data(), 1, 0}, {per_col.data(), 0, 1}};
  const NestTile epilogue{&nest, extras};
  const TileHook hook = epilogue.hook();
  for (const int64_t cols : {1, 16, 33, 48}) {
    const int64_t rows = 13, ld = 48, row0 = 20, col0 = 10;
    const std::vector<float> before = random_floats(rows * ld, 3);
    std::vector<float> tile = before;
    hook.apply(hook.self, tile.data(), rows, cols, ld, row0, col0);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < ld; ++c) {
        const auto at = static_cast<size_t>(r * ld + c);
        const float y = chain_of(before[at], per_row[size_t(row0 + r)], c < cols ? per_col[size_t(col0 + c)] : 0);
        ASSERT_EQ(tile[at], c < cols ? y : before[at]) << r << ", " << c << " of " << cols << " columns";
      }
  }
}

TEST(Nest, TooLong) {
  NestProgram p{{{kNeg, DType::kF32, DType::kF32, {~0}}}, {DType::kF32}, {DType::kF32}, {0}};
  while (p.code.size() <= Nest::kMaxCode) p.code.push_back({kNeg, DType::kF32, DType::kF32, {0}});
  const auto nest = Nest::make(p);
  ASSERT_FALSE(nest);
  EXPECT_EQ(nest.error().message, "a nest of 65 instructions; at most 64 are possible");
}
TEST(Nest, EveryFunctionOfProgramsHasAKernel) {
  for (int fn = 0; fn < kNumScalarFns; ++fn)
    for (int type = 0; type < kNumDTypes; ++type) {
      const auto f = static_cast<ScalarFn>(fn);
      const auto t = static_cast<DType>(type);
      if (!is_nest_type(t) || f == kSelect || f == kCast || f == kIdentity) continue;
      EXPECT_EQ(has_nest_function(f, t), find_nest_kernel(f, t) != nullptr) << name_of(f) << name_of(t);
    }
}

/// A product with a function of its other side is one kernel; what it gives must not show that.
TEST(Nest, GatesGiveTheBitsOfTwoInstructions) {
  const auto gate = [](ScalarFn fn, NestOperand of, NestOperand with) {
    return NestProgram{{{fn, DType::kF32, DType::kF32, {of}, 0.2f, 0.5f}, {kProd, DType::kF32, DType::kF32, {0, with}}},
                       {DType::kF32, DType::kF32},
                       {DType::kF32},
                       {1}};
  };
  constexpr int64_t kSize = 1003;
  std::vector<float> x = random_floats(kSize, 1), y = random_floats(kSize, 2);
  for (float& value : x) value *= 120;
  x[7] = NAN, x[20] = INFINITY, x[500] = -INFINITY;
  const auto run = [&](const NestProgram& program, int outputs) {
    std::vector<float> first(kSize), second(kSize);
    const NestStrides strides[] = {dense({kSize}), dense({kSize}), dense({kSize}), dense({kSize})};
    const int64_t extents[] = {kSize};
    const Nest nest = nest_of(program);
    const void* const inputs[] = {x.data(), y.data()};
    void* const results[] = {first.data(), second.data()};
    Team team(1);
    BoundNest(nest, extents, std::span(strides, static_cast<size_t>(2 + outputs))).run(nest, team, inputs, results);
    return first;
  };
  for_each_target([&] {
    for (const ScalarFn fn : {kSigmoid, kHardSigmoid})
      for (const NestOperand with : {~0, ~1}) {  // the second is no gate
        NestProgram apart = gate(fn, ~0, with);
        apart.outputs.push_back(DType::kF32);
        apart.output_regs.push_back(0);  // a second reader keeps the two instructions apart
        const std::vector<float> one = run(gate(fn, ~0, with), 1), two = run(apart, 2);
        for (size_t i = 0; i < one.size(); ++i) {
          if (std::isnan(one[i]) && std::isnan(two[i])) continue;  // a NaN's sign is the compiler's choice
          ASSERT_EQ(std::memcmp(&one[i], &two[i], 4), 0) << name_of(fn) << " with " << with << ", element " << i;
        }
      }
  });
}

/// relu(input 1 - q) in bytes, and the same of a number an element, which no table has.
NestProgram function_of_a_byte() {
  return {{{kCast, DType::kI8, DType::kF32, {~0}},
           {kSub, DType::kF32, DType::kF32, {~1, 0}},
           {kRelu, DType::kF32, DType::kF32, {1}},
           {kCast, DType::kF32, DType::kU8, {2}}},
          {DType::kI8, DType::kF32},
          {DType::kU8},
          {3}};
}
/// Large tensors of bytes are looked up, in any order that both have, in place as well; what is not all of its memory,
/// or has a number for each element, is computed.
TEST(Nest, FunctionsOfAByteHaveTables) {
  const Nest nest = nest_of(function_of_a_byte());
  const Shape64 extents{2, 3, 5000};
  const int64_t count = 2 * 3 * 5000;
  std::vector<int8_t> q(static_cast<size_t>(2 * count));
  for (size_t i = 0; i < q.size(); ++i) q[i] = static_cast<int8_t>(i * 7 + i / 256);
  std::vector<float> each(static_cast<size_t>(count), 100);
  const auto expected = [&](int8_t byte) { return static_cast<uint8_t>(std::max(100 - byte, 0)); };
  const NestStrides channels_last{{3 * 5000, 1, 3}}, apart{{6 * 5000, 2 * 5000, 2}};
  Team team(2);
  for_each_target([&] {
    for (const bool has_each : {false, true})
      for (const NestStrides& order : {dense(extents), channels_last, apart}) {
        const NestStrides strides[] = {order, has_each ? dense(extents) : NestStrides{}, order};
        const BoundNest bound(nest, extents, strides);
        std::vector<uint8_t> y(q.size(), 7);
        const void* inputs[] = {q.data(), each.data()};
        void* outputs[] = {y.data()};
        bound.run(nest, team, inputs, outputs);
        const bool skips = order.at[2] == 2;
        for (size_t i = 0; i < y.size(); ++i) {
          const bool is_written = skips ? i % 2 == 0 : i < static_cast<size_t>(count);
          ASSERT_EQ(y[i], is_written ? expected(q[i]) : 7) << i;
        }
        std::vector<int8_t> in_place = q;
        const void* same[] = {in_place.data(), each.data()};
        outputs[0] = in_place.data();
        bound.run(nest, team, same, outputs);
        EXPECT_EQ(static_cast<uint8_t>(in_place[0]), expected(q[0]));
        EXPECT_EQ(static_cast<uint8_t>(in_place[29'998]), expected(q[29'998]));
      }
  });
}

}  // namespace
}  // namespace kiln::cpu
