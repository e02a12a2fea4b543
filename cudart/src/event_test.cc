#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "cuda_runtime_api.h"

namespace {

struct Pair {
  cudaStream_t a = nullptr, b = nullptr;
  cudaEvent_t first = nullptr, second = nullptr;
  Pair() {
    EXPECT_EQ(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_EQ(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_EQ(cudaEventCreate(&first), cudaSuccess);
    EXPECT_EQ(cudaEventCreate(&second), cudaSuccess);
  }
  ~Pair() {
    for (cudaEvent_t event : {first, second}) EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
    for (cudaStream_t stream : {a, b}) EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    cudaGetLastError();
  }
};

TEST(CudartEvent, MeasuresTime) {
  const Pair pair;
  float ms = -1;
  EXPECT_EQ(cudaEventElapsedTime(&ms, pair.first, pair.second), cudaErrorInvalidResourceHandle);  // never recorded
  ASSERT_EQ(cudaEventRecord(pair.first, pair.a), cudaSuccess);
  const auto sleep = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(3)); };
  ASSERT_EQ(cudaLaunchHostFunc(pair.a, sleep, nullptr), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(pair.second, pair.a), cudaSuccess);
  ASSERT_EQ(cudaEventSynchronize(pair.second), cudaSuccess);
  ASSERT_EQ(cudaEventElapsedTime(&ms, pair.first, pair.second), cudaSuccess);
  EXPECT_GE(ms, 3.0f);
  EXPECT_LT(ms, 2000.0f);
  cudaEvent_t untimed = nullptr;
  ASSERT_EQ(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(untimed, pair.a), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&ms, pair.first, untimed), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventElapsedTime(nullptr, pair.first, pair.second), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventDestroy(untimed), cudaSuccess);
}

TEST(CudartEvent, IsNotReadyBeforeItsWork) {
  const Pair pair;
  EXPECT_EQ(cudaEventQuery(pair.first), cudaSuccess);  // never recorded
  std::atomic<bool> open{false};
  const auto pass = [](void* flag) {
    while (!*static_cast<std::atomic<bool>*>(flag)) std::this_thread::yield();
  };
  ASSERT_EQ(cudaLaunchHostFunc(pair.a, pass, &open), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(pair.first, pair.a), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(pair.second, pair.a), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(pair.first), cudaErrorNotReady);
  float ms = 0;
  EXPECT_EQ(cudaEventElapsedTime(&ms, pair.first, pair.second), cudaErrorNotReady);
  open = true;
  EXPECT_EQ(cudaEventSynchronize(pair.first), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(pair.first), cudaSuccess);
}

TEST(CudartEvent, OrdersStreams) {
  const Pair pair;
  std::vector<int> order;
  struct Note {
    std::vector<int>* order;
    int number;
  } notes[] = {{&order, 0}, {&order, 1}, {&order, 2}};
  const auto write = [](void* self) { static_cast<Note*>(self)->order->push_back(static_cast<Note*>(self)->number); };
  for (int repeat = 0; repeat < 30; ++repeat) {
    order.clear();
    ASSERT_EQ(cudaLaunchHostFunc(pair.a, write, &notes[0]), cudaSuccess);
    ASSERT_EQ(cudaEventRecord(pair.first, pair.a), cudaSuccess);
    ASSERT_EQ(cudaStreamWaitEvent(pair.b, pair.first, 0), cudaSuccess);
    ASSERT_EQ(cudaLaunchHostFunc(pair.b, write, &notes[1]), cudaSuccess);
    ASSERT_EQ(cudaEventRecord(pair.second, pair.b), cudaSuccess);
    ASSERT_EQ(cudaStreamWaitEvent(pair.a, pair.second, 0), cudaSuccess);
    ASSERT_EQ(cudaLaunchHostFunc(pair.a, write, &notes[2]), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(pair.a), cudaSuccess);
    ASSERT_EQ(order, (std::vector<int>{0, 1, 2}));
  }
}

TEST(CudartEvent, HandlesAreChecked) {
  cudaEvent_t event = nullptr;
  EXPECT_EQ(cudaEventCreate(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventCreateWithFlags(&event, 8), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming), cudaErrorNotSupported);
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  ASSERT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(event, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventSynchronize(event), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventQuery(nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamWaitEvent(nullptr, event, 0), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
}

}  // namespace
