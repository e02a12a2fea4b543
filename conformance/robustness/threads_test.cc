// Several threads: each with a context of one engine, each with a builder, all with one logger.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "program.h"

namespace robustness {
namespace {

template <class F>
void on_threads(int count, F work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([=] { work(i); });
  for (std::thread& thread : threads) thread.join();
}

TEST(Threads, EachWithAContext) {
  Program p;
  p.make_relu();
  const std::unique_ptr<nv::ICudaEngine> engine(p.builder->buildEngineWithConfig(*p.network, *p.config));
  std::atomic<int> wrong{0};
  on_threads(4, [&engine, &wrong](int) {
    const std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
    cudaStream_t stream = nullptr;
    cudaStreamCreate(&stream);
    for (int run = 0; run < 200; ++run) {
      wrong += !relu_works(*context, stream);
      wrong += context->setInputShape("x", dims({run % 4 + 9, 4}));  // refused, and the next run is right again
    }
    cudaStreamDestroy(stream);
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_NE(p.logger.take_errors(), "");
}

TEST(Threads, OnTheDefaultStream) {
  Program p;
  p.make_relu();
  const std::unique_ptr<nv::ICudaEngine> engine(p.builder->buildEngineWithConfig(*p.network, *p.config));
  std::atomic<int> wrong{0};
  on_threads(4, [&engine, &wrong](int) {
    const std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
    for (int run = 0; run < 100; ++run) wrong += !relu_works(*context, nullptr);
  });
  EXPECT_EQ(wrong, 0) << p.logger.take_errors();
}

TEST(Threads, EachBuildsLoadsAndRuns) {
  std::atomic<int> wrong{0};
  on_threads(4, [&wrong](int) {
    for (int i = 0; i < 3; ++i) wrong += !process_is_fine();
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, OneRuntimeLoadsInAll) {
  Program p;
  p.make_relu();
  const auto plan = p.build();
  const std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(p.logger));
  std::atomic<int> wrong{0};
  on_threads(4, [&](int) {
    for (int i = 0; i < 5; ++i) {
      const auto engine = load(*runtime, *plan);
      const std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
      wrong += !relu_works(*context, cudaStreamPerThread);
      wrong += runtime->deserializeCudaEngine("nonsense", 8) != nullptr;
    }
  });
  EXPECT_EQ(wrong, 0) << p.logger.take_errors();
}

}  // namespace
}  // namespace robustness
