// Every case's code for a GPU, on a machine without one: a stand-in for the driver has the devices, NVRTC is real.
// Steps compile, load, bind and launch; what kernels compute is for tests on a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "backend/cuda/device/nvrtc.h"
#include "backend/cuda/device/testing/fake_driver.h"
#include "backend/cuda/exec/executor.h"
#include "backend/cuda/tactics/backend.h"
#include "built_case.h"
#include "device_run.h"

namespace kiln {
namespace {

/// A backend for a GPU of a compute capability.
struct FakeGpu {
  std::unique_ptr<cuda::CudaDevice> device;
  std::unique_ptr<cuda::CudaBackend> backend;

  FakeGpu(int major, int minor) {
    const cuda::Driver& driver = cuda::fake_driver();
    cuda::fake_cuda_control().reset();
    cuda::fake_cuda_control().set_devices(1, major, minor);
    device = cuda::CudaDevice::create(0, driver).value();
    device->set_executor(std::make_unique<cuda::CudaExecutor>(*device));
    backend = std::make_unique<cuda::CudaBackend>(*device);
  }
};

/// Cases that no kernel takes yet, with what refuses them said by the tactics.
const std::set<std::string> kOnTheHost{"Gather: batch broadcast",
                                       "Normalization: group, scale a group",
                                       "Normalization: outermost",
                                       "Resize: bicubic by scales of the run",
                                       "Resize: bilinear crop",
                                       "Resize: nearest crop of bytes"};

struct Capability {
  int major, minor;
};
class CudaCode : public testing::TestWithParam<Capability> {};

TEST_P(CudaCode, OfEveryCaseLoadsAndLaunches) {
  if (const auto nvrtc = cuda::Nvrtc::instance(); !nvrtc) GTEST_SKIP() << nvrtc.error().message;
  FakeGpu gpu(GetParam().major, GetParam().minor);
  const BuildRequest request{.numerics = {.tf32 = false}, .optimization_level = 0};
  std::map<std::string, int> ran;
  std::set<std::string> fallen_back;
  for (const Case& c : all_cases()) {
    SCOPED_TRACE(c.name);
    const auto built = build_case(c);
    ASSERT_TRUE(built) << built.error().message;
    const auto run = run_on(*gpu.backend, built->graph, built->network_inputs, request);
    EXPECT_TRUE(run) << c.name << ": " << run.error().message;
    if (!run) continue;
    for (const std::string& tactic : run->tactics) ++ran[tactic];
    if (std::ranges::count(run->tactics, "reference")) fallen_back.insert(c.name);
  }
  for (const auto& [tactic, count] : ran) std::cout << "tactic " << tactic << ": " << count << " steps\n";
  EXPECT_EQ(fallen_back, kOnTheHost);
}
INSTANTIATE_TEST_SUITE_P(Gpus, CudaCode, testing::Values(Capability{8, 0}, Capability{9, 0}, Capability{10, 0}),
                         [](const auto& info) {
                           return "sm_" + std::to_string(10 * info.param.major + info.param.minor);
                         });

}  // namespace
}  // namespace kiln
