#include "backend/cuda/device/memset_nodes.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "backend/cuda/device/cuda_stream.h"
#include "backend/cuda/device/shared_library.h"
#include "backend/cuda/device/testing/fake_driver.h"
#include "device/async.h"

namespace kiln::cuda {
namespace {

/// What the kernel does, one unit after another.
void set_units(const MemsetLaunch& launch) {
  const uint64_t words[] = {launch.word | launch.word << 32, launch.word | launch.word << 32};
  for (uint64_t row = 0; row < launch.height; ++row)
    for (uint64_t i = 0; i < launch.width; ++i)
      std::memcpy(reinterpret_cast<char*>(launch.to) + row * launch.pitch + i * launch.unit_bytes, words,
                  launch.unit_bytes);
}
/// For the stand-in.
void run_kernel(const LaunchConfig& config, void** arguments) {
  const auto value = [&](int i) { return *static_cast<uint64_t*>(arguments[i]); };
  EXPECT_EQ(config.block[0], MemsetLaunch::kThreads);
  set_units({value(0), value(1), value(2), value(3), value(4), value(5), {}});
}

using Bytes = std::vector<unsigned char>;
constexpr size_t kBytes = 4096;
constexpr MemsetNodeParams kNodes[] = {
    // to, pitch, value, bytes of an element, elements of a row, rows
    {0, 0, 0, 1, kBytes, 1},      {3, 0, 0x1ff, 1, 9, 1},         {2, 0, 0x1beef, 2, 7, 1},
    {4, 0, 0xdeadbeef, 4, 3, 1},  {16, 32, 0xdeadbeef, 4, 4, 5},  {8, 24, 0x1234, 2, 12, 6},
    {32, 64, 0x77, 1, 48, 7},     {5, 9, 0xab, 1, 7, 11},         {2, 0, 0x01020304, 4, 5, 1},
    {12, 50, 0x1234, 2, 17, 150}, {128, 16, 0x7f7f7f7f, 4, 4, 8},
};

Bytes counted() {
  Bytes bytes(2 * kBytes);
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
  return bytes;
}
/// `bytes` as the node leaves them, its address an offset.
void set_elements(Bytes& bytes, const MemsetNodeParams& node) {
  for (size_t row = 0; row < node.height; ++row)
    for (size_t i = 0; i < node.width; ++i)
      std::memcpy(bytes.data() + node.to + row * node.pitch + i * node.element_bytes, &node.value, node.element_bytes);
}

TEST(MemsetNodes, AreWrittenByUnits) {
  for (MemsetNodeParams node : kNodes) {
    Bytes expected = counted();
    alignas(16) unsigned char got[2 * kBytes];
    std::ranges::copy(expected, got);
    set_elements(expected, node);
    node.to += reinterpret_cast<DevicePointer>(got);
    const auto launch = memset_launch(node);
    ASSERT_EQ(launch.has_value(), node.to % node.element_bytes == 0);
    if (!launch) continue;  // the driver refuses it, too
    set_units(*launch);
    EXPECT_EQ(Bytes(std::begin(got), std::end(got)), expected) << node.width << " x " << node.height;
  }
  EXPECT_EQ(memset_launch({0, 0, 0, 4, kBytes, 1})->unit_bytes, 16u);
  EXPECT_EQ(memset_launch({0, 64, 0, 4, 16, 1000})->width, 4000u);  // rows without gaps are one
  for (const MemsetNodeParams& odd : {MemsetNodeParams{0, 0, 0, 8, 1, 1}, {0, 0, 0, 1, 0, 1}, {0, 0, 0, 1, 1, 0}})
    EXPECT_FALSE(memset_launch(odd));
}

/// A recording of a memset and a copy of all to a place of its own for each of the nodes: as they are on a stream, they
/// wait for each other.
class Sets {
 public:
  explicit Sets(CudaDevice& device) : device_(device) {
    const SharedLibrary library = *SharedLibrary::open({&device.driver().path, 1});
    EXPECT_TRUE(library.bind(set16_, "cuMemsetD2D16Async") && library.bind(set32_, "cuMemsetD2D32Async"));
    memory_ = *device.allocate(2 * kBytes), copies_ = *device.allocate(2 * kBytes * int64_t{std::size(kNodes)});
    stream_ = *device.create_stream();
  }
  StreamHandle stream() const { return static_cast<const CudaStream&>(*stream_).handle(); }
  static Status launch(void* self, Stream* stream) {
    return static_cast<Sets*>(self)->launch(static_cast<CudaStream*>(stream)->handle());
  }
  Status launch(StreamHandle stream) {
    const Driver& driver = device_.driver();
    const auto memory = reinterpret_cast<DevicePointer>(memory_.data());
    auto copy = reinterpret_cast<DevicePointer>(copies_.data());
    for (const MemsetNodeParams& node : kNodes) {
      if (node.to % node.element_bytes != 0) continue;
      TRY(driver.check(set(memory + node.to, node, stream), "a memset"));
      TRY(driver.check(driver.memcpy_async(copy, memory, 2 * kBytes, stream), "a copy"));
      copy += 2 * kBytes;
    }
    return {};
  }
  /// Replays, and compares every copy.
  void expect(Recording& recording) {
    Bytes expected = counted(), got(2 * kBytes);
    ASSERT_TRUE(device_.copy_from_host(memory_.data(), expected.data(), 2 * kBytes, *stream_));
    ASSERT_TRUE(recording.launch(*stream_));
    int64_t copy = 0;
    for (const MemsetNodeParams& node : kNodes) {
      if (node.to % node.element_bytes != 0) continue;
      set_elements(expected, node);
      ASSERT_TRUE(device_.copy_to_host(got.data(), copies_.data() + copy, 2 * kBytes, *stream_));
      EXPECT_EQ(got, expected) << "after " << node.width << " x " << node.height;
      copy += 2 * kBytes;
    }
  }
  static int64_t count() {
    return std::ranges::count_if(kNodes, [](const auto& node) { return node.to % node.element_bytes == 0; });
  }

