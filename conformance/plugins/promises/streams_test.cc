// The CUDA runtime's functions inside the calls that a plugin gets while a run lasts, on the CPU. On a GPU they wait
// for what was queued before; the run itself is part of a stream here, which may not wait for itself.
#include <chrono>
#include <future>

#include "program.h"

namespace kiln::promises {
namespace {

using Floats = std::vector<float>;

size_t bytes_of(const Enqueue& e) { return static_cast<size_t>(volume(e.in[0].dims)) * sizeof(float); }

/// Streams that a program runs contexts on.
struct Streams {
  Streams() {
    EXPECT_EQ(cudaStreamCreate(&blocking), cudaSuccess);
    EXPECT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  }
  ~Streams() {
    cudaStreamDestroy(blocking);
    cudaStreamDestroy(other);
  }
  std::vector<cudaStream_t> all() const { return {nullptr, blocking, other, cudaStreamPerThread}; }
  cudaStream_t blocking = nullptr, other = nullptr;
};

class PluginStreamsOnTheCpu : public Promises {
 protected:
  /// Runs x -> plugin -> -x on each kind of stream, twice, after the program has used the default one.
  void expect_runs(Program& p, const Floats& expected = {-1, -2, -3}) {
    nv::IPluginV3Layer* layer = p.add({p.input("x", {3})});
    ASSERT_TRUE(layer) << p.logger.take_errors();
    p.mark(p.network->addUnary(*layer->getOutput(0), nv::UnaryOperation::kNEG)->getOutput(0));
    const auto loaded = p.load();
    ASSERT_TRUE(loaded);
    const Streams streams;
    for (const cudaStream_t stream : streams.all())
      for (int run = 0; run < 2; ++run) {
        Floats x{1, 2, 3}, y(3), copied(3);
        loaded->set("x", x), loaded->set("y", y);
        ASSERT_TRUE(loaded->context->enqueueV3(stream)) << p.logger.take_errors();
        // The default stream waits for the run, where the run's stream does not block it.
        if (stream != streams.other) {
          EXPECT_EQ(cudaMemcpyAsync(copied.data(), y.data(), sizeof(float) * 3, cudaMemcpyDefault, nullptr),
                    cudaSuccess);
        }
        EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess) << p.logger.take_errors();
        EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
        EXPECT_EQ(y, expected);
        if (stream != streams.other) {
          EXPECT_EQ(copied, expected);
        }
      }
    EXPECT_EQ(p.logger.take_errors(), "");
  }
};

TEST_F(PluginStreamsOnTheCpu, CopyAndWait) {
  Program p;
  p.behaviour.run = [](const Enqueue& e) -> int32_t {
    return cudaMemcpy(e.outputs[0], e.inputs[0], bytes_of(e), cudaMemcpyDeviceToDevice);
  };
  expect_runs(p);
}

TEST_F(PluginStreamsOnTheCpu, CopyOnTheDefaultStream) {
  Program p;
  p.behaviour.run = [](const Enqueue& e) -> int32_t {
    if (const auto failed = cudaMemsetAsync(e.outputs[0], 0, bytes_of(e), nullptr)) return failed;
    return cudaMemcpyAsync(e.outputs[0], e.inputs[0], bytes_of(e), cudaMemcpyDeviceToDevice, nullptr);
  };
  expect_runs(p);
}

/// A copy that waits comes behind what is on the stream that the plugin was given, which blocks the default one.
TEST_F(PluginStreamsOnTheCpu, CopyBehindTheirStream) {
  Program p;
  p.behaviour.run = [](const Enqueue& e) -> int32_t {
    Floats between(3);
    const auto slow = [](void* to) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      *static_cast<float*>(to) = 5;
    };
    if (const auto failed = cudaLaunchHostFunc(e.stream, slow, e.workspace)) return failed;
    if (const auto failed = cudaMemcpy(between.data(), e.workspace, sizeof(float), cudaMemcpyDefault)) return failed;
    std::copy_n(static_cast<const float*>(e.inputs[0]), 3, static_cast<float*>(e.outputs[0]));
    *static_cast<float*>(e.outputs[0]) = between[0];
    return 0;
  };
  p.behaviour.workspace_bytes = sizeof(float);
  expect_runs(p, {-5, -2, -3});
}

