#include "api/run/engine.h"

#include <set>

#include "api/base/convert.h"
#include "api/run/testing/runtime_fixture.h"

namespace kiln::api {
namespace {

using nvinfer1::DataType;
using nvinfer1::OptProfileSelector;
using nvinfer1::TensorIOMode;
using nvinfer1::TensorLocation;

TEST_F(RuntimeTest, EngineNamesItsTensors) {
  ASSERT_EQ(engine->getNbIOTensors(), 6);
  const char* expected[] = {"x", "shape", "index", "y", "z", "picked"};
  for (int i = 0; i < 6; ++i) {
    EXPECT_STREQ(engine->getIOTensorName(i), expected[i]);
    EXPECT_EQ(engine->getTensorIOMode(expected[i]), i < 3 ? TensorIOMode::kINPUT : TensorIOMode::kOUTPUT);
  }
  EXPECT_EQ(engine->getIOTensorName(6), nullptr);
  EXPECT_EQ(logger.last(), "ICudaEngine::getIOTensorName: index 6 is outside [0, 6)");
  EXPECT_STREQ(engine->getName(), "small");
  EXPECT_GT(engine->getNbLayers(), 0);
}

TEST_F(RuntimeTest, EngineDescribesItsTensors) {
  EXPECT_EQ(text(engine->getTensorShape("x")), "[-1, 4]");
  EXPECT_EQ(text(engine->getTensorShape("shape")), "[2]");
  EXPECT_EQ(text(engine->getTensorShape("picked")), "[1, 4]");
  EXPECT_EQ(text(engine->getTensorShape("z")), "[-1, -1]");
  EXPECT_EQ(engine->getTensorDataType("shape"), DataType::kINT64);
  EXPECT_EQ(engine->getTensorLocation("shape"), TensorLocation::kHOST);
  EXPECT_EQ(engine->getTensorLocation("index"), TensorLocation::kDEVICE);
  EXPECT_TRUE(engine->isShapeInferenceIO("shape"));
  EXPECT_FALSE(engine->isShapeInferenceIO("y"));
  EXPECT_EQ(engine->getTensorFormat("y"), nvinfer1::TensorFormat::kLINEAR);
  EXPECT_STREQ(engine->getTensorFormatDesc("y"), "Row major linear FP32 format (kLINEAR)");
  EXPECT_EQ(engine->getTensorVectorizedDim("y"), -1);
  EXPECT_EQ(engine->getTensorBytesPerComponent("y"), -1);
  EXPECT_EQ(engine->getTensorComponentsPerElement("y", 1), -1);
  EXPECT_EQ(logger.num_errors(), 0u);
}

TEST_F(RuntimeTest, EngineSaysWhichNamesThereAre) {
  EXPECT_EQ(engine->getTensorShape("nothing").nbDims, -1);
  EXPECT_EQ(logger.last(),
            "ICudaEngine::getTensorShape: there is no input or output 'nothing'; inputs: 'x', 'shape', 'index'; "
            "outputs: 'y', 'z', 'picked'");
  EXPECT_EQ(engine->getTensorDataType(nullptr), DataType::kFLOAT);
  EXPECT_EQ(logger.last(), "ICudaEngine::getTensorDataType: tensorName is null");
  EXPECT_STREQ(engine->getTensorFormatDesc("nothing"), "");
  EXPECT_EQ(engine->getTensorIOMode("nothing"), TensorIOMode::kNONE);  // a question, not a mistake
  EXPECT_EQ(engine->getTensorBytesPerComponent("y", 2), -1);
  EXPECT_EQ(logger.last(), "ICudaEngine::getTensorBytesPerComponent: optimization profile 2 is outside [0, 2)");
}

TEST_F(RuntimeTest, EngineTellsItsProfiles) {
  EXPECT_EQ(engine->getNbOptimizationProfiles(), 2);
  EXPECT_EQ(text(engine->getProfileShape("x", 0, OptProfileSelector::kMIN)), "[1, 4]");
  EXPECT_EQ(text(engine->getProfileShape("x", 1, OptProfileSelector::kMAX)), "[8, 4]");
  EXPECT_EQ(text(engine->getProfileShape("index", 1, OptProfileSelector::kOPT)), "[1]");
  const int64_t* wide = engine->getProfileTensorValuesV2("shape", 1, OptProfileSelector::kOPT);
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide[0], 4);
  EXPECT_EQ(wide[1], 6);
  const int32_t* narrow = engine->getProfileTensorValues("shape", 0, OptProfileSelector::kMAX);
  ASSERT_TRUE(narrow);
  EXPECT_EQ(narrow[0], 32);
  EXPECT_EQ(logger.num_errors(), 0u);

