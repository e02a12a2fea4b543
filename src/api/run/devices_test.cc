#include "api/run/devices.h"

#include <gtest/gtest.h>

namespace kiln::api {
namespace {

TEST(Devices, SaysWhichThereAre) {
  EXPECT_TRUE(check_device_name(""));
  EXPECT_TRUE(check_device_name("cpu"));
  EXPECT_EQ(check_device_name("cuda").error().message,
            "KILN_DEVICE is 'cuda': this version of Kiln has no CUDA backend; use 'cpu'");
  EXPECT_EQ(check_device_name("cuda").error().code, Code::kUnsupported);
  EXPECT_EQ(check_device_name("tpu").error().message, "KILN_DEVICE is 'tpu'; it may be 'cpu' or 'cuda'");
}

TEST(Devices, IsOneForAll) {
  const auto first = host_device();
  const auto second = default_device();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(static_cast<Device*>(&first->get()), &second->get());
  EXPECT_TRUE(first->get().executor("cpu"));
}

}  // namespace
}  // namespace kiln::api
