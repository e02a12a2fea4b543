#include "plugin/plan_libraries.h"

#include <gtest/gtest.h>

namespace kiln::plugin {
namespace {

TEST(PlanLibraries, WhoseBytesAreNoLibraryAreNamed) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{64}, size_t{5'000}}) {
    auto fresh = HostTensor::make(DType::kU8, {static_cast<int64_t>(size)});
    if (size == 64) std::ranges::copy(std::as_bytes(std::span("\177ELF\2\1\1", 7)), fresh->data.begin());
    const plan::Weight stored{.name = "/lib/a.so", .value = fresh->tensor, .from = {}};
    const auto loaded = PlanLibraries::load(std::span(&stored, 1), {});
    ASSERT_FALSE(loaded) << size;
    EXPECT_EQ(loaded.error().code, Code::kCorrupt);
    EXPECT_TRUE(loaded.error().message.starts_with("plugin library '/lib/a.so' of the plan: library '/proc/self/fd/"))
        << loaded.error().message;
  }
}

TEST(PlanLibraries, NoneHaveNoCreators) {
  const auto none = PlanLibraries::load({}, {});
  ASSERT_TRUE(none);
  EXPECT_EQ((*none)->find({"Pad", "1", ""}), nullptr);
}

}  // namespace
}  // namespace kiln::plugin
