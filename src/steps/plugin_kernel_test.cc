#include "steps/plugin_kernel.h"

#include <gtest/gtest.h>

#include "steps/plugin.h"

namespace kiln {
namespace {

std::string error_of(const Status& status) { return status ? "" : status.error().message; }

const steps::PluginKernel kGood{
    .plugin = {"P", "1", ""}, .entry = "add", .tactic = 2, .scalar_bytes = {1, 2, 4}, .size_outputs = {1}};

StepTypes types() {
  const StepTensor x{.dtype = DType::kF32, .format = {}, .rank = 2},
      size{.dtype = DType::kI32, .format = {}, .rank = 0};
  return {{x}, {x, size}, 10, 1};
}

TEST(PluginKernelStep, SaysWhatIsWrong) {
  EXPECT_EQ(error_of(AnyStep(kGood).check(types())), "");
  const auto changed = [&](auto change) {
    steps::PluginKernel step = kGood;
    change(step);
    return error_of(AnyStep(step).check(types()));
  };
  EXPECT_EQ(changed([](auto& s) { s.entry = ""; }), "plugin 'P' version '1' has a kernel without a name");
  EXPECT_EQ(changed([](auto& s) { s.entry = std::string("a\0b", 3); }),
            "plugin 'P' version '1': the name of its kernel has a zero in it");
  EXPECT_EQ(changed([](auto& s) { s.scalar_bytes[1] = 8; }),
            "plugin 'P' version '1' has a scalar argument of 8 bytes; 1, 2 or 4 are possible");
  EXPECT_EQ(changed([](auto& s) { s.scalar_bytes.pop_back(); }),
            "plugin 'P' version '1' has 10 numbers of a launch; 7 and its 2 scalars are needed");
  EXPECT_EQ(changed([](auto& s) { s.size_outputs = {0}; }),
            "plugin 'P' version '1' tells a size by output 0, which is no scalar of i32 or i64");
  EXPECT_EQ(changed([](auto& s) { s.size_outputs = {}; }), "plugin 'P' version '1' tells 0 sizes of 1");
}

TEST(PluginKernelStep, RefusesLaunchesThatNoDeviceTakes) {
  const std::vector<int64_t> good{2147483647, 65535, 65535, 16, 1, 64, 2147483647, -128, 32767, -2147483648};
  const auto changed = [&](size_t at, int64_t value) {
    std::vector<int64_t> params = good;
    params[at] = value;
    return error_of(kGood.check_numbers(params));
  };
  EXPECT_EQ(changed(0, 1), "");
  EXPECT_EQ(changed(0, 0), "") << "no work";
  EXPECT_EQ(changed(0, -1), "plugin 'P' version '1': grid x of its kernel is -1; 0 to 2147483647 are possible");
  EXPECT_EQ(changed(1, 65536), "plugin 'P' version '1': grid y of its kernel is 65536; 0 to 65535 are possible");
  EXPECT_EQ(changed(3, 0), "plugin 'P' version '1': block x of its kernel is 0; 1 to 1024 are possible");
  EXPECT_EQ(changed(5, 65), "plugin 'P' version '1': block z of its kernel is 65; 1 to 64 are possible");
  EXPECT_EQ(changed(4, 2), "plugin 'P' version '1': a block of its kernel has 2048 threads; 1024 are possible");
  EXPECT_EQ(changed(6, -1), "plugin 'P' version '1': shared memory of its kernel is -1; 0 to 2147483647 are possible");
  EXPECT_EQ(changed(7, 128),
            "plugin 'P' version '1': scalar argument 0 of its kernel is 128, which 1 bytes do not hold");
  EXPECT_EQ(changed(8, -32769),
            "plugin 'P' version '1': scalar argument 1 of its kernel is -32769, which 2 bytes do not hold");
  EXPECT_EQ(changed(9, 2147483648),
            "plugin 'P' version '1': scalar argument 2 of its kernel is 2147483648, which 4 bytes do not hold");
}

TEST(PluginKernelStep, TellsSizesAsAPluginDoes) {
  ASSERT_NE(steps::size_outputs_of(AnyStep(kGood)), nullptr);
  EXPECT_EQ(*steps::size_outputs_of(AnyStep(kGood)), std::vector<int>{1});
}

}  // namespace
}  // namespace kiln
