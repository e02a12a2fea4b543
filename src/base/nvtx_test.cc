#include "base/nvtx.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace kiln::nvtx {
namespace {

/// A tool as NVTX's own headers have it, with numbers of its own.
struct ExportTable {
  size_t size_bytes;
  int (*module_functions)(int module, void (****table)(), unsigned* size);
};
std::vector<std::string> ranges;
int push(const char* name) { return ranges.emplace_back(name), static_cast<int>(ranges.size()); }
int pop() { return ranges.emplace_back("pop"), 0; }

int attach_ranges(const void* (*export_table)(uint32_t)) {
  const auto* table = static_cast<const ExportTable*>(export_table(1));
  EXPECT_EQ(table->size_bytes, sizeof(ExportTable));
  EXPECT_EQ(export_table(2), nullptr);
  void (***functions)() = nullptr;
  unsigned count = 0;
  EXPECT_EQ(table->module_functions(2, &functions, &count), 0);  // CUDA's names
  EXPECT_EQ(table->module_functions(5, &functions, &count), 1);  // domains
  EXPECT_EQ(table->module_functions(1, &functions, &count), 1);
  EXPECT_EQ(count, 16u);
  EXPECT_EQ(functions[0], nullptr);
  *functions[9] = reinterpret_cast<void (*)()>(&push);
  *functions[11] = reinterpret_cast<void (*)()>(&pop);
  return 1;
}

TEST(Nvtx, AToolSetsItsFunctions) {
  const Tool tool = attach(&attach_ranges);
  ASSERT_TRUE(tool.push && tool.pop);
  tool.push("a range");
  tool.pop();
  EXPECT_EQ(ranges, (std::vector<std::string>{"a range", "pop"}));
}

TEST(Nvtx, AToolMayRefuse) {
  EXPECT_EQ(attach([](const void* (*)(uint32_t)) { return 0; }).push, nullptr);
}

TEST(Nvtx, WithoutAToolNamesAreNotMade) {
  if (std::getenv("NVTX_INJECTION64_PATH")) GTEST_SKIP() << "a tool is attached";
  const Range range(true, [] {
    ADD_FAILURE() << "nobody asked";
    return "";
  });
  EXPECT_EQ(tool().push, nullptr);
}

}  // namespace
}  // namespace kiln::nvtx
