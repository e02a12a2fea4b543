#include "backend/cpu/kernels/copy/copy.h"

#include "backend/cpu/kernels/movement_testing.h"
#include "backend/cpu/kernels/testing.h"
#include "ops/concatenation.h"
#include "ops/expand.h"
#include "ops/transpose.h"

namespace kiln::cpu {
namespace {

std::vector<std::byte> run(const Copy& copy, const std::vector<HostTensor>& sources, const HostTensor& like) {
  std::vector<const void*> pointers;
  for (const HostTensor& source : sources) pointers.push_back(source.bytes().data());
  std::vector<std::byte> y = target_of(like);
  Team team(3);
  run_copy(team, copy, pointers.data(), y.data());
  return y;
}

struct TransposeCase {
  Extents extents;
  std::vector<int64_t> perm;
};
const TransposeCase kTransposes[] = {
    {{5, 7}, {1, 0}},
    {{64, 56 * 56}, {1, 0}},
    {{1, 64, 56, 57}, {0, 2, 3, 1}},
    {{2, 33, 31, 130}, {0, 3, 1, 2}},
    {{3, 224, 224}, {1, 2, 0}},
    {{2, 3, 67}, {0, 2, 1}},
    {{2, 6, 3, 16}, {0, 2, 1, 3}},
    {{2, 19, 5, 2}, {2, 0, 1, 3}},
    {{300, 301}, {1, 0}},
    {{1024, 70}, {1, 0}},
    {{1, 1024, 3, 67}, {0, 2, 3, 1}},
    {{4, 3, 2, 5, 2, 3}, {5, 3, 1, 0, 2, 4}},
    {{3, 1, 4}, {2, 1, 0}},
    {{0, 4}, {1, 0}},
    {{}, {}},
    {{200'003}, {0}},
};

TEST(Copy, Transposes) {
  for_each_target([] {
    for (const TransposeCase& c : kTransposes)
      for (const int bytes : {1, 2, 4, 8}) {
        SCOPED_TRACE(str(c.extents, " by ", c.perm, ", ", bytes, " bytes"));
        const HostTensor x = random_tensor(type_of_bytes(bytes), c.extents, 1);
        const HostTensor want = expected(ops::Transpose{c.perm}, {x});
        expect_bytes(run(plan_transpose(bytes, c.extents, c.perm), {x}, want), want);
      }
  });
}

TEST(Copy, ChoosesTheLoop) {
  const auto kind = [](const Copy& copy) { return copy.boxes.at(0).kind; };
  EXPECT_EQ(kind(plan_transpose(4, Extents{1, 64, 56, 56}, std::vector<int64_t>{0, 2, 3, 1})), Box::Kind::kTranspose);
  EXPECT_EQ(kind(plan_transpose(4, Extents{2, 8, 6, 64}, std::vector<int64_t>{0, 2, 1, 3})), Box::Kind::kRows);
  EXPECT_EQ(kind(plan_expand(4, Extents{7, 1}, Extents{7, 9})), Box::Kind::kFill);
  EXPECT_EQ(kind(plan_transpose(4, Extents{3, 500}, std::vector<int64_t>{1, 0})), Box::Kind::kElements);
  EXPECT_EQ(kind(plan_transpose(1, Extents{3, 500}, std::vector<int64_t>{1, 0})), Box::Kind::kTranspose);
}

TEST(Copy, AnyStridesAndSizes) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const int bytes = std::array{1, 2, 4, 8, 3, 12, 16}[random() % 7];
    const int rank = static_cast<int>(random() % 5);
    Extents extents, from(static_cast<size_t>(rank)), to(static_cast<size_t>(rank));
    for (int i = 0; i < rank; ++i) extents.push_back(1 + static_cast<int64_t>(random() % 9));
    // Both sides visit the axes in orders of their own, with gaps; the source sometimes backwards or standing still.
    std::vector<size_t> order(static_cast<size_t>(rank));
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    int64_t from_size = 1, to_size = 1, base = 0;
    std::shuffle(order.begin(), order.end(), random);
    for (const size_t axis : order) {
      from[axis] = from_size;
      from_size = from_size * extents[axis] + static_cast<int64_t>(random() % 2);
      if (random() % 4 == 0) base += from[axis] * (extents[axis] - 1), from[axis] = -from[axis];
      if (random() % 5 == 0) from[axis] = 0;
    }
    std::shuffle(order.begin(), order.end(), random);
    for (const size_t axis : order) {
      to[axis] = to_size;
      to_size = to_size * extents[axis] + static_cast<int64_t>(random() % 2);
    }
    std::vector<uint8_t> source(static_cast<size_t>(from_size * bytes)), want(static_cast<size_t>(to_size * bytes), 7);
    for (uint8_t& byte : source) byte = static_cast<uint8_t>(random());
    std::vector<uint8_t> got = want;
    std::vector<int64_t> index(static_cast<size_t>(rank), 0);
    for (int64_t n = volume(extents); n > 0; --n) {
      int64_t a = base, b = 0;
      for (size_t i = 0; i < index.size(); ++i) a += index[i] * from[i], b += index[i] * to[i];
      std::memcpy(&want[static_cast<size_t>(b * bytes)], &source[static_cast<size_t>(a * bytes)],
                  static_cast<size_t>(bytes));
      for (size_t i = index.size(); i-- > 0;) {
        if (++index[i] < extents[i]) break;
        index[i] = 0;
      }
    }
    Team team(2);
    run_copy(team, plan_strided(bytes, extents, from, to), source.data() + base * bytes, got.data());
    ASSERT_EQ(got, want) << "round " << round << ": " << str(extents, from, to) << ", " << bytes << " bytes";
  }
}

TEST(Copy, Expands) {
  const std::pair<Extents, Extents> kCases[] = {
      {{3, 1}, {3, 500}}, {{5}, {400, 5}}, {{1, 3, 1, 4}, {2, 3, 6, 4}}, {{}, {3, 3}}, {{1}, {100'000}}};
  for (const auto& [from, to] : kCases)
    for (const int bytes : {1, 2, 4, 8}) {
      const HostTensor x = random_tensor(type_of_bytes(bytes), from, 3);
      const HostTensor want = expected(ops::Expand{.dims = to}, {x});
      expect_bytes(run(plan_expand(bytes, from, to), {x}, want), want);
    }
}

TEST(Copy, Concatenates) {
  const std::pair<std::vector<Extents>, int> kCases[] = {
      {{{1, 28, 28, 64}, {1, 28, 28, 96}, {1, 28, 28, 1}, {1, 28, 28, 3}}, 3},
      {{{1, 3, 10, 10}, {1, 5, 10, 10}}, 1},
      {{{2, 3}, {0, 3}, {1, 3}}, 0},
      {{{7}}, 0},
  };
  for (const auto& [inputs, axis] : kCases)
    for (const int bytes : {1, 2, 4, 8}) {
      std::vector<HostTensor> tensors;
      for (const Extents& extents : inputs)
        tensors.push_back(random_tensor(type_of_bytes(bytes), extents, static_cast<uint32_t>(tensors.size())));
      const HostTensor want = expected(ops::Concatenation{axis}, tensors);
      expect_bytes(run(plan_concatenation(bytes, inputs, axis), tensors, want), want);
    }
}

}  // namespace
}  // namespace kiln::cpu