  EXPECT_EQ(engine->getProfileShape("y", 0, OptProfileSelector::kMIN).nbDims, -1);
  EXPECT_EQ(logger.last(), "ICudaEngine::getProfileShape: 'y' is an output; inputs: 'x', 'shape', 'index'");
  EXPECT_EQ(engine->getProfileShape("x", 2, OptProfileSelector::kMIN).nbDims, -1);
  EXPECT_EQ(engine->getProfileShape("x", 0, static_cast<OptProfileSelector>(5)).nbDims, -1);
  EXPECT_EQ(engine->getProfileTensorValuesV2("x", 0, OptProfileSelector::kMIN), nullptr);
  EXPECT_EQ(logger.last(),
            "ICudaEngine::getProfileTensorValuesV2: 'x' is not a shape tensor: a profile has no values of it");
}

TEST_F(RuntimeTest, EngineTellsItsMemory) {
  const int64_t most = engine->getDeviceMemorySizeV2();
  EXPECT_GE(most, engine->getDeviceMemorySizeForProfileV2(0));
  EXPECT_EQ(most, std::max(engine->getDeviceMemorySizeForProfileV2(0), engine->getDeviceMemorySizeForProfileV2(1)));
  EXPECT_EQ(static_cast<int64_t>(engine->getDeviceMemorySize()), most);
  EXPECT_EQ(engine->getDeviceMemorySizeForProfileV2(-1), 0);
  EXPECT_GE(engine->getEngineStat(nvinfer1::EngineStat::kTOTAL_WEIGHTS_SIZE), 0);
  EXPECT_EQ(engine->getEngineStat(static_cast<nvinfer1::EngineStat>(9)), -1);
}

TEST_F(RuntimeTest, EngineSaysWhatIsMissing) {
  EXPECT_FALSE(engine->isRefittable());
  EXPECT_FALSE(engine->setWeightStreamingBudgetV2(1));
  EXPECT_EQ(logger.last(), "ICudaEngine::setWeightStreamingBudgetV2: not in Kiln yet");
  EXPECT_EQ(nvinfer1::createInferRefitter(*engine, logger), nullptr);
  EXPECT_EQ(logger.last(), "createInferRefitter: not in Kiln yet");
  recorder.reportError(nvinfer1::ErrorCode::kSUCCESS, "");  // the refitter's logger was told alone
  const std::unique_ptr<nvinfer1::ISerializationConfig> config(engine->createSerializationConfig());
  ASSERT_TRUE(config);
  EXPECT_TRUE(config->setFlag(nvinfer1::SerializationFlag::kEXCLUDE_LEAN_RUNTIME));
  EXPECT_TRUE(std::unique_ptr<nvinfer1::IHostMemory>(engine->serializeWithConfig(*config)));
  EXPECT_TRUE(config->setFlag(nvinfer1::SerializationFlag::kEXCLUDE_WEIGHTS));
  EXPECT_FALSE(engine->serializeWithConfig(*config));
  EXPECT_EQ(logger.last(), "ICudaEngine::serializeWithConfig: SerializationFlag::kEXCLUDE_WEIGHTS is not in Kiln yet");
  EXPECT_FALSE(config->setFlags(64));
  EXPECT_EQ(config->getFlags(), 3u);
}

}  // namespace
}  // namespace kiln::api
