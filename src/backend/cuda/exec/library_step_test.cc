// What steps of NVIDIA's libraries make of extents; no GPU and no library is needed.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "backend/cuda/device/testing/fake_driver.h"
#include "backend/cuda/exec/cublaslt_product.h"
#include "backend/cuda/exec/cudnn_step.h"
#include "backend/cuda/exec/executor.h"

namespace kiln::cuda {
namespace {

constexpr LtTypes kHalves{DType::kF16, DType::kF16, false, false};

TEST(LtStep, MatricesThatShareBAreOne) {
  const Extents inputs[] = {{2, 3, 20, 64}, {1, 1, 64, 48}};
  const LtProduct p = *LtStep{}.product(kHalves, inputs, {2, 3, 20, 48});
  EXPECT_EQ(p.m, 120);
  EXPECT_EQ(p.n, 48);
  EXPECT_EQ(p.k, 64);
  EXPECT_EQ(p.batches, 1);
}

TEST(LtStep, BatchesHaveSteps) {
  const Extents both[] = {{2, 3, 64, 20}, {2, 3, 48, 64}};
  const LtProduct p = *LtStep{.transpose_a = true, .transpose_b = true}.product(kHalves, both, {2, 3, 20, 48});
  EXPECT_EQ(p.m, 20);
  EXPECT_EQ(p.k, 64);
  EXPECT_EQ(p.batches, 6);
  EXPECT_EQ(p.a_step, 1280);
  EXPECT_EQ(p.b_step, 3072);
  EXPECT_EQ(p.y_step, 960);
  const Extents shared_a[] = {{1, 20, 64}, {5, 64, 48}};
  EXPECT_EQ(LtStep{}.product(kHalves, shared_a, {5, 20, 48})->a_step, 0);
  // A transposed a is not one taller matrix.
  const Extents shared_b[] = {{3, 64, 20}, {1, 64, 48}};
  const LtProduct q = *LtStep{.transpose_a = true}.product(kHalves, shared_b, {3, 20, 48});
  EXPECT_EQ(q.batches, 3);
  EXPECT_EQ(q.b_step, 0);
}

TEST(LtStep, SaysWhatIsNoProduct) {
  const Extents crossed[] = {{2, 1, 9, 17}, {1, 3, 17, 11}};
  EXPECT_FALSE(LtStep{}.product(kHalves, crossed, {2, 3, 9, 11}));
  const Extents no_terms[] = {{4, 0}, {0, 5}};
  EXPECT_FALSE(LtStep{}.product(kHalves, no_terms, {4, 5}));
  const Extents vector[] = {{4}, {4, 5}};
  EXPECT_FALSE(LtStep{}.product(kHalves, vector, {5}));
}

TEST(LtStep, PointsAreRows) {
  const Extents inputs[] = {{2, 64, 7, 5}, {256, 64, 1, 1}};
  const LtProduct p = *LtStep{.point = true}.product(kHalves, inputs, {2, 256, 7, 5});
  EXPECT_EQ(p.m, 70);
  EXPECT_EQ(p.n, 256);
  EXPECT_EQ(p.k, 64);
  EXPECT_TRUE(p.transpose_b);
}

TEST(LtStep, IsItsRecord) {
  const LtStep step{.transpose_b = true, .tf32 = true, .relu = true};
  EXPECT_EQ(LtStep::parse(step.record())->record(), step.record());
  EXPECT_FALSE(LtStep::parse({}));
}

CudnnStep window(const Extents& kernel, int64_t stride, int64_t pad) {
  return {{kernel, Extents(kernel.size(), stride), Extents(kernel.size(), 1), Extents(kernel.size(), pad)}};
}

TEST(CudnnStep, PadsBehindAsBefore) {
  const CudnnTypes types{DType::kF16, DType::kF16, true, false};
  const CudnnConvolutionSpec s = window({7, 7}, 2, 3).spec(types, {1, 3, 224, 224}, {64, 3, 7, 7}, {1, 64, 112, 112});
  EXPECT_EQ(s.pre_pads, Extents({3, 3}));
  EXPECT_EQ(s.post_pads, Extents({3, 3}));
  // One row more in front than behind.
  const CudnnConvolutionSpec t = window({2, 2}, 1, 1).spec(types, {1, 3, 8, 8}, {4, 3, 2, 2}, {1, 4, 8, 8});
  EXPECT_EQ(t.post_pads, Extents({0, 0}));
}

TEST(CudnnStep, OneAxisIsTheSecondOfTwo) {
  const CudnnConvolutionSpec s =
      window({5}, 2, 2).spec({DType::kF16, DType::kF16, false, false}, {2, 16, 40}, {32, 16, 5}, {2, 32, 20});
  EXPECT_EQ(s.x, Extents({2, 16, 1, 40}));
  EXPECT_EQ(s.w, Extents({32, 16, 1, 5}));
  EXPECT_EQ(s.strides, Extents({1, 2}));
  EXPECT_EQ(s.pre_pads, Extents({0, 2}));
  EXPECT_EQ(s.post_pads, Extents({0, 2}));
}

/// Loads a step of a plan on a machine without these libraries, prints the error and ends the process.
[[noreturn]] void load_without_libraries(const char* kernel) {
  setenv("KILN_CUBLASLT", "/no/such/libcublasLt.so", 1);
  setenv("KILN_CUDNN", "/no/such/libcudnn.so", 1);
  const auto device = make_fake_device();
  device->set_executor(std::make_unique<CudaExecutor>(*device));
  StepSpec spec;
  spec.kernel = kernel;
  spec.inputs = {{DType::kF16, {}, 4}, {DType::kF16, {}, 4}, {.present = false}, {.present = false}};
  spec.outputs = {{DType::kF16, {}, 4}};
  const HostTensor w = HostTensor::of(DType::kF16, {1, 1, 1, 1}, std::vector<double>{1});
  const HostTensor* const constants[] = {nullptr, &w, nullptr, nullptr};
  const auto loaded = device->executor("cuda")->get().load(spec, constants);
  std::fputs(loaded ? "it is there" : loaded.error().message.c_str(), stderr);
  std::_Exit(0);
}

TEST(LibrarySteps, NameTheLibraryThatIsMissing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in processes of their own, which look for libraries anew
  EXPECT_EXIT(load_without_libraries("cublaslt"), testing::ExitedWithCode(0),
              "the plan needs cuBLASLt: cuBLASLt was not found \\(.*/no/such/libcublasLt.so.*install it");
  EXPECT_EXIT(load_without_libraries("cudnn"), testing::ExitedWithCode(0),
              "the plan needs cuDNN: cuDNN 9 was not found \\(.*/no/such/libcudnn.so.*install it");
}

}  // namespace
}  // namespace kiln::cuda
