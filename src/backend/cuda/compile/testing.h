/// For tests of kernel families on a machine without a GPU: every kernel compiles for every architecture.
#pragma once

#include <gtest/gtest.h>

#include <span>

#include "backend/cuda/compile/compiler.h"

namespace kiln::cuda {

/// Architectures that CI compiles for.
inline constexpr const char* kTestedArchitectures[] = {"sm_80", "sm_90a", "sm_100a"};

/// The tested architectures whose tensor cores have FP8.
inline constexpr const char* kArchitecturesOfFp8[] = {"sm_90a", "sm_100a"};

/// Compiles a kernel for all of them; skips the test where NVRTC is missing.
inline void expect_compiles(const KernelSource& source, std::span<const char* const> for_all = kTestedArchitectures) {
  for (const char* arch : for_all) {
    Compiler compiler(arch, "");
    const auto cubin = compiler.compile(source);
    if (!cubin && cubin.error().code == Code::kNotFound) GTEST_SKIP() << cubin.error().message;
    ASSERT_TRUE(cubin) << arch << ": " << cubin.error().message << '\n' << source.prelude;
    EXPECT_GT((*cubin)->size(), 1000u);
  }
}

}  // namespace kiln::cuda
