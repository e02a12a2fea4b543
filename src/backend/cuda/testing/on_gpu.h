/// A suite of tests that need a GPU: one device for all of them, or skipped with the reason.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "backend/cuda/testing/net.h"
#include "ir/interpret.h"

namespace kiln::cuda {

class OnGpu : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto made = make_gpu();
    if (made)
      gpu_ = std::move(*made);
    else
      why_ = made.error().message;
  }
  static void TearDownTestSuite() { gpu_.reset(); }
  void SetUp() override {
    if (!gpu_) GTEST_SKIP() << why_;
  }
  /// Every variant of a tactic makes of a network what the references of its ops make of it, but for `tolerance` of the
  /// largest element; there is one at least. How many ran.
  static int expect_agreement(const std::string& name, const Net& net, const Tactic& tactic, double tolerance,
                              const VariantRun& options = {}) {
    const auto expected = ir::interpret(net.graph, net.inputs);
    EXPECT_TRUE(expected) << name << ": " << expected.error().message;
    if (!expected) return 0;
    const auto ran = run_variants(*gpu_, net.graph, tactic, net.inputs, options);
    EXPECT_TRUE(ran) << name << ": " << ran.error().message;
    if (!ran) return 0;
    EXPECT_FALSE(ran->empty()) << name;
    for (const RanVariant& variant : *ran) {
      EXPECT_EQ(variant.failure, "") << name << ", " << variant.name;
      if (!variant.failure.empty()) continue;
      EXPECT_LE(relative_error(variant.result, (*expected)[0]), tolerance) << name << ", " << variant.name;
    }
    return static_cast<int>(ran->size());
  }

  static inline std::unique_ptr<CudaDevice> gpu_;
  static inline std::string why_;
};

}  // namespace kiln::cuda
