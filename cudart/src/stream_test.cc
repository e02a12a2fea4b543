#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "cuda_runtime_api.h"

namespace {

using namespace std::chrono_literals;

/// Work that notes its number.
struct Note {
  std::vector<int>* order;
  int number;
  static void write(void* self) { static_cast<Note*>(self)->order->push_back(static_cast<Note*>(self)->number); }
};

/// Work that waits until the test lets it go on.
struct Gate {
  std::atomic<bool> open{false};
  static void pass(void* self) {
    while (!static_cast<Gate*>(self)->open) std::this_thread::yield();
  }
};

void nothing(void*) {}

cudaStream_t new_stream(unsigned int flags = cudaStreamDefault) {
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaStreamCreateWithFlags(&stream, flags), cudaSuccess);
  return stream;
}

TEST(CudartStream, HandlesAreChecked) {
  const cudaStream_t stream = new_stream(cudaStreamNonBlocking);
  unsigned int flags = 0;
  EXPECT_EQ(cudaStreamGetFlags(stream, &flags), cudaSuccess);
  EXPECT_EQ(flags, unsigned{cudaStreamNonBlocking});
  int priority = -1;
  EXPECT_EQ(cudaStreamGetPriority(stream, &priority), cudaSuccess);
  EXPECT_EQ(priority, 0);
  EXPECT_EQ(cudaStreamGetFlags(stream, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaLaunchHostFunc(stream, nothing, nullptr), cudaErrorInvalidResourceHandle);
  int any = 0;
  const auto forged = reinterpret_cast<cudaStream_t>(&any);
  EXPECT_EQ(cudaStreamSynchronize(forged), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaMemcpyAsync(&any, &any, 0, cudaMemcpyDefault, forged), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(~uintptr_t{0})), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamCreate(nullptr), cudaErrorInvalidValue);
  cudaStream_t made = nullptr;
  EXPECT_EQ(cudaStreamCreateWithFlags(&made, 2), cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST(CudartStream, HostFunctionsRunInOrder) {
  const cudaStream_t stream = new_stream();
  std::vector<int> order;
  std::vector<Note> work;
  for (int i = 0; i < 20; ++i) work.push_back({&order, i});
  for (Note& note : work) ASSERT_EQ(cudaLaunchHostFunc(stream, Note::write, &note), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  ASSERT_EQ(order.size(), 20u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
  EXPECT_EQ(cudaLaunchHostFunc(stream, nullptr, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  cudaGetLastError();
}

TEST(CudartStream, CallbacksGetStreamAndStatus) {
  const cudaStream_t stream = new_stream();
  struct Seen {
    cudaStream_t stream = nullptr;
    cudaError_t status = cudaErrorUnknown;
  } seen;
  const auto callback = [](cudaStream_t stream, cudaError_t status, void* data) {
    *static_cast<Seen*>(data) = {stream, status};
  };
  ASSERT_EQ(cudaStreamAddCallback(stream, callback, &seen, 0), cudaSuccess);
  EXPECT_EQ(cudaStreamAddCallback(stream, callback, &seen, 1), cudaErrorInvalidValue);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(seen.stream, stream);
  EXPECT_EQ(seen.status, cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  cudaGetLastError();
}

TEST(CudartStream, AHostFunctionMustNotCall) {
  const cudaStream_t stream = new_stream();
  struct Seen {
    cudaError_t malloc, synchronize;
  } seen{};
  const auto calls = [](void* data) {
    void* memory = nullptr;
    static_cast<Seen*>(data)->malloc = cudaMalloc(&memory, 1);
    static_cast<Seen*>(data)->synchronize = cudaDeviceSynchronize();
  };
  ASSERT_EQ(cudaLaunchHostFunc(stream, calls, &seen), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(seen.malloc, cudaErrorNotPermitted);
  EXPECT_EQ(seen.synchronize, cudaErrorNotPermitted);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  cudaGetLastError();
}

TEST(CudartStream, QueryTellsWhatIsNotReady) {
  const cudaStream_t stream = new_stream();
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
  Gate gate;
  ASSERT_EQ(cudaLaunchHostFunc(stream, Gate::pass, &gate), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  gate.open = true;
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (cudaStreamQuery(stream) == cudaErrorNotReady && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(100us);
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  cudaGetLastError();
}

// A loop of 2 ms queued on a stream takes as long as it takes, but the launch does not wait for it.
TEST(CudartStream, LaunchesDoNotWait) {
  const cudaStream_t stream = new_stream();
  Gate gate;
  ASSERT_EQ(cudaLaunchHostFunc(stream, Gate::pass, &gate), cudaSuccess);
  int *device = nullptr, *host = nullptr;
  ASSERT_EQ(cudaMallocHost(reinterpret_cast<void**>(&host), 4), cudaSuccess);
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device), 4), cudaSuccess);
  *host = 1;
  ASSERT_EQ(cudaMemcpyAsync(device, host, 4, cudaMemcpyHostToDevice, stream), cudaSuccess);
  *host = 2;  // pinned memory is read when the copy runs
  gate.open = true;
  ASSERT_EQ(cudaMemcpyAsync(host, device, 4, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(*host, 2);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(CudartStream, TheLegacyStreamIsOrderedWithBlockingOnes) {
  const cudaStream_t a = new_stream(), b = new_stream();
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::vector<int> order;
    Note first{&order, 0}, second{&order, 1}, third{&order, 2};
    ASSERT_EQ(cudaLaunchHostFunc(a, Note::write, &first), cudaSuccess);
    ASSERT_EQ(cudaLaunchHostFunc(nullptr, Note::write, &second), cudaSuccess);
    ASSERT_EQ(cudaLaunchHostFunc(b, Note::write, &third), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(b), cudaSuccess);
    ASSERT_EQ(order, (std::vector<int>{0, 1, 2}));
    ASSERT_EQ(cudaLaunchHostFunc(a, Note::write, &first), cudaSuccess);
    int* memory = nullptr;
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&memory), 4), cudaSuccess);
    ASSERT_EQ(cudaMemset(memory, 0, 4), cudaSuccess);  // on the legacy stream: waits for a
    ASSERT_EQ(order.size(), 4u);
    ASSERT_EQ(cudaFree(memory), cudaSuccess);
  }
  EXPECT_EQ(cudaStreamDestroy(a), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(b), cudaSuccess);
}

TEST(CudartStream, TheLegacyStreamIgnoresNonBlockingOnes) {
  const cudaStream_t stream = new_stream(cudaStreamNonBlocking);
  Gate gate;
  ASSERT_EQ(cudaLaunchHostFunc(stream, Gate::pass, &gate), cudaSuccess);
  ASSERT_EQ(cudaLaunchHostFunc(cudaStreamLegacy, nothing, nullptr), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  gate.open = true;
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(CudartStream, ManyThreadsOnTheirOwnStreams) {
  std::vector<std::thread> threads;
  std::atomic<int> runs{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&runs, t] {
      const cudaStream_t stream = t == 0 ? cudaStreamPerThread : new_stream();
      for (int i = 0; i < 300; ++i) {
        ASSERT_EQ(cudaLaunchHostFunc(
                      stream, [](void* n) { ++*static_cast<std::atomic<int>*>(n); }, &runs),
                  cudaSuccess);
        if (i % 10 == 0) {
          ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess) << i;
        }
        if (i % 50 == 0) {
          ASSERT_EQ(cudaLaunchHostFunc(nullptr, nothing, nullptr), cudaSuccess) << i;
        }
      }
      if (t > 0) {
        ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(runs, 1200);
}

TEST(CudartStream, ALaunchAndItsWaitAreCheap) {
  const cudaStream_t stream = new_stream();
  constexpr int kRounds = 5000;
  double best_us = 1e9;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kRounds; ++i) {
      ASSERT_EQ(cudaLaunchHostFunc(stream, nothing, nullptr), cudaSuccess);
      ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    }
    const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - start;
    best_us = std::min(best_us, spent.count() / kRounds);
  }
  printf("launch and synchronize: %.3f us\n", best_us);
  EXPECT_LT(best_us, 20);  // a woken sleeper at each launch would cost more even on a slow machine
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

}  // namespace
