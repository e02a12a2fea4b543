/// The collection's networks over the stand-in driver: every allocation of device memory fails in turn, in a build, in
/// loading and in an enqueue. Each failure is an error with words or a build that goes on without a tactic; nothing is
/// left, and the process works afterwards. Needs KILN_MODELS_DIR and NVRTC.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "backend/cuda/device/testing/fake_cuda.h"
#include "base/function_ref.h"
#include "models/data_sets.h"
#include "support/session.h"

namespace kiln::conformance {
namespace {

const fake_cuda::Control& control() {
  static const fake_cuda::Control& found = *[] {
    void* library = dlopen(std::getenv("KILN_CUDA_DRIVER"), RTLD_NOW);
    return reinterpret_cast<const fake_cuda::Control* (*)()>(dlsym(library, "kiln_fake_cuda"))();
  }();
  return found;
}

constexpr const char* kAllocations[] = {"cuMemAlloc_v2", "cuMemAllocAsync", "cuMemHostAlloc"};

class FakeCudaModels : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const char* models = std::getenv("KILN_MODELS_DIR");
    if (!models) GTEST_SKIP() << "KILN_MODELS_DIR is not set";
    if (!std::getenv("KILN_CUDA_DRIVER")) GTEST_SKIP() << "KILN_CUDA_DRIVER does not name the stand-in";
    control().reset();
    folder_ = str(models, '/', GetParam());
    auto sets = read_data_sets(folder_);
    ASSERT_TRUE(sets) << sets.error().message;
    inputs_ = std::move((*sets)[0].inputs);
  }

  Result<PlanBytes> build() const {
    BuildOptions options{.optimization_level = 0, .fp16 = true};
    options.examples = inputs_;
    return build_plan(folder_ + "/model.onnx", options);
  }
  Status run(const PlanBytes& plan) const {
    const auto session = TRY(Session::load(plan));
    for (int i = 0; i < 3; ++i) TRY(session->run(inputs_));  // the third is recorded
    return {};
  }

  /// Call by call until one succeeds without its failure having come; how many there were.
  int fail_in_turn(const char* function, FunctionRef<Status()> work) const {
    for (int nth = 1;; ++nth) {
      control().reset();
      control().fail(function, nth, cuda::kOutOfDeviceMemory);
      const Status done = work();
      const bool came = control().num_calls(function) >= nth;
      EXPECT_EQ(control().live_bytes(), 0) << function << ' ' << nth;
      EXPECT_TRUE(done || !done.error().message.empty()) << function << ' ' << nth;
      EXPECT_TRUE(done || came) << done.error().message;
      if (!came || HasFailure()) return nth - 1;
    }
  }

  std::string folder_;
  std::vector<Tensor> inputs_;
};

TEST_P(FakeCudaModels, SurviveWantOfMemory) {
  const auto plan = build();
  ASSERT_TRUE(plan) << plan.error().message;
  const Status first = run(*plan);
  ASSERT_TRUE(first) << first.error().message;
  if (control().num_calls("cuLaunchKernelEx") == 0) GTEST_SKIP() << "no kernel was compiled; is NVRTC there?";
  int in_builds = 0, in_runs = 0, failed = 0;
  for (const char* function : kAllocations) {
    in_builds += fail_in_turn(function, [&]() -> Status {
      const auto built = build();
      return built ? Status{} : std::unexpected(built.error());
    });
    in_runs += fail_in_turn(function, [&] {
      Status done = run(*plan);
      failed += !done;
      return done;
    });
  }
  std::cout << GetParam() << ": " << in_builds << " allocations of a build and " << in_runs
            << " of loading and running failed in turn\n";
  EXPECT_GT(in_runs, 0);
  EXPECT_EQ(failed, in_runs);  // whoever asks for memory that it does not need?
  control().reset();
  const Status whole = run(*plan);
  EXPECT_TRUE(whole) << whole.error().message;
}
INSTANTIATE_TEST_SUITE_P(All, FakeCudaModels,
                         ::testing::Values("mnist", "squeezenet", "ultraface", "yolox-nano", "kws", "magika",
                                           "superres", "vittrack", "basic-pitch", "squeezenet-fp16"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace kiln::conformance
