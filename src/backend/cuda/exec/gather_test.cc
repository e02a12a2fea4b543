// A gather's step over the stand-in for the driver: what becomes of an index that is outside.
#include "steps/gather.h"

#include <gtest/gtest.h>

#include "backend/cuda/device/testing/fake_driver.h"
#include "backend/cuda/exec/executor.h"

namespace kiln::cuda {
namespace {

int64_t stored = 0;  // by the kernel, where it is told to

void gather_kernel(const LaunchConfig&, void** arguments) { **static_cast<int64_t**>(arguments[1]) = stored; }

TEST(GatherStep, TellsOfAnIndexThatIsOutside) {
  const auto device = make_fake_device();
  device->set_executor(std::make_unique<CudaExecutor>(*device));
  fake_cuda_control().define_kernel("gather_4", &gather_kernel, 2);
  static constexpr std::string_view kImage("FAKE gather_4\0", 14);
  StepSpec spec;
  spec.step = steps::Gather{};
  spec.inputs = {{DType::kF32, {}, 1}, {DType::kI32, {}, 1}};
  spec.outputs = {{DType::kF32, {}, 1}};
  spec.binary = std::as_bytes(std::span(kImage));
  const HostTensor* const constants[2] = {};
  const auto loaded = device->executor("cuda")->get().load(spec, constants);
  ASSERT_TRUE(loaded) << loaded.error().message;
  const Extents inputs[] = {{5}, {3}}, outputs[] = {{3}};
  auto bound = (*loaded)->bind({inputs, outputs, {}});
  ASSERT_TRUE(bound) << bound.error().message;
  EXPECT_TRUE((*bound)->has_check());
  const auto stream = *device->create_stream();
  const Buffer data = *device->allocate(20), indices = *device->allocate(12), y = *device->allocate(12);
  const void* const from[] = {data.data(), indices.data()};
  void* const to[] = {y.data()};
  const auto run = [&](int64_t word) {
    stored = word;
    ASSERT_TRUE((*bound)->run({from, to, nullptr, stream.get()}));
  };
  run(0);
  EXPECT_TRUE((*bound)->check());
  run(-6 * 2 + 1);
  const Status outside = (*bound)->check();
  ASSERT_FALSE(outside);
  EXPECT_EQ(outside.error().message, "index -6 is outside the data, whose extents are [5]; what it picked are zeros");
  EXPECT_TRUE((*bound)->check());  // told once
}

}  // namespace
}  // namespace kiln::cuda
