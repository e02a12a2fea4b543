#include "api/run/runtime.h"

#include <KilnFileReader.h>
#include <NvInfer.h>  // HardwareCompatibilityLevel

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "api/run/testing/runtime_fixture.h"
#include "plan/writer.h"

namespace kiln::api {
namespace {

using nvinfer1::ICudaEngine;

class RuntimeBytes : public RuntimeTest {
 protected:
  bool loads(const std::vector<std::byte>& plan) {
    const std::unique_ptr<ICudaEngine> loaded(runtime->deserializeCudaEngine(plan.data(), plan.size()));
    return loaded != nullptr;
  }
  std::vector<std::byte> bytes = small_plan_bytes();
};

TEST_F(RuntimeBytes, RefusesWhatIsNoPlan) {
  EXPECT_FALSE(runtime->deserializeCudaEngine(nullptr, 10));
  EXPECT_EQ(logger.last(), "IRuntime::deserializeCudaEngine: blob is null");
  EXPECT_FALSE(loads({}));
  EXPECT_FALSE(loads(std::vector<std::byte>(1000)));
  for (const size_t size : {bytes.size() / 2, bytes.size() - 1, size_t{40}})
    EXPECT_FALSE(loads({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)})) << size;
  EXPECT_NE(logger.last().find("truncated"), std::string::npos) << logger.last();
}

TEST_F(RuntimeBytes, KnowsARealTensorRTPlan) {
  std::vector<std::byte> plan(4096);
  const uint32_t magic = 0x74727466;
  std::memcpy(plan.data(), &magic, sizeof magic);
  EXPECT_FALSE(loads(plan));
  EXPECT_NE(logger.last().find("TensorRT"), std::string::npos) << logger.last();
}

TEST_F(RuntimeBytes, SurvivesFlippedBits) {
  for (size_t at = 0; at < bytes.size(); at += 97) {
    std::vector<std::byte> damaged = bytes;
    damaged[at] ^= std::byte{0x10};
    loads(damaged);  // accepts (padding) or explains
  }
  EXPECT_TRUE(loads(bytes));
}

TEST_F(RuntimeBytes, CopiesWhatItNeeds) {
  std::vector<std::byte> copy = bytes;
  const std::unique_ptr<ICudaEngine> loaded(runtime->deserializeCudaEngine(copy.data(), copy.size()));
  std::ranges::fill(copy, std::byte{0xff});
  ASSERT_TRUE(loaded);
  const std::unique_ptr<nvinfer1::IHostMemory> again(loaded->serialize());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->type(), nvinfer1::DataType::kINT8);
  ASSERT_EQ(again->size(), bytes.size());
  EXPECT_EQ(std::memcmp(again->data(), bytes.data(), bytes.size()), 0);
}

/// Gives a few bytes at a time, and an error or an exception where asked to.
class Reader final : public nvinfer1::IStreamReader {
 public:
  explicit Reader(const std::vector<std::byte>& bytes, int64_t fails_at = -1) : bytes_(bytes), fails_at_(fails_at) {}
  int64_t read(void* to, int64_t count) override {
    if (fails_at_ >= 0 && at_ >= fails_at_) throw std::runtime_error("the disk is gone");
    const int64_t given = std::min({count, int64_t{777}, static_cast<int64_t>(bytes_.size()) - at_});
    std::memcpy(to, bytes_.data() + at_, static_cast<size_t>(given));
    at_ += given;
    return given;
  }

 private:
  const std::vector<std::byte>& bytes_;
  int64_t at_ = 0, fails_at_;
};

class ReaderV2 final : public nvinfer1::IStreamReaderV2 {
 public:
  explicit ReaderV2(const std::vector<std::byte>& bytes) : bytes_(bytes) {}
  int64_t read(void* to, int64_t count, cudaStream_t) noexcept override {
    const int64_t given = std::min(count, static_cast<int64_t>(bytes_.size()) - at_);
    if (given > 0) std::memcpy(to, bytes_.data() + at_, static_cast<size_t>(given));
    at_ += std::max<int64_t>(given, 0);
    return std::max<int64_t>(given, 0);
  }
  bool seek(int64_t offset, nvinfer1::SeekPosition where) noexcept override {
    const auto size = static_cast<int64_t>(bytes_.size());
    at_ = offset + (where == nvinfer1::SeekPosition::kSET ? 0 : where == nvinfer1::SeekPosition::kCUR ? at_ : size);
    return at_ >= 0 && at_ <= size;
  }

