// Tests of extents in steps of NVIDIA's libraries; no GPU and no library is needed.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "backend/cuda/device/testing/fake_driver.h"
#include "backend/cuda/exec/convolution.h"
#include "backend/cuda/exec/cublaslt.h"
#include "backend/cuda/exec/executor.h"
#include "backend/cuda/exec/library_inputs.h"
#include "backend/cuda/exec/matrix_multiply.h"
#include "steps/matrix_multiply.h"
#include "tensor/view.h"

namespace kiln::cuda {
namespace {

using ops::MatrixMultiply;
using ops::MatrixOp;

TEST(LtProduct, MatricesThatShareBAreOne) {
  const LtProduct p = *product_of_matrices({}, {}, {2, 3, 20, 64}, {1, 1, 64, 48});
  EXPECT_EQ(p.m, 120);
  EXPECT_EQ(p.n, 48);
  EXPECT_EQ(p.k, 64);
  EXPECT_EQ(p.batches, 1);
}

TEST(LtProduct, BatchesHaveSteps) {
  const MatrixMultiply both{MatrixOp::kTranspose, MatrixOp::kTranspose}, left{MatrixOp::kTranspose, MatrixOp::kNone};
  const LtProduct p = *product_of_matrices({}, both, {2, 3, 64, 20}, {2, 3, 48, 64});
  EXPECT_EQ(p.m, 20);
  EXPECT_EQ(p.k, 64);
  EXPECT_EQ(p.batches, 6);
  EXPECT_EQ(p.a_step, 1280);
  EXPECT_EQ(p.b_step, 3072);
  EXPECT_EQ(p.y_step, 960);
  EXPECT_EQ(product_of_matrices({}, {}, {1, 20, 64}, {5, 64, 48})->a_step, 0);
  // A transposed a is not one taller matrix.
  const LtProduct q = *product_of_matrices({}, left, {3, 64, 20}, {1, 64, 48});
  EXPECT_EQ(q.batches, 3);
  EXPECT_EQ(q.b_step, 0);
}

TEST(LtProduct, SaysWhatIsNoProduct) {
  EXPECT_FALSE(product_of_matrices({}, {}, {2, 1, 9, 17}, {1, 3, 17, 11}));
  EXPECT_FALSE(product_of_matrices({}, {}, {4, 0}, {0, 5}));
  EXPECT_FALSE(product_of_matrices({}, {MatrixOp::kVector, MatrixOp::kNone}, {4}, {4, 5}));
}

TEST(LtProduct, PointsAreRows) {
  const LtProduct p = *product_of_points({}, {256, 64, 1, 1}, {2, 256, 7, 5});
  EXPECT_EQ(p.m, 70);
  EXPECT_EQ(p.n, 256);
  EXPECT_EQ(p.k, 64);
  EXPECT_TRUE(p.transpose_b);
}

TEST(LtProduct, HasWhatTheLibraryHas) {
  StepTypes types;
  types.inputs.assign(4, {.dtype = DType::kF16, .rank = 2});
  types.outputs.assign(1, {.dtype = DType::kF32, .rank = 2});
  const steps::Epilogue relu{.bias = DType::kF16, .lo = 0};
  EXPECT_TRUE(check_library(types, relu));
  const LtProduct p = library_product({.a = DType::kF16, .b = DType::kF16}, relu, true);
  EXPECT_TRUE(p.bias && p.relu && p.tf32 && !p.residual);
  EXPECT_FALSE(check_library(types, {.lo = 1}));
  EXPECT_FALSE(check_library(types, {.hi = 6}));
  EXPECT_FALSE(check_library(types, {.hook = steps::Hook{}}));
  types.inputs[1].dtype = DType::kF32;
  EXPECT_FALSE(check_library(types, {}));
}

constexpr DType kI8 = DType::kI8, kF8 = DType::kF8E4M3, kF16 = DType::kF16, kF32 = DType::kF32;

TEST(LtBytes, ScalesOfBytesHoldTheirResults) {
  const HostTensor x = HostTensor::of(kF32, {1}, std::vector{0.5}),
                   w = HostTensor::of(kF32, {1, 2}, std::vector{2.0, 4.0}),
                   y = HostTensor::of(kF32, {1}, std::vector{0.25}),
                   bias = HostTensor::of(kF16, {2}, std::vector{1.0, -3.0});
  const LtByteConstants constants{.x_scale = &x, .w_scale = &w, .y_scale = &y, .bias = &bias};
  const steps::Epilogue relu{.bias = kF16, .lo = 0};
  const auto made = library_bytes({kI8, kI8, kF32, kI8}, relu, constants);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->scales, (std::vector<float>{4, 8}));
  EXPECT_EQ(made->bias->dtype(), kF32);
  EXPECT_EQ(View(*made->bias).numbers(), (std::vector<double>{4, -12}));
  const auto halves = library_bytes({kF8, kF8, kF32, kF16}, relu, {.x_scale = &x, .w_scale = &w, .bias = &bias});
  ASSERT_TRUE(halves) << halves.error().message;
  EXPECT_EQ(halves->scales, (std::vector<float>{1, 2}));
  EXPECT_EQ(View(*halves->bias).numbers(), (std::vector<double>{1, -3}));
  EXPECT_EQ(library_bytes({kF8, kF8, kF32, kF8}, relu, constants)->bias->dtype(), kF16);
}
TEST(LtBytes, RefusesWhatTheLibraryLacks) {
  const HostTensor one = HostTensor::of(kF32, {1}, std::vector{1.0}),
                   large = HostTensor::of(kF32, {1}, std::vector{7e4}),
                   pair = HostTensor::of(kF32, {2}, std::vector{1.0, 2.0});
  const LtByteConstants good{.x_scale = &one, .w_scale = &one, .y_scale = &one, .bias = &one};
  const ContractionTypes integers{kI8, kI8, kF32, kI8}, fp8{kF8, kF8, kF32, kF8};
  const auto with = [&](auto change) {
    LtByteConstants changed = good;
    change(changed);
    return library_bytes(integers, {.bias = kF32}, changed);
  };
  EXPECT_TRUE(library_bytes(integers, {.bias = kF32}, good));
  EXPECT_FALSE(with([](LtByteConstants& c) { c.has_zero = true; }));
  EXPECT_FALSE(with([](LtByteConstants& c) { c.x_scale = nullptr; }));
  EXPECT_FALSE(with([](LtByteConstants& c) { c.y_scale = nullptr; }));
  EXPECT_FALSE(with([](LtByteConstants& c) { c.bias = nullptr; }));
  EXPECT_FALSE(with([&](LtByteConstants& c) { c.x_scale = &pair; }));
  EXPECT_FALSE(library_bytes({kI8, kI8, kF32, kF16}, {}, good)) << "sums of integers become bytes alone";
  EXPECT_FALSE(library_bytes({DType::kU8, kI8, kF32, DType::kU8}, {}, good));
  EXPECT_FALSE(library_bytes({kF8, kF8, kF32, kF32}, {.bias = kF32}, good)) << "its bias would be BF16";
  EXPECT_TRUE(library_bytes({kF8, kF8, kF32, kF32}, {}, good));
  EXPECT_FALSE(library_bytes(integers, {.residual = kF32}, good));
  EXPECT_FALSE(library_bytes(integers, {.hi = 6}, good));
  LtByteConstants overflows = good;
  overflows.bias = &large;
  EXPECT_FALSE(library_bytes(fp8, {.bias = kF32}, overflows)) << "no room in f16";
  EXPECT_TRUE(library_bytes(integers, {.bias = kF32}, overflows));
}

TEST(LtTuning, HasAnAlgorithmOfTheirs) {
  LtTuning tuning{.algorithm = Bytes(sizeof(LtAlgo)), .version = 130'100};
  EXPECT_TRUE(from_record<LtTuning>(to_record(tuning)));
  tuning.algorithm.pop_back();
  EXPECT_FALSE(from_record<LtTuning>(to_record(tuning)));
}

CudnnConvolutionSpec by_window(const Extents& kernel, int64_t stride, int64_t pad, const Extents& x, const Extents& w,
                               const Extents& y) {
  const size_t axes = kernel.size();
  return with_extents(cudnn_convolution(ContractionTypes::all(DType::kF16), {}, false),
                      {kernel, Extents(axes, stride), Extents(axes, 1), Extents(axes, pad)}, x, w, y);
}

TEST(CudnnConvolution, HasItsEpilogue) {
  const CudnnConvolutionSpec s =
      cudnn_convolution({.a = DType::kF16, .b = DType::kF16}, {.bias = DType::kF16, .lo = 0}, /*tf32=*/true);
  EXPECT_TRUE(s.bias && s.relu && s.tf32 && !s.residual);
}

TEST(CudnnConvolution, PadsBehindAsBefore) {
  const CudnnConvolutionSpec s = by_window({7, 7}, 2, 3, {1, 3, 224, 224}, {64, 3, 7, 7}, {1, 64, 112, 112});
  EXPECT_EQ(s.pre_pads, Extents({3, 3}));
  EXPECT_EQ(s.post_pads, Extents({3, 3}));
  // One row more in front than behind.
  const CudnnConvolutionSpec t = by_window({2, 2}, 1, 1, {1, 3, 8, 8}, {4, 3, 2, 2}, {1, 4, 8, 8});
  EXPECT_EQ(t.post_pads, Extents({0, 0}));
}

TEST(CudnnConvolution, OneAxisIsTheSecondOfTwo) {
  const CudnnConvolutionSpec s = by_window({5}, 2, 2, {2, 16, 40}, {32, 16, 5}, {2, 32, 20});
  EXPECT_EQ(s.x, Extents({2, 16, 1, 40}));
  EXPECT_EQ(s.w, Extents({32, 16, 1, 5}));
  EXPECT_EQ(s.strides, Extents({1, 2}));
  EXPECT_EQ(s.pre_pads, Extents({0, 2}));
  EXPECT_EQ(s.post_pads, Extents({0, 2}));
}

/// Loads a step of a plan on a machine without these libraries, prints the error and ends the process.
[[noreturn]] void load_without_libraries(const AnyStep& step, const Record& tuning) {
  setenv("KILN_CUBLASLT", "/no/such/libcublasLt.so", 1);
  setenv("KILN_CUDNN", "/no/such/libcudnn.so", 1);
  const auto device = make_fake_device();
  device->set_executor(std::make_unique<CudaExecutor>(*device));
  StepSpec spec;
  spec.step = step, spec.tuning = tuning;
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
  const Record by_cublaslt = to_record(ProductTuning{.cublaslt = LtTuning{.algorithm = Bytes(sizeof(LtAlgo))}});
  EXPECT_EXIT(load_without_libraries(steps::MatrixMultiply{}, by_cublaslt), ::testing::ExitedWithCode(0),
              "the plan needs cuBLASLt: cuBLASLt was not found \\(.*/no/such/libcublasLt.so.*install it");
  const steps::Convolution squares{.window = {{1, 1}, {1, 1}, {1, 1}, {0, 0}}};
  EXPECT_EXIT(load_without_libraries(squares, to_record(ConvolutionTuning{.cudnn = CudnnTuning()})),
              ::testing::ExitedWithCode(0),
              "the plan needs cuDNN: cuDNN 9 was not found \\(.*/no/such/libcudnn.so.*install it");
}

}  // namespace
}  // namespace kiln::cuda
