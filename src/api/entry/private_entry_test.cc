#include "api/base/private_entry.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace {

KilnPrivateEntry filled() {
  KilnPrivateEntry entry{};
  entry.size = sizeof entry;
  entry.version = kKilnEntryVersion;
  EXPECT_EQ(kiln_private_entry(&entry), kKilnOk);
  return entry;
}

TEST(PrivateEntry, RefusesOtherVersions) {
  KilnPrivateEntry entry{};
  entry.size = sizeof entry;
  entry.version = kKilnEntryVersion + 1;
  EXPECT_EQ(kiln_private_entry(&entry), kKilnUnsupported);
  EXPECT_EQ(entry.version, kKilnEntryVersion);
  EXPECT_EQ(entry.last_error_text, nullptr);
  EXPECT_EQ(kiln_private_entry(nullptr), kKilnBadValue);
  entry.size = 3;
  EXPECT_EQ(kiln_private_entry(&entry), kKilnBadValue);
}

TEST(PrivateEntry, FillsShorterAndLongerTables) {
  struct Longer {
    KilnPrivateEntry known;
    void* later[4];
  } longer;
  std::memset(&longer, 0xff, sizeof longer);
  longer.known.size = sizeof longer;
  longer.known.version = kKilnEntryVersion;
  EXPECT_EQ(kiln_private_entry(&longer.known), kKilnOk);
  EXPECT_EQ(longer.known.size, sizeof(KilnPrivateEntry));
  EXPECT_NE(longer.known.stream.create, nullptr);
  for (const void* p : longer.later) EXPECT_EQ(p, nullptr);

  KilnPrivateEntry shorter;
  std::memset(&shorter, 0xff, sizeof shorter);
  shorter.size = offsetof(KilnPrivateEntry, event);
  shorter.version = kKilnEntryVersion;
  EXPECT_EQ(kiln_private_entry(&shorter), kKilnOk);
  EXPECT_NE(shorter.stream.create, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(shorter.parser.create_parser), UINTPTR_MAX);  // not ours to touch
}

TEST(PrivateEntry, RunsWorkOnStreams) {
  const KilnStreamEntry streams = filled().stream;
  void* stream = nullptr;
  ASSERT_EQ(streams.create(1, -1, &stream), kKilnOk);
  uint32_t flags = 0;
  int32_t priority = 0;
  EXPECT_EQ(streams.flags(stream, &flags), kKilnOk);
  EXPECT_EQ(streams.priority(stream, &priority), kKilnOk);
  EXPECT_EQ(flags, 1u);
  EXPECT_EQ(priority, -1);
  int done = 0;
  ASSERT_EQ(streams.launch_host(
                stream, [](void* n) { ++*static_cast<int*>(n); }, &done),
            kKilnOk);
  EXPECT_EQ(streams.synchronize(stream), kKilnOk);
  EXPECT_EQ(done, 1);
  EXPECT_EQ(streams.launch_host(stream, nullptr, nullptr), kKilnBadValue);
  EXPECT_EQ(streams.destroy(stream), kKilnOk);
  EXPECT_EQ(streams.destroy(stream), kKilnBadHandle);
  EXPECT_EQ(streams.synchronize(stream), kKilnBadHandle);
  EXPECT_NE(std::string(filled().last_error_text()).find("there is no stream"), std::string::npos);
  EXPECT_EQ(streams.create(0, 0, nullptr), kKilnBadValue);
}

TEST(PrivateEntry, GivesMemory) {
  const KilnDeviceEntry device = filled().device;
  void* memory = nullptr;
  ASSERT_EQ(device.allocate(1000, &memory), kKilnOk);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 256, 0u);
  std::memset(memory, 7, 1000);
  EXPECT_EQ(device.release(memory), kKilnOk);
  EXPECT_EQ(device.release(memory), kKilnBadValue);
  EXPECT_EQ(device.release(nullptr), kKilnOk);
  EXPECT_NE(device.allocate(SIZE_MAX, &memory), kKilnOk);
  EXPECT_EQ(device.allocate(SIZE_MAX / 4, &memory), kKilnNoMemory);
  size_t total = 0;
  EXPECT_EQ(device.total_memory(&total), kKilnOk);
  EXPECT_GT(total, size_t{1} << 20);
  const char* identity = nullptr;
  EXPECT_EQ(device.identity(&identity), kKilnOk);
  EXPECT_NE(std::string(identity), "");
}

}  // namespace
