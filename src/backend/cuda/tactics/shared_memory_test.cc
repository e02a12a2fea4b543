// Tactics under a build's limit of shared memory, on a stand-in for a GPU.
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "backend/cuda/device/testing/fake_driver.h"
#include "backend/cuda/tactics/backend.h"
#include "backend/cuda/tactics/registry.h"
#include "backend/cuda/testing/net.h"
#include "ops/matrix_multiply.h"

namespace kiln::cuda {
namespace {

class SharedMemory : public ::testing::Test {
 protected:
  SharedMemory() {
    fake_cuda_control().reset();
    fake_cuda_control().set_devices(1, 9, 0);
    device = CudaDevice::create(0, fake_driver()).value();
    const Extents square{1024, 1024};
    product = net.add(ops::MatrixMultiply{}, {net.input(square), net.constant(square)});
    net.finish(product);
  }
  /// The names of the variants of all tactics of the product; `rejected` takes the reasons of those that refuse it.
  std::set<std::string> variants(int64_t limit) {
    std::set<std::string> names;
    rejected.clear();
    const Numerics numerics{.most_shared_bytes = limit};
    const TacticContext cx{net.graph, numerics, *device, 5};
    for (const Tactic* tactic : tactics_for(op_info<ops::MatrixMultiply>())) {
      const Match region = tactic->match(cx, net.graph.value(product).producer);
      if (!region) {
        rejected += str(tactic->name(), ": ", region.error().reason, "\n");
        continue;
      }
      for (const Variant& variant : tactic->variants(cx, *region)) names.insert(variant.name);
    }
    return names;
  }

  std::unique_ptr<CudaDevice> device;
  Net net{DType::kF16, Net::Inputs::kNone};
  ir::ValueId product = ir::ValueId::kNone;
  std::string rejected;
};

TEST_F(SharedMemory, LimitsWhatIsOffered) {
  const int64_t most = device->properties().shared_bytes_per_block;
  ASSERT_GT(most, int64_t{48} << 10);
  const auto all = variants(std::numeric_limits<int64_t>::max());
  EXPECT_EQ(variants(most), all) << "what the device has is no limit";
  EXPECT_EQ(rejected.find("limits shared memory"), std::string::npos) << rejected;
  const auto few = variants(int64_t{48} << 10);
  EXPECT_NE(few, all);
  EXPECT_FALSE(few.empty());
  EXPECT_NE(rejected.find("cublaslt: the build limits shared memory, and cuBLASLt's kernels take what they need"),
            std::string::npos)
      << rejected;
}

}  // namespace
}  // namespace kiln::cuda
