#include "backend/cpu/device/cpu_device.h"

#include <gtest/gtest.h>

namespace kiln::cpu {
namespace {

#if defined(__x86_64__)
TEST(CpuDevice, ComputesByTheInstructionsAskedFor) {
  const Target best = target();
  {
    const auto device = CpuDevice::create(1, Target::kAvx2);
    ASSERT_TRUE(device) << device.error().message;
    EXPECT_EQ((*device)->identity(), "cpu AVX2, 1 threads");
    EXPECT_EQ(target(), Target::kAvx2);
    EXPECT_TRUE(CpuDevice::create(1)) << "one that asks for none takes those in use";
    EXPECT_TRUE(CpuDevice::create(1, Target::kAvx2));
    if (best != Target::kAvx2) {
      const auto other = CpuDevice::create(1, best);
      ASSERT_FALSE(other);
      EXPECT_EQ(other.error().message,
                "a device of this process uses AVX2 already; all devices of a process use one instruction set");
    }
  }
  EXPECT_EQ(target(), best);
}

TEST(CpuDevice, NamesInstructionsThatTheMachineLacks) {
  const auto device = CpuDevice::create(1, Target::kNeon);
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().message, "this machine has no NEON");
}
#endif

TEST(CpuDevice, InstructionSetsHaveNames) {
  EXPECT_EQ(target_named("avx2"), Target::kAvx2);
  EXPECT_EQ(target_named("avx512"), Target::kAvx512);
  EXPECT_EQ(target_named("neon"), Target::kNeon);
  EXPECT_EQ(target_named("AVX2"), std::nullopt);
}

}  // namespace
}  // namespace kiln::cpu
