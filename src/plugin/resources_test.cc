#include "plugin/resources.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <functional>

#include "plugin/library.h"
#include "plugin/registry.h"

namespace kiln::plugin {
namespace {

/// What became of a resource's clones, and what its code does besides.
struct Fate {
  std::atomic<int> cloned = 0, released = 0, deleted = 0;
  int32_t release_code = 0;
  std::function<void()> when_cloned, when_released, when_deleted;
};

class Resource final : public nvinfer1::IPluginResource {
 public:
  explicit Resource(Fate& fate) : fate_(fate) {}
  ~Resource() noexcept override {
    fate_.deleted += is_clone_;
    if (is_clone_ && fate_.when_deleted) fate_.when_deleted();
  }
  int32_t release() noexcept override {
    ++fate_.released;
    if (fate_.when_released) fate_.when_released();
    return fate_.release_code;
  }
  IPluginResource* clone() noexcept override {
    ++fate_.cloned;
    if (fate_.when_cloned) fate_.when_cloned();
    auto* clone = new Resource(fate_);
    clone->is_clone_ = true;
    return clone;
  }

 private:
  Fate& fate_;
  bool is_clone_ = false;
};

class WithoutClone final : public nvinfer1::IPluginResource {
 public:
  int32_t release() noexcept override { return 0; }
  IPluginResource* clone() noexcept override { return itself ? this : nullptr; }
  bool itself = false;
};

std::string message(const auto& result) { return result ? "" : result.error().message; }

TEST(Resources, CloneGoesWithItsLastUser) {
  Fate fate;
  Resource original(fate);
  Resources resources;
  nvinfer1::IPluginResource* shared = resources.acquire("key", original).value();
  EXPECT_NE(shared, &original);
  EXPECT_EQ(resources.acquire("key", original).value(), shared);
  EXPECT_TRUE(resources.release("key"));
  EXPECT_EQ(fate.released, 0);
  EXPECT_TRUE(resources.release("key"));
  EXPECT_EQ(fate.cloned, 1);
  EXPECT_EQ(fate.released, 1);
  EXPECT_EQ(fate.deleted, 1);
  EXPECT_EQ(message(resources.release("key")),
            "resource 'key' has no users: it was never acquired, or released as often");
  EXPECT_TRUE(resources.acquire("key", original));  // anew
  EXPECT_TRUE(resources.clear().empty());
  EXPECT_EQ(fate.deleted, 2);
}

TEST(Resources, FailuresOfTheirCodeAreTold) {
  Fate fate{.release_code = 3};
  Resource original(fate);
  WithoutClone none;
  Resources resources;
  EXPECT_EQ(message(resources.acquire("null", none)), "resource 'null': clone() gave null");
  none.itself = true;
  EXPECT_EQ(message(resources.acquire("self", none)), "resource 'self': clone() gave the resource itself");
  EXPECT_TRUE(resources.acquire("self", original));  // a failure leaves nothing behind
  EXPECT_EQ(message(resources.release("self")), "resource 'self': release() failed with 3");
  EXPECT_EQ(fate.deleted, 1);
  EXPECT_TRUE(resources.acquire("left", original));
  const std::vector<Error> failures = resources.clear();
  ASSERT_EQ(failures.size(), 1);
  EXPECT_EQ(failures[0].message, "resource 'left': release() failed with 3");
}

TEST(Resources, TheKeyMayGoWithTheClone) {
  Fate fate{.release_code = 3};
  Resource original(fate);
  std::string key = "key";  // as if the clone had it
  fate.when_deleted = [&] { key = "gone"; };
  Resources resources;
  EXPECT_TRUE(resources.acquire("key", original));
  EXPECT_EQ(message(resources.release(key.c_str())), "resource 'key': release() failed with 3");
  EXPECT_EQ(key, "gone");
  EXPECT_TRUE(resources.acquire("key", original));  // anew
  EXPECT_EQ(fate.cloned, 2);
  EXPECT_FALSE(resources.release("key"));
}

TEST(Resources, TheirCodeMayComeBack) {
  Fate fate, inner_fate;
  Resource original(fate), inner(inner_fate);
  Resources resources;
  std::string own;
  fate.when_cloned = [&] {
    own = message(resources.acquire("outer", original));
    EXPECT_TRUE(resources.acquire("inner", inner));
  };
  fate.when_released = [&] { EXPECT_TRUE(resources.release("inner")); };
  EXPECT_TRUE(resources.acquire("outer", original));
  EXPECT_EQ(own, "resource 'outer' is being cloned or released by a call that waits for this one to end");
  EXPECT_TRUE(resources.release("outer"));
  EXPECT_EQ(inner_fate.deleted, 1);
}

TEST(Resources, ThreadsMakeOneClone) {
  Fate fate;
  fate.when_cloned = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  Resources resources;
  std::atomic<nvinfer1::IPluginResource*> seen = nullptr;
  std::atomic<int> others = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      Resource original(fate);
      nvinfer1::IPluginResource* mine = resources.acquire("key", original).value();
      nvinfer1::IPluginResource* first = nullptr;
      if (!seen.compare_exchange_strong(first, mine) && first != mine) ++others;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fate.cloned, 1);
  EXPECT_EQ(others, 0);
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(resources.release("key"));
  EXPECT_EQ(fate.deleted, 1);
}

TEST(Resources, ThreadsThatWouldWaitForEachOtherDoNot) {
  Fate fates[2];
  Resource originals[2] = {Resource(fates[0]), Resource(fates[1])};
  Resources resources[2];  // of two registries
  std::atomic<int> cloning = 0, refused = 0;
  const auto clone_with_the_other = [&](int mine) {
    fates[mine].when_cloned = [&, mine] {
      for (++cloning; cloning < 2;) std::this_thread::yield();
      const int other = 1 - mine;
      refused += !resources[other].acquire("key", originals[other]);
    };
    EXPECT_TRUE(resources[mine].acquire("key", originals[mine]));
  };
  std::thread first(clone_with_the_other, 0), second(clone_with_the_other, 1);
  first.join(), second.join();
  EXPECT_EQ(refused, 1);
  for (Resources& one : resources) EXPECT_TRUE(one.clear().empty());
}

/// A resource whose memory cannot be read once it is deleted.
class Paged final : public nvinfer1::IPluginResource {
 public:
  int32_t release() noexcept override { return 0; }
  IPluginResource* clone() noexcept override { return new Paged; }
  static void* operator new(size_t size) {
    return mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  static void operator delete(void* memory, size_t size) {
    munmap(memory, size);
    if (when_gone) when_gone();
  }
  static inline std::function<void()> when_gone;
};

TEST(Resources, AreNotReadOnceTheyAreDeleted) {
  const auto library = Library::open("libm.so.6");
  ASSERT_TRUE(library) << library.error().message;
  Resources resources;
  {
    const auto original = std::make_unique<Paged>();
    EXPECT_TRUE(resources.acquire("key", *original));
  }
  int asked = 0;
  Paged::when_gone = [&] {
    EXPECT_EQ(resources.used_code_of(*library), "");
    ++asked;
  };
  EXPECT_TRUE(resources.release("key"));
  Paged::when_gone = nullptr;
  EXPECT_EQ(asked, 1);
}

TEST(Resources, ThatAThreadMakesAreClearedBehindIt) {
  Fate fate;
  Resource original(fate);
  Resources resources;
  std::atomic<bool> is_cloning = false;
  fate.when_cloned = [&] {
    is_cloning = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  std::thread other([&] { EXPECT_TRUE(resources.acquire("key", original)); });
  while (!is_cloning) std::this_thread::yield();
  EXPECT_TRUE(resources.clear().empty());
  EXPECT_EQ(fate.deleted, 1);
  other.join();
}

TEST(Resources, ThatAreClearedHaveNoUsers) {
  Fate fate;
  Resource original(fate);
  Resources resources;
  std::string own;
  fate.when_released = [&] { own = message(resources.release("key")); };
  EXPECT_TRUE(resources.acquire("key", original));
  EXPECT_TRUE(resources.clear().empty());
  EXPECT_EQ(own, "resource 'key' has no users: it was never acquired, or released as often");
  EXPECT_EQ(fate.deleted, 1);
}

TEST(Resources, RegistryTellsOfNulls) {
  Registry registry;
  Fate fate;
  Resource original(fate);
  EXPECT_EQ(registry.acquirePluginResource(nullptr, &original), nullptr);
  EXPECT_EQ(registry.acquirePluginResource("key", nullptr), nullptr);
  EXPECT_EQ(registry.releasePluginResource(nullptr), -1);
  EXPECT_NE(registry.acquirePluginResource("key", &original), nullptr);
  EXPECT_EQ(registry.releasePluginResource("key"), 0);
}

TEST(Resources, RegistryTakesTheRestAlong) {
  Fate fate;
  Resource original(fate);
  {
    Registry registry;
    EXPECT_NE(registry.acquirePluginResource("key", &original), nullptr);
  }
  EXPECT_EQ(fate.released, 1);
  EXPECT_EQ(fate.deleted, 1);
}

}  // namespace
}  // namespace kiln::plugin