TEST_F(PluginStreamsOnTheCpu, HaveStreamsOfTheirOwn) {
  Program p;
  p.behaviour.run = [](const Enqueue& e) -> int32_t {
    cudaStream_t own = nullptr;
    if (const auto failed = cudaStreamCreate(&own)) return failed;
    int32_t code = cudaMemcpyAsync(e.outputs[0], e.inputs[0], bytes_of(e), cudaMemcpyDeviceToDevice, own);
    if (code == 0) code = cudaStreamSynchronize(own);
    cudaStreamDestroy(own);
    return code;
  };
  expect_runs(p);
}

TEST_F(PluginStreamsOnTheCpu, CopyWhenShapesChange) {
  Program p;
  Floats factor{0};
  p.behaviour.reshape = [&] {
    const float two = 2;
    return static_cast<int32_t>(cudaMemcpy(factor.data(), &two, sizeof two, cudaMemcpyHostToDevice));
  };
  p.behaviour.run = [&](const Enqueue& e) {
    for (int i = 0; i < 3; ++i)
      static_cast<float*>(e.outputs[0])[i] = static_cast<const float*>(e.inputs[0])[i] * factor[0];
    return 0;
  };
  expect_runs(p, {-2, -4, -6});
}

/// On a GPU that fails, too, while the run is recorded.
TEST_F(PluginStreamsOnTheCpu, CannotWaitForAllStreams) {
  Program p;
  std::vector<cudaError_t> codes;
  p.behaviour.run = [&](const Enqueue& e) -> int32_t {
    codes.push_back(cudaDeviceSynchronize());
    return cudaMemcpy(e.outputs[0], e.inputs[0], bytes_of(e), cudaMemcpyDeviceToDevice);
  };
  expect_runs(p);
  EXPECT_EQ(codes, std::vector<cudaError_t>(8, cudaErrorNotPermitted));
}

/// Each waits for its own run alone: two that waited for each other's would never end.
TEST_F(PluginStreamsOnTheCpu, OfTwoThreadsDoNotWaitForEachOther) {
  Program p;
  std::atomic<int> inside = 0;
  p.behaviour.run = [&](const Enqueue& e) -> int32_t {
    ++inside;
    for (int i = 0; i < 200 && inside < 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const int32_t code = cudaMemcpy(e.outputs[0], e.inputs[0], bytes_of(e), cudaMemcpyDeviceToDevice);
    --inside;
    return code;
  };
  ASSERT_TRUE(p.chain({3}));
  const auto loaded = p.load();
  ASSERT_TRUE(loaded);
  const auto runs = [&] {
    int right = 0;
    const std::unique_ptr<nv::IExecutionContext> context(loaded->engine->createExecutionContext());
    cudaStream_t stream = nullptr;
    cudaStreamCreate(&stream);
    for (int run = 0; run < 5; ++run) {
      Floats x{1, 2, 3}, y(3);
      context->setTensorAddress("x", x.data());
      context->setTensorAddress("y", y.data());
      right += context->enqueueV3(stream) && cudaStreamSynchronize(stream) == cudaSuccess && y == x;
    }
    cudaStreamDestroy(stream);
    return right;
  };
  std::future<int> one = std::async(std::launch::async, runs), two = std::async(std::launch::async, runs);
  const auto limit = std::chrono::seconds(60);
  const bool ended =
      one.wait_for(limit) == std::future_status::ready && two.wait_for(limit) == std::future_status::ready;
  if (!ended) {  // the threads cannot be ended
    ADD_FAILURE() << "two runs wait for each other";
    std::fflush(nullptr);
    std::_Exit(EXIT_FAILURE);
  }
  EXPECT_EQ(one.get(), 5);
  EXPECT_EQ(two.get(), 5);
}

}  // namespace
}  // namespace kiln::promises
