#include "api/run/stream_table.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/testing/child.h"

namespace kiln::api {
namespace {

StreamTable& table() { return StreamTable::instance(); }

TEST(StreamTable, GivesStreamsOutAndBack) {
  const auto first = table().create(1, -2);
  const auto second = table().create(0, 0);
  ASSERT_TRUE(first && second);
  EXPECT_NE(*first, *second);
  EXPECT_NE(&table().find(*first)->get(), &table().find(*second)->get());
  EXPECT_EQ(*table().flags(*first), 1u);
  EXPECT_EQ(*table().priority(*first), -2);
  EXPECT_TRUE(table().destroy(*first));
  EXPECT_FALSE(table().find(*first));
  const auto third = table().create(0, 0);
  EXPECT_NE(*third, *first);  // the slot again, and yet another handle
  EXPECT_FALSE(table().find(*first));
  EXPECT_TRUE(table().destroy(*second));
  EXPECT_TRUE(table().destroy(*third));
}

TEST(StreamTable, RefusesHandlesOfOthers) {
  int on_the_stack = 0;
  for (void* handle : {static_cast<void*>(&on_the_stack), reinterpret_cast<void*>(3), reinterpret_cast<void*>(-1)}) {
    EXPECT_FALSE(table().find(handle));
    EXPECT_FALSE(table().destroy(handle));
    EXPECT_FALSE(table().flags(handle));
  }
  const auto stream = table().create(0, 0);
  EXPECT_TRUE(table().destroy(*stream));
  EXPECT_FALSE(table().destroy(*stream));
  EXPECT_FALSE(table().destroy(nullptr));  // the default stream stays
}

TEST(StreamTable, AChildHasItsOwn) {
  void* const per_thread = reinterpret_cast<void*>(kKilnPerThreadStream);
  void* const made = *table().create(0, 0);
  const cpu::HostStream* const legacy = &table().find(nullptr)->get();
  ASSERT_TRUE(table().find(per_thread));
  const int child = test::in_child([&] {
    if (table().find(made)) return 1;
    void* const own = *table().create(0, 0);
    if (own == made || !table().find(own)) return 2;
    for (void* handle : {static_cast<void*>(nullptr), per_thread, own}) {
      std::atomic<int> runs{0};
      cpu::HostStream& stream = *table().find_for_work(handle);
      if (&stream == legacy) return 3;
      if (!stream.launch_host([](void* n) { ++*static_cast<std::atomic<int>*>(n); }, &runs)) return 4;
      if (!stream.synchronize() || runs != 1) return 5;
    }
    return 0;
  });
  EXPECT_EQ(child, 0);
  EXPECT_TRUE(table().destroy(made));
}

TEST(StreamTable, HasDefaultStreams) {
  Stream& legacy = *table().find(nullptr);
  EXPECT_EQ(&legacy, &table().find(reinterpret_cast<void*>(kKilnLegacyStream))->get());
  void* const per_thread = reinterpret_cast<void*>(kKilnPerThreadStream);
  Stream* mine = &table().find(per_thread)->get();
  EXPECT_NE(mine, &legacy);
  Stream* others = nullptr;
  std::thread([&] { others = &table().find(per_thread)->get(); }).join();
  EXPECT_NE(mine, others);
}

TEST(StreamTable, DestroyDoesWhatIsQueued) {
  const auto handle = table().create(0, 0);
  int done = 0;
  const auto work = [](void* count) { ++*static_cast<int*>(count); };
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(table().find(*handle)->get().launch_host(work, &done));
  EXPECT_TRUE(table().destroy(*handle));
  EXPECT_EQ(done, 3);
}

TEST(StreamTable, SynchronizesAll) {
  const auto handle = table().create(0, 0);
  int done = 0;
  const auto work = [](void* count) { ++*static_cast<int*>(count); };
  ASSERT_TRUE(table().find(*handle)->get().launch_host(work, &done));
  ASSERT_TRUE(table().find(nullptr)->get().launch_host(work, &done));
  EXPECT_TRUE(table().synchronize_all());
  EXPECT_EQ(done, 2);
  EXPECT_TRUE(table().destroy(*handle));
}

}  // namespace
}  // namespace kiln::api
