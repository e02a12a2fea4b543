/// A suite of tests that need a GPU: one device for all of them, or skipped with the reason.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "backend/cuda/testing/variants.h"

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

  static inline std::unique_ptr<CudaDevice> gpu_;
  static inline std::string why_;
};

}  // namespace kiln::cuda
