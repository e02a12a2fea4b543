#include "backend/cpu/kernels/gather/gather.h"

#include "backend/cpu/kernels/movement_testing.h"

namespace kiln::cpu {
namespace {

struct GatherCase {
  ops::Gather op;
  Extents data, indices;
  int64_t count;  ///< of valid indices
};
const GatherCase kCases[] = {
    {{}, {1000, 65}, {3, 70}, 1000},
    {{.axis = 1}, {3, 40, 5}, {2, 3}, 40},
    {{.axis = 2}, {3, 4, 500}, {77}, 500},
    {{.axis = 1}, {3, 4, 5}, {}, 4},
    {{.axis = 2, .num_elementwise_dims = 1}, {3, 4, 5}, {3, 2}, 5},
    {{.axis = 1, .num_elementwise_dims = 1}, {1, 4, 5}, {3, 2}, 4},
    {{.axis = 1, .num_elementwise_dims = 1}, {3, 4, 5}, {1, 2}, 4},
    {{.mode = GatherMode::kElement, .axis = 1}, {3, 4, 50}, {2, 60, 50}, 4},
    {{.mode = GatherMode::kElement, .axis = 0}, {9}, {400}, 9},
    {{.mode = GatherMode::kNd}, {30, 40, 5}, {600, 2}, 30},
    {{.mode = GatherMode::kNd, .num_elementwise_dims = 1}, {3, 4, 5}, {3, 2, 1}, 4},
    {{.mode = GatherMode::kNd}, {3, 4}, {5, 2}, 3},
    {{}, {4, 3}, {0}, 4},
};

TEST(CpuGather, AsTheReference) {
  Team team(2);
  for (const GatherCase& c : kCases)
    for (const int bytes : {1, 2, 4, 8})
      for (const DType index : {DType::kI32, DType::kI64}) {
        SCOPED_TRACE(str(Op(c.op), " of ", c.data, " at ", c.indices, ", ", bytes, " bytes"));
        const HostTensor data = random_tensor(type_of_bytes(bytes), c.data, 1);
        const HostTensor indices = random_indices(index, c.indices, c.count, 2);
        const HostTensor want = expected(c.op, {data, indices});
        const auto plan = plan_gather(c.op, bytes, index == DType::kI64, c.data, c.indices);
        ASSERT_TRUE(plan) << plan.error().message;
        std::vector<std::byte> y = target_of(want);
        EXPECT_EQ(run_gather(team, *plan, data.bytes().data(), indices.bytes().data(), y.data()).count, 0);
        expect_bytes(y, want);
      }
}
TEST(CpuGather, OutsideIsZeroAndCounted) {
  Team team(1);
  const float data[] = {1, 2, 3};
  const int32_t indices[] = {2, 3, -4, -3};
  float y[4] = {9, 9, 9, 9};
  for (const GatherMode mode : {GatherMode::kDefault, GatherMode::kElement}) {
    const auto plan = plan_gather(ops::Gather{.mode = mode}, 4, false, Extents{3}, Extents{4});
    EXPECT_EQ(run_gather(team, *plan, data, indices, y).count, 2);
    EXPECT_EQ(std::vector<float>(y, y + 4), (std::vector<float>{3, 0, 0, 1}));
    const Status told = run_gather(team, *plan, data, indices, y).check();
    EXPECT_EQ(told.error().message, "index 3 is outside [-3, 3) of its axis, and so is 1 other");
  }
  const auto plan = plan_gather(ops::Gather{.mode = GatherMode::kNd}, 4, false, Extents{3}, Extents{4, 1});
  EXPECT_EQ(run_gather(team, *plan, data, indices, y).count, 2);
  EXPECT_EQ(std::vector<float>(y, y + 4), (std::vector<float>{3, 0, 0, 1}));
}

/// Many parts of a team's work: the first index of all is told, and all are counted.
TEST(CpuGather, TellsTheFirstThatIsOutside) {
  Team team(2);
  std::vector<float> data(64 * 100), y(size_t{100} * 4096);
  std::vector<int32_t> indices(4096, 5);
  const auto plan = plan_gather(ops::Gather{}, 4, false, Extents{64, 100}, Extents{4096});
  ASSERT_GT(plan->parts, 8);
  for (const size_t at : {1000, 1001, 3000, 4095}) indices[at] = static_cast<int32_t>(at);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(run_gather(team, *plan, data.data(), indices.data(), y.data()).check().error().message,
              "index 1000 is outside [-64, 64) of its axis, and so are 3 others");
  for (const size_t at : {1001, 3000, 4095}) indices[at] = 0;
  EXPECT_EQ(run_gather(team, *plan, data.data(), indices.data(), y.data()).check().error().message,
            "index 1000 is outside [-64, 64) of its axis");
}

}  // namespace
}  // namespace kiln::cpu
