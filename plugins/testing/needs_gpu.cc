// Where KILN_DEVICE asks for a GPU that is not there, all tests of this program are skipped.
#include <gtest/gtest.h>

#include "api/run/devices.h"

namespace kiln::plugins::testing {
namespace {

class NeedsGpu final : public ::testing::Environment {
 public:
  void SetUp() override {
    if (const auto kind = api::default_device_kind(); !kind) GTEST_SKIP() << kind.error().message;
  }
};
::testing::Environment* const needs_gpu = ::testing::AddGlobalTestEnvironment(new NeedsGpu);

}  // namespace
}  // namespace kiln::plugins::testing