 private:
  const std::vector<std::byte>& bytes_;
  int64_t at_ = 0;
};

TEST_F(RuntimeBytes, ReadsFromStreams) {
  Reader reader(bytes);
  EXPECT_TRUE(std::unique_ptr<ICudaEngine>(runtime->deserializeCudaEngine(reader))) << logger.last();
  ReaderV2 second(bytes);
  EXPECT_TRUE(std::unique_ptr<ICudaEngine>(runtime->deserializeCudaEngine(second))) << logger.last();
  EXPECT_EQ(logger.num_errors(), 0u);
}

class FileReader final : public IFileReader {
 public:
  explicit FileReader(const char* path) : path_(path) {}
  char const* path() const noexcept override { return path_; }
  int64_t read(void*, int64_t, cudaStream_t) noexcept override { return ++num_reads, -1; }
  bool seek(int64_t, nvinfer1::SeekPosition) noexcept override { return false; }
  int num_reads = 0;

 private:
  const char* path_;
};

TEST_F(RuntimeBytes, MapsTheFileOfAReaderThatNamesOne) {
  const std::string path = ::testing::TempDir() + "mapped.plan";
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  FileReader reader(path.c_str());
  EXPECT_TRUE(std::unique_ptr<ICudaEngine>(runtime->deserializeCudaEngine(reader))) << logger.last();
  EXPECT_EQ(reader.num_reads, 0);

  std::filesystem::remove(path);
  EXPECT_FALSE(runtime->deserializeCudaEngine(reader));
  EXPECT_TRUE(logger.last().contains(path)) << logger.last();
  FileReader nameless(nullptr);
  EXPECT_FALSE(runtime->deserializeCudaEngine(nameless));
  EXPECT_EQ(nameless.num_reads, 1);
}

TEST_F(RuntimeBytes, SurvivesStreamsThatFail) {
  Reader throws(bytes, 1000);
  EXPECT_FALSE(runtime->deserializeCudaEngine(throws));
  EXPECT_EQ(logger.last(), "IRuntime::deserializeCudaEngine: unexpected exception: the disk is gone");
  const std::vector<std::byte> half(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2));
  Reader ends(half);
  EXPECT_FALSE(runtime->deserializeCudaEngine(ends));
}

TEST_F(RuntimeTest, NamesTheRemedyForAPlanOfAGpu) {
  plan::Plan plan = *small_plan(nvinfer1::ProfilingVerbosity::kNONE);
  plan.device_kind = "cuda";
  const std::vector<std::byte> bytes = *plan::write_plan(plan);
  EXPECT_FALSE(runtime->deserializeCudaEngine(bytes.data(), bytes.size()));
  EXPECT_EQ(logger.last(),
            "IRuntime::deserializeCudaEngine: plan: built for device 'cuda', this is 'cpu'; rebuild it here, or run it "
            "with KILN_DEVICE=cuda");
}

TEST_F(RuntimeTest, KeepsItsSettings) {
  EXPECT_EQ(runtime->getLogger(), &logger);
  EXPECT_EQ(runtime->getErrorRecorder(), &recorder);
  EXPECT_EQ(engine->getErrorRecorder(), &recorder);  // the engine begins with its runtime's
  EXPECT_TRUE(runtime->setMaxThreads(3));
  EXPECT_EQ(runtime->getMaxThreads(), 3);
  EXPECT_FALSE(runtime->setMaxThreads(0));
  EXPECT_EQ(logger.last(), "IRuntime::setMaxThreads: maxThreads is 0; at least 1 needed");
  runtime->setTemporaryDirectory("/tmp/there");
  EXPECT_STREQ(runtime->getTemporaryDirectory(), "/tmp/there");
  runtime->setTemporaryDirectory(nullptr);
  EXPECT_EQ(runtime->getTemporaryDirectory(), nullptr);
  runtime->setEngineHostCodeAllowed(true);
  EXPECT_TRUE(runtime->getEngineHostCodeAllowed());
  EXPECT_EQ(runtime->getNbDLACores(), 0);
  EXPECT_FALSE(runtime->loadRuntime("lean.so"));
  EXPECT_EQ(logger.last(), "IRuntime::loadRuntime: not in Kiln yet");
}

