#include "backend/cuda/device/fault_word.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "backend/cuda/device/testing/fake_driver.h"

namespace kiln::cuda {
namespace {

TEST(FaultWord, TellsOnceWhatAKernelStored) {
  const auto device = make_fake_device();
  const FaultWord word = *FaultWord::create(*device);
  EXPECT_FALSE(word.take());
  for (const int64_t index : {int64_t{7}, int64_t{-9}, int64_t{0}}) {
    *word.address() = index * 2 + 1;
    EXPECT_EQ(word.take(), index);
    EXPECT_FALSE(word.take());
  }
}

TEST(FaultWord, WordsShareAPage) {
  auto device = make_fake_device();
  for (int turn = 0; turn < 2; ++turn) {  // pages that nobody uses are given again
    std::vector<FaultWord> words;
    std::set<int64_t*> addresses;
    for (int i = 0; i < 600; ++i) {
      words.push_back(*FaultWord::create(*device));
      addresses.insert(words.back().address());
    }
    EXPECT_EQ(addresses.size(), 600u);
    EXPECT_EQ(fake_cuda_control().num_calls("cuMemHostAlloc"), 2);
    *words.back().address() = 3;
    int64_t* const left = words.back().address();
    words.pop_back();
    words.push_back(*FaultWord::create(*device));
    EXPECT_EQ(words.back().address(), left);
    EXPECT_FALSE(words.back().take());  // not the one before's
  }
  device.reset();
  EXPECT_EQ(fake_cuda_control().live_bytes(), 0);
  device = make_fake_device();
  fake_cuda_control().fail("cuMemHostAlloc", 1, kOutOfDeviceMemory);
  EXPECT_EQ(FaultWord::create(*device).error().code, Code::kOutOfMemory);
  EXPECT_TRUE(FaultWord::create(*device));
}

}  // namespace
}  // namespace kiln::cuda
