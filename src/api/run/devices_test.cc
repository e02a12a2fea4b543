#include "api/run/devices.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

namespace kiln::api {
namespace {

TEST(Devices, SaysWhichThereAre) {
  EXPECT_TRUE(check_device_name(""));
  EXPECT_TRUE(check_device_name("cpu"));
  EXPECT_TRUE(check_device_name("cuda"));
  EXPECT_EQ(check_device_name("tpu").error().message, "KILN_DEVICE is 'tpu'; it may be 'cpu' or 'cuda'");
}

TEST(Devices, IsOneForAll) {
  const auto first = default_device();
  const auto second = default_device();
  ASSERT_TRUE(first && second) << first.error().message;
  EXPECT_EQ(&first->get(), &second->get());
  EXPECT_EQ(first->get().kind(), *default_device_kind());
  EXPECT_TRUE(first->get().executor(first->get().kind() == DeviceKind::kCuda ? "cuda" : "cpu"));
  ASSERT_TRUE(host_device());
  EXPECT_TRUE(host_device()->get().executor("cpu"));
  EXPECT_EQ(cuda_device(-1).error().message, "there is no CUDA device -1");
}

TEST(Devices, AThreadMayUseTheHost) {
  EXPECT_FALSE(use_host(true));
  EXPECT_EQ(*engine_device_kind(), DeviceKind::kCpu);
  EXPECT_EQ(engine_device()->get().kind(), DeviceKind::kCpu);
  std::thread([] { EXPECT_FALSE(use_host(false)) << "another thread's wish"; }).join();
  EXPECT_TRUE(use_host(false));
  EXPECT_EQ(*engine_device_kind(), *default_device_kind());
}

TEST(Devices, SaysOnceWhatIsMissing) {
  struct Lines final : Log {
    std::vector<std::string> lines;
    void write(Severity, std::string_view message) override { lines.emplace_back(message); }
  } log;
  announce_devices(log);
  announce_devices(log);
  if (std::getenv("KILN_DEVICE") || cuda::Driver::instance()) {
    EXPECT_TRUE(log.lines.empty());
  } else if (!log.lines.empty()) {  // else an earlier test heard it
    EXPECT_TRUE(log.lines.size() == 1 && log.lines[0].starts_with("engines run on the CPU: "));
  }
}

}  // namespace
}  // namespace kiln::api