 private:
  int set(DevicePointer to, const MemsetNodeParams& node, StreamHandle stream) const {
    const size_t width = node.width, height = node.height, pitch = std::max(node.pitch, width * node.element_bytes);
    const Driver& driver = device_.driver();
    switch (node.element_bytes) {
      case 1: return driver.memset_d2d8_async(to, pitch, static_cast<unsigned char>(node.value), width, height, stream);
      case 2: return set16_(to, pitch, static_cast<unsigned short>(node.value), width, height, stream);
      default: return set32_(to, pitch, node.value, width, height, stream);
    }
  }

  CudaDevice& device_;
  int (*set16_)(DevicePointer, size_t, unsigned short, size_t, size_t, StreamHandle) = nullptr;
  int (*set32_)(DevicePointer, size_t, unsigned, size_t, size_t, StreamHandle) = nullptr;
  Buffer memory_, copies_;
  std::unique_ptr<Stream> stream_;
};

std::vector<int> types_of(CudaDevice& device, GraphHandle graph) {
  const GraphCalls& calls = *device.companion<GraphCalls>();
  size_t count = 0;
  EXPECT_EQ(device.driver().graph_get_nodes(graph, nullptr, &count), 0);
  std::vector<GraphNodeHandle> nodes(count);
  EXPECT_EQ(device.driver().graph_get_nodes(graph, nodes.data(), &count), 0);
  std::vector<int> types(count);
  for (size_t i = 0; i < count; ++i) EXPECT_EQ(calls.node_get_type(nodes[i], &types[i]), 0);
  return types;
}

/// A graph of `sets` has so many memsets left, and kernels for the others.
void expect_left(int64_t num_left, CudaDevice& device, Sets& sets) {
  const Driver& driver = device.driver();
  GraphHandle graph = nullptr;
  ASSERT_EQ(driver.stream_begin_capture(sets.stream(), kCaptureRelaxed), 0);
  ASSERT_TRUE(sets.launch(sets.stream()));
  ASSERT_EQ(driver.stream_end_capture(sets.stream(), &graph), 0);
  replace_memset_nodes(device, graph);
  const std::vector<int> types = types_of(device, graph);
  driver.graph_destroy(graph);
  EXPECT_EQ(std::ranges::count(types, int{kMemsetNode}), num_left);
  EXPECT_GE(std::ranges::count(types, int{kKernelNode}), Sets::count() - num_left);
}

TEST(MemsetNodes, AreKernelsWhereTheyReplay) {
  const auto device = make_fake_device();
  fake_cuda_control().define_kernel("memset_node", &run_kernel, 6);
  Sets sets(*device);
  expect_left(0, *device, sets);
  const auto recording = device->record(&Sets::launch, &sets);
  ASSERT_TRUE(recording);
  EXPECT_EQ(fake_cuda_control().num_calls("cuGraphDestroyNode"), 2 * Sets::count());
  sets.expect(**recording);
}

TEST(MemsetNodes, StayWhereACallFails) {
  const auto device = make_fake_device();
  fake_cuda_control().define_kernel("memset_node", &run_kernel, 6);
  Sets sets(*device);
  for (const char* call :
       {"cuGraphNodeGetType", "cuGraphMemsetNodeGetParams", "cuGraphNodeGetDependencies",
        "cuGraphNodeGetDependentNodes", "cuGraphAddKernelNode_v2", "cuGraphAddDependencies", "cuGraphDestroyNode"}) {
    fake_cuda_control().fail(call, 1, kNotSupported);
    expect_left(1, *device, sets);
    fake_cuda_control().fail(call, 1, kNotSupported);
    const auto recording = device->record(&Sets::launch, &sets);
    ASSERT_TRUE(recording) << call;
    sets.expect(**recording);
  }
}

TEST(MemsetNodes, StayWithoutAKernel) {
  const auto device = make_fake_device();
  fake_cuda_control().fail("cuModuleLoadData", 1, kNotSupported);
  Sets sets(*device);
  expect_left(Sets::count(), *device, sets);
  const auto recording = device->record(&Sets::launch, &sets);
  ASSERT_TRUE(recording);
  sets.expect(**recording);
}

TEST(GpuMemsetNodes, AreKernelsWhereTheyReplay) {
  auto made = CudaDevice::create(0);
  if (!made) GTEST_SKIP() << made.error().message;
  Sets sets(**made);
  expect_left(0, **made, sets);
  const auto recording = (*made)->record(&Sets::launch, &sets);
  ASSERT_TRUE(recording);
  sets.expect(**recording);
}

}  // namespace
}  // namespace kiln::cuda
