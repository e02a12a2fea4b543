#include "ops/slice.h"

#include "backend/cpu/kernels/copy/copy.h"
#include "backend/cpu/kernels/movement_testing.h"

namespace kiln::cpu {
namespace {

struct SliceCase {
  Extents extents, starts, sizes, strides;
  SliceMode mode = SliceMode::kStrictBounds;
};
const SliceCase kCases[] = {
    {{2, 3, 11, 13}, {0, 0, 1, 0}, {2, 3, 5, 7}, {1, 1, 2, 2}},  // every second one to the end of the data
    {{1, 3, 12, 42}, {0, 0, 0, 1}, {1, 3, 6, 20}, {1, 1, 2, 2}},
    {{1, 28, 28, 96}, {0, 0, 0, 32}, {1, 28, 28, 64}, {1, 1, 1, 1}},
    {{2, 9, 7}, {1, 8, 0}, {1, 3, 7}, {1, -3, 1}},
    {{5, 6}, {4, 5}, {5, 6}, {-1, -1}},
    {{1, 6}, {0, 0}, {300, 6}, {0, 1}},
    {{3, 5, 4}, {0, -1, -2}, {3, 7, 8}, {1, 1, 1}, SliceMode::kFill},
    {{56, 56, 3}, {-3, -3, 0}, {62, 62, 3}, {1, 1, 1}, SliceMode::kFill},
    {{4}, {6}, {9}, {-1}, SliceMode::kFill},
    {{3, 5}, {-4, -7}, {11, 19}, {1, 1}, SliceMode::kReflect},
    {{1, 5}, {-4, 3}, {11, 9}, {1, 2}, SliceMode::kReflect},
    {{3, 5}, {-4, -7}, {11, 19}, {1, 1}, SliceMode::kClamp},
    {{3, 5}, {-4, -7}, {11, 19}, {1, 1}, SliceMode::kWrap},
    {{2, 3}, {0, 0}, {1000, 3000}, {1, 1}, SliceMode::kWrap},
    {{7}, {3}, {20}, {-2}, SliceMode::kWrap},
    {{4, 3}, {2, 0}, {0, 3}, {1, 1}},
};

TEST(CopySlice, EveryModeAsTheReference) {
  Team team(2);
  for (const SliceCase& c : kCases)
    for (const int bytes : {1, 2, 4, 8}) {
      SCOPED_TRACE(str(c.extents, " mode ", c.mode, ", ", bytes, " bytes"));
      const HostTensor x = random_tensor(type_of_bytes(bytes), c.extents, 1);
      const HostTensor fill = random_tensor(type_of_bytes(bytes), {}, 9);
      const ops::Slice op{.starts = c.starts, .sizes = c.sizes, .strides = c.strides, .mode = c.mode};
      const HostTensor* inputs[] = {&x, nullptr, nullptr, nullptr, &fill};
      const auto want = run_reference(op, inputs);
      ASSERT_TRUE(want) << want.error().message;
      std::vector<std::byte> y = target_of((*want)[0]);
      const void* sources[] = {x.bytes().data(), fill.bytes().data()};
      run_copy(team, plan_slice(bytes, c.mode, c.extents, c.sizes, c.starts, c.strides), sources, y.data());
      expect_bytes(y, (*want)[0]);
    }
}
TEST(CopySlice, RepeatsAreFewBoxes) {
  const Copy copy = plan_slice(4, SliceMode::kWrap, Extents{2, 3}, Extents{1000, 3000}, Extents{0, 0}, Extents{1, 1});
  EXPECT_EQ(copy.boxes.size(), 1U);
}

}  // namespace
}  // namespace kiln::cpu
