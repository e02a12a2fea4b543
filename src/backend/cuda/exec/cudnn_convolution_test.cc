// Graphs, engines and plans of cuDNN for a GPU that is described instead of present.
#include "backend/cuda/exec/cudnn_convolution.h"

#include <gtest/gtest.h>

#include <optional>
#include <string_view>

#include "backend/cuda/exec/cudnn_step.h"

namespace kiln::cuda {
namespace {

/// The properties that the library wants to know of a GPU: those of an H200.
constexpr std::string_view kH200 =
    R"({"maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],"regsPerBlock":65536,)"
    R"("multiProcessorCount":132,"warpSize":32,"maxSharedMemoryPerBlock":49152,"maxSharedMemoryPerBlockOptin":232448,)"
    R"("reservedSharedMemoryPerBlock":1024,"maxRegistersPerSM":65536,"maxCtasPerSM":32,"maxThreadsPerBlock":1024,)"
    R"("maxThreadsPerSM":2048,"pciDeviceId":6,"isTccDriver":0,"supportCoopLaunch":1,"totalGlobalMem":150109880320,)"
    R"("smClockRateKHz":1980000,"memClockRateKHz":3201000,"l2CacheSize":62914560,"cudaDeviceId":0,"deviceVer":900,)"
    R"("driverVer":13000,"deviceName":"NVIDIA H200"})";

Result<CudnnObject> described_gpu(const Cudnn& library) {
  CudnnObject device = TRY(CudnnObject::make(library, kCudnnDeviceProperties));
  TRY(device.set(kDeviceJson, kCudnnChar, std::ssize(kH200), kH200.data()));
  TRY(device.finalize());
  return device;
}

/// A layer with an epilogue; what it makes follows from the rest.
CudnnConvolutionSpec layer(DType type, const Extents& x, const Extents& w, int64_t stride, bool residual) {
  const size_t axes = x.size() - 2;
  steps::Window window{Extents(w.begin() + 2, w.end()), Extents(axes, stride), Extents(axes, 1), {}};
  Extents y{x[0], w[0]};
  for (size_t i = 0; i < axes; ++i) {
    window.pads.push_back(w[2 + i] / 2);
    y.push_back((x[2 + i] + w[2 + i] / 2 * 2 - w[2 + i]) / stride + 1);
  }
  const steps::Epilogue epilogue{.bias = type, .residual = residual ? std::optional(type) : std::nullopt, .lo = 0};
  return with_extents(cudnn_convolution(ContractionTypes::all(type), epilogue, /*tf32=*/false), window, x, w, y);
}

class CudnnConvolutions : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto instance = Cudnn::instance();
    if (!instance) GTEST_SKIP() << instance.error().message;
    library_ = &instance->get();
    auto device = described_gpu(*library_);
    if (!device) GTEST_SKIP() << device.error().message;
    device_.emplace(std::move(*device));
  }

  /// The library has an engine, and a plan of its first one is made from what a plan would say.
  void expect_plan(const CudnnConvolutionSpec& spec, const std::string& name) const {
    const CudnnTarget target{*library_, nullptr, &*device_};
    const auto graph = CudnnGraph::make(target, spec);
    ASSERT_TRUE(graph) << name << ": " << graph.error().message;
    std::vector<CudnnChoice> choices;
    for (const CudnnHeuristic mode : {kCudnnModeA, kCudnnModeFallback}) {
      const auto asked = graph->ask(target, spec, mode);
      ASSERT_TRUE(asked) << name << ": " << asked.error().message;
      choices.insert(choices.end(), asked->begin(), asked->end());
    }
    ASSERT_FALSE(choices.empty()) << name;
    const auto again = from_record<CudnnChoice>(to_record(choices[0]));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_TRUE(again->same_as(choices[0])) << name;
    const auto plan = CudnnPlan::make(target, spec, *again);
    ASSERT_TRUE(plan) << name << ", " << choices[0].name() << ": " << plan.error().message;
    EXPECT_GE((*plan)->workspace_bytes, 0) << name;
  }

  const Cudnn* library_ = nullptr;
  std::optional<CudnnObject> device_;
};

TEST(CudnnTuning, HoldsTheEngine) {
  CudnnTuning tuning{true, {.engine = 38, .knobs = {2, 13}, .values = {130, 64}}, 90'100};
  const auto again = from_record<CudnnTuning>(to_record(tuning));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->tf32 && again->choice.same_as(tuning.choice) && again->version == tuning.version);
  tuning.choice.values.pop_back();
  EXPECT_FALSE(from_record<CudnnTuning>(to_record(tuning)));
}

TEST_F(CudnnConvolutions, ArePlannedInEveryType) {
  for (const DType type : {DType::kF16, DType::kBF16, DType::kF32})
    for (const bool residual : {false, true})
      expect_plan(layer(type, {1, 256, 14, 14}, {256, 256, 3, 3}, 1, residual),
                  str(type, residual ? " with a residual" : ""));
}

TEST_F(CudnnConvolutions, ArePlannedInManyForms) {
  expect_plan(layer(DType::kF16, {8, 4, 224, 224}, {64, 4, 7, 7}, 2, false), "first layer");
  expect_plan(layer(DType::kF16, {8, 256, 56, 56}, {512, 256, 1, 1}, 2, false), "1x1 strided");
  expect_plan(layer(DType::kF16, {1, 64, 30, 30}, {64, 16, 3, 3}, 1, false), "grouped");
  expect_plan(layer(DType::kF16, {1, 64, 30, 30}, {64, 1, 3, 3}, 1, false), "depthwise");
  expect_plan(layer(DType::kF16, {2, 16, 40}, {32, 16, 5}, 2, false), "one axis");
  expect_plan(layer(DType::kF16, {1, 8, 8, 8, 8}, {16, 8, 3, 3, 3}, 1, false), "three axes");
}

TEST_F(CudnnConvolutions, RefuseAnEngineThatIsNotThere) {
  const CudnnTarget target{*library_, nullptr, &*device_};
  const CudnnConvolutionSpec spec = layer(DType::kF16, {1, 256, 14, 14}, {256, 256, 3, 3}, 1, false);
  EXPECT_FALSE(CudnnPlan::make(target, spec, {.engine = 100000}));
}

}  // namespace
}  // namespace kiln::cuda