TEST_F(RuntimeTest, BeginsAsTensorRTDoes) {
  const std::unique_ptr<nvinfer1::IRuntime> r(nvinfer1::createInferRuntime(logger));
  EXPECT_EQ(r->getDLACore(), -1);
  EXPECT_EQ(r->getNbDLACores(), 0);
  r->setDLACore(0);  // does nothing without one
  EXPECT_EQ(r->getDLACore(), -1);
  EXPECT_EQ(logger.num_errors(), 0u);
  EXPECT_EQ(r->getMaxThreads(), 1);
  EXPECT_EQ(r->getTemporaryDirectory(), nullptr);
  EXPECT_EQ(r->getTempfileControlFlags(), 3u);
  EXPECT_FALSE(r->getEngineHostCodeAllowed());
  EXPECT_EQ(r->getErrorRecorder(), nullptr);
  EXPECT_EQ(r->getLogger(), &logger);
  const std::unique_ptr<nvinfer1::IRuntimeConfig> run(engine->createRuntimeConfig());
  EXPECT_EQ(run->getExecutionContextAllocationStrategy(), nvinfer1::ExecutionContextAllocationStrategy::kSTATIC);
  const std::unique_ptr<nvinfer1::ISerializationConfig> write(engine->createSerializationConfig());
  EXPECT_EQ(write->getFlags(), 0u);
}

TEST_F(RuntimeTest, EnginesAndContextsBeginAsTensorRTs) {
  EXPECT_EQ(engine->getEngineCapability(), nvinfer1::EngineCapability::kSTANDARD);
  EXPECT_EQ(engine->getHardwareCompatibilityLevel(), nvinfer1::HardwareCompatibilityLevel::kNONE);
  EXPECT_FALSE(engine->hasImplicitBatchDimension());
  EXPECT_FALSE(engine->isRefittable());
  EXPECT_EQ(engine->getNbAuxStreams(), 0);
  EXPECT_EQ(engine->getAliasedInputTensor("y"), nullptr);
  EXPECT_EQ(engine->getStreamableWeightsSize(), 0);
  EXPECT_EQ(engine->getWeightStreamingBudgetV2(), 0);
  const std::unique_ptr<nvinfer1::IExecutionContext> c(engine->createExecutionContext());
  EXPECT_STREQ(c->getName(), "");
  EXPECT_FALSE(c->getDebugSync());
  EXPECT_TRUE(c->getEnqueueEmitsProfile());
  EXPECT_EQ(c->getProfiler(), nullptr);
  EXPECT_EQ(c->getOptimizationProfile(), 0);
  EXPECT_EQ(c->getPersistentCacheLimit(), 0u);
  EXPECT_EQ(c->getNvtxVerbosity(), engine->getProfilingVerbosity());
  EXPECT_EQ(c->getInputConsumedEvent(), nullptr);
  EXPECT_EQ(c->getTemporaryStorageAllocator(), nullptr);
  EXPECT_EQ(c->getOutputAllocator("y"), nullptr);
  EXPECT_EQ(c->getTensorAddress("y"), nullptr);
  EXPECT_EQ(c->getDebugListener(), nullptr);
  EXPECT_EQ(logger.num_errors(), 0u);
}

TEST(Exports, AnswerWithoutAnyObject) {
  EXPECT_EQ(createInferRuntime_INTERNAL(nullptr, NV_TENSORRT_VERSION), nullptr);
  WitnessLogger logger;
  EXPECT_EQ(createInferRuntime_INTERNAL(&logger, 80601), nullptr);
  EXPECT_NE(logger.last().find("80601"), std::string::npos);
  EXPECT_EQ(getInferLibVersion(), NV_TENSORRT_VERSION);
  EXPECT_EQ(getInferLibMajorVersion(), 10);
  EXPECT_EQ(getInferLibMinorVersion(), 16);
  EXPECT_NE(getPluginRegistry(), nullptr);
}

}  // namespace
}  // namespace kiln::api
