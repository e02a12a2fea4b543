// A step of a scatter that reduces, over the stand-in for the driver: what it launches, and what becomes of an index
// that is outside.
#include "steps/scatter.h"

#include <gtest/gtest.h>

#include "backend/cuda/device/testing/fake_driver.h"
#include "backend/cuda/exec/executor.h"

namespace kiln::cuda {
namespace {

int64_t stored = 0;    // by the kernel that reads indices
std::string launched;  // the first letters of kernels

void copy_kernel(const LaunchConfig&, void**) { launched += 'c'; }
void sort_kernel(const LaunchConfig&, void** arguments) {
  launched += 's';
  **static_cast<int64_t**>(arguments[1]) = stored;
}
void reduce_kernel(const LaunchConfig&, void**) { launched += 'r'; }

TEST(ScatterStep, TellsOfAnIndexThatIsOutsideWhereItReduces) {
  const auto device = make_fake_device();
  device->set_executor(std::make_unique<CudaExecutor>(*device));
  fake_cuda_control().define_kernel("scatter_copy_4", &copy_kernel, 1);
  fake_cuda_control().define_kernel("scatter_sort", &sort_kernel, 2);
  fake_cuda_control().define_kernel("scatter_reduce", &reduce_kernel, 1);
  static constexpr std::string_view kImage("FAKE scatter_copy_4 scatter_sort scatter_reduce\0", 48);
  StepSpec spec;
  spec.step = steps::Scatter{.op = {.reduction = ScatterReduction::kSum}};
  spec.inputs = {{DType::kF32, {}, 1}, {DType::kI32, {}, 1}, {DType::kF32, {}, 1}};
  spec.outputs = {{DType::kF32, {}, 1}};
  spec.binary = std::as_bytes(std::span(kImage));
  const HostTensor* const constants[3] = {};
  const auto loaded = device->executor("cuda")->get().load(spec, constants);
  ASSERT_TRUE(loaded) << loaded.error().message;
  const Extents inputs[] = {{5}, {3}, {3}}, outputs[] = {{5}};
  auto bound = (*loaded)->bind({inputs, outputs, {}});
  ASSERT_TRUE(bound) << bound.error().message;
  EXPECT_TRUE((*bound)->has_check());
  const auto stream = *device->create_stream();
  const Buffer data = *device->allocate(20), indices = *device->allocate(12), updates = *device->allocate(12),
               y = *device->allocate(20), workspace = *device->allocate(64);
  const void* const from[] = {data.data(), indices.data(), updates.data()};
  const auto run = [&](void* to, int64_t word) {
    stored = word;
    launched.clear();
    void* const all[] = {to};
    ASSERT_TRUE((*bound)->run({from, all, static_cast<std::byte*>(workspace.data()), stream.get()}));
  };
  run(y.data(), 0);
  EXPECT_EQ(launched, "csr");
  EXPECT_TRUE((*bound)->check());
  run(data.data(), -6 * 2 + 1);
  EXPECT_EQ(launched, "sr") << "data is updated in place";
  const Status outside = (*bound)->check();
  ASSERT_FALSE(outside);
  EXPECT_EQ(outside.error().message, "index -6 is outside the data, whose extents are [5]; its update is left out");
  EXPECT_TRUE((*bound)->check());  // told once
}

}  // namespace
}  // namespace kiln::cuda
