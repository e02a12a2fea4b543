#include "steps/plugin.h"

#include <gtest/gtest.h>

#include "steps/loaded_plugin.h"

namespace kiln {
namespace {

std::string error_of(const Status& status) { return status ? "" : status.error().message; }

TEST(PluginStep, SaysWhatIsWrong) {
  const StepTensor x{.dtype = DType::kF32, .format = {}, .rank = 2},
      size{.dtype = DType::kI32, .format = {}, .rank = 0};
  const StepTypes types{{x}, {x, size}, 0, 1};
  const steps::Plugin good{.plugin = {"P", "1", ""}, .fields = {}, .size_outputs = {1}, .decided_axes = {{1}, {}}};
  EXPECT_EQ(error_of(AnyStep(good).check(types)), "");
  const auto changed = [&](auto change) {
    steps::Plugin step = good;
    change(step);
    return error_of(AnyStep(step).check(types));
  };
  EXPECT_EQ(changed([](auto& s) { s.workspace_bytes = -1; }), "plugin 'P' version '1' wants -1 bytes of workspace");
  EXPECT_EQ(changed([](auto& s) { s.tactic = -1; }), "plugin 'P' version '1' has tactic -1");
  EXPECT_EQ(changed([](auto& s) { s.size_outputs = {}; }), "plugin 'P' version '1' tells 0 sizes of 1");
  EXPECT_EQ(changed([](auto& s) { s.size_outputs = {2}; }), "plugin 'P' version '1' tells a size by output 2 of 2");
  EXPECT_EQ(changed([](auto& s) { s.size_outputs = {0}; }),
            "plugin 'P' version '1' tells a size by output 0, which is no scalar of i32 or i64");
  EXPECT_EQ(changed([](auto& s) { s.decided_axes = {{1}}; }), "plugin 'P' version '1' has axes of 1 outputs, not 2");
  EXPECT_EQ(changed([](auto& s) {
              s.decided_axes = {{2}, {}};
            }),
            "plugin 'P' version '1' decides axis 2 of output 0, whose rank is 2");
  EXPECT_EQ(changed([](auto& s) { s.scales = {1, 0.5, 1}; }), "");
  EXPECT_EQ(changed([](auto& s) { s.scales = {1}; }), "plugin 'P' version '1' has 1 scales of 3 tensors");
  EXPECT_EQ(changed([](auto& s) { s.scales = {1, 0, 1}; }), "plugin 'P' version '1' has a scale of 0");
}

TEST(PluginStep, FieldsHaveTheBytesOfTheirElements) {
  const auto read = [](PluginField field) { return error_of(check_fields(field)); };
  EXPECT_EQ(read({"f", PluginFieldType::kF32, 2, Bytes(8)}), "");
  EXPECT_EQ(read({"f", PluginFieldType::kI4, 3, Bytes(2)}), "");
  EXPECT_EQ(read({"f", PluginFieldType::kDims, 1, Bytes(72)}), "");
  EXPECT_EQ(read({"f", PluginFieldType::kF32, 2, Bytes(7)}),
            "field 'f' of a plugin has 7 bytes; 2 elements of type f32 have others");
  Bytes dims(144);
  dims[72] = std::byte{9};  // the count of the second
  EXPECT_EQ(read({"f", PluginFieldType::kDims, 2, dims}),
            "field 'f' of a plugin: element 1 has 9 dimensions; -1 to 8 are possible");
  dims[72] = std::byte{8};
  EXPECT_EQ(read({"f", PluginFieldType::kDims, 2, dims}), "");
  EXPECT_NE(read({"f", PluginFieldType::kChar, -1, {}}), "");
  EXPECT_NE(read({"f", PluginFieldType::kI64, int64_t{1} << 61, {}}), "");
}

TEST(PluginStep, IsNotLoadedWithoutItsPlugin) {
  const steps::Plugin step{.plugin = {"P", "1", "mine"}, .fields = {}, .size_outputs = {}, .decided_axes = {}};
  const auto loaded = load_plugin(step, {}, nullptr);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message,
            "plugin 'P' version '1' of namespace 'mine' has no plugin object: find its creator and make one before the "
            "plan is loaded");
}

}  // namespace
}  // namespace kiln
