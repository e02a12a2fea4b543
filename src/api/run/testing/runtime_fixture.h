/// A runtime, an engine of small_plan.h, which is a plan for the host, and the witnesses of their errors.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "api/base/testing/witness.h"
#include "api/run/testing/shared_memory.h"
#include "api/run/testing/small_plan.h"

namespace kiln::api {

class RuntimeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (testing::is_on_gpu()) GTEST_SKIP() << "the plan and its streams are the host's; KILN_DEVICE=cpu runs this";
    runtime.reset(nvinfer1::createInferRuntime(logger));
    ASSERT_TRUE(runtime);
    runtime->setErrorRecorder(&recorder);
    static const std::vector<std::byte> bytes = small_plan_bytes();
    engine.reset(runtime->deserializeCudaEngine(bytes.data(), bytes.size()));
    ASSERT_TRUE(engine) << logger.last();
  }
  void TearDown() override { EXPECT_EQ(logger.num_errors(), static_cast<size_t>(recorder.getNbErrors())); }

  WitnessLogger logger;
  WitnessRecorder recorder;
  std::unique_ptr<nvinfer1::IRuntime> runtime;
  std::unique_ptr<nvinfer1::ICudaEngine> engine;
};

}  // namespace kiln::api
