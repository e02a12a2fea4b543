#include "plan/kernel_name.h"

#include <gtest/gtest.h>

namespace kiln::plan {
namespace {

TEST(KernelName, IsTheTacticAndItsVariant) {
  EXPECT_EQ(kernel_name("gemm", "6x16"), "gemm: 6x16");
  EXPECT_EQ(kernel_name("reference", ""), "reference");
  EXPECT_EQ(kernel_name("", ""), "");
}
TEST(KernelName, HasNoCommas) { EXPECT_EQ(kernel_name("a,b", "tile 4, 8,16"), "a;b: tile 4; 8;16"); }
TEST(KernelName, IsCutToWhatProgramsHaveRoomFor) {
  const std::string tactic(100, 't'), variant(100, 'v');
  EXPECT_EQ(kernel_name(tactic, variant), tactic + ": " + std::string(25, 'v'));
  EXPECT_EQ(kernel_name(std::string(127, 't'), ""), std::string(127, 't'));
}

}  // namespace
}  // namespace kiln::plan
