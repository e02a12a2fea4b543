#include "api/run/inspector.h"

#include "api/base/convert.h"
#include "api/run/testing/runtime_fixture.h"
#include "tensor/named_format.h"

namespace kiln::api {
namespace {

using nvinfer1::IEngineInspector;
using nvinfer1::LayerInformationFormat;
using nvinfer1::ProfilingVerbosity;

class InspectorTest : public RuntimeTest {
 protected:
  /// An inspector of the same network, built with that verbosity.
  IEngineInspector& inspect(ProfilingVerbosity verbosity) {
    const auto bytes = small_plan_bytes(verbosity);
    inspector.reset();
    engine.reset(runtime->deserializeCudaEngine(bytes.data(), bytes.size()));
    inspector.reset(engine->createEngineInspector());
    return *inspector;
  }
  void TearDown() override {
    inspector.reset();
    RuntimeTest::TearDown();
  }
  std::unique_ptr<IEngineInspector> inspector;
};

bool has(const char* text, const char* part) { return text && std::string(text).find(part) != std::string::npos; }

TEST_F(InspectorTest, NamesLayers) {
  IEngineInspector& names = inspect(ProfilingVerbosity::kLAYER_NAMES_ONLY);
  const std::string first = names.getLayerInformation(0, LayerInformationFormat::kONELINE);
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(names.getLayerInformation(0, LayerInformationFormat::kJSON), "\"" + first + "\"");
  const char* all = names.getEngineInformation(LayerInformationFormat::kJSON);
  EXPECT_TRUE(has(all, "\"Layers\"")) << all;
  EXPECT_TRUE(has(all, "\"Bindings\"")) << all;
  EXPECT_TRUE(has(all, "relu")) << all;
  EXPECT_FALSE(has(all, "TacticName")) << all;
  const char* lines = names.getEngineInformation(LayerInformationFormat::kONELINE);
  EXPECT_EQ(std::string(lines).find("Layers:\n" + first + "\n"), 0U) << lines;
  EXPECT_TRUE(has(lines, "\n\nBindings:\nx\nshape\nindex\ny\nz\npicked\n")) << lines;
}

TEST_F(InspectorTest, DescribesLayersInDetail) {
  IEngineInspector& detailed = inspect(ProfilingVerbosity::kDETAILED);
  const char* all = detailed.getEngineInformation(LayerInformationFormat::kJSON);
  for (const char* key : {"\"Name\"", "\"LayerType\"", "\"Inputs\"", "\"Outputs\"", "\"TacticName\"", "\"Dimensions\"",
                          "\"Format/Datatype\"", "\"Row major linear FP32\"", "\"StreamId\"", "\"Metadata\""})
    EXPECT_TRUE(has(all, key)) << key << " in " << all;
}

/// The line that TensorRT prints, field by field: programs take it apart at its commas.
TEST_F(InspectorTest, PrintsALayerInALine) {
  IEngineInspector& detailed = inspect(ProfilingVerbosity::kDETAILED);
  const std::string line = detailed.getLayerInformation(0, LayerInformationFormat::kONELINE);
  const std::string before =
      "Name: relu, LayerType: Activation, Inputs: [ { Name: x, Location: Device, Dimensions: [-1,4], Format/Datatype: "
      "Row major linear FP32 }], Outputs: [ { Name: y, Location: Device, Dimensions: [-1,4], Format/Datatype: Row "
      "major "
      "linear FP32 }], TacticName: ";
  ASSERT_EQ(line.substr(0, before.size()), before);
  const std::string rest = line.substr(before.size());
  const size_t stream = rest.find(", StreamId: 0, Metadata: ");
  ASSERT_NE(stream, std::string::npos) << rest;
  EXPECT_EQ(rest.find(','), stream) << rest;  // the tactic's own name has none
  EXPECT_GT(stream, 0U);
}

TEST_F(InspectorTest, KnowsTheShapesOfAContext) {
  IEngineInspector& detailed = inspect(ProfilingVerbosity::kDETAILED);
  const std::unique_ptr<nvinfer1::IExecutionContext> context(engine->createExecutionContext());
  ASSERT_TRUE(detailed.setExecutionContext(context.get()));
  EXPECT_TRUE(has(detailed.getLayerInformation(0, LayerInformationFormat::kONELINE), "Dimensions: [-1,4]"));
  const int64_t shape[2] = {6, 2};
  EXPECT_TRUE(context->setInputShape("x", nvinfer1::Dims{2, {3, 4}}));
  EXPECT_TRUE(context->setInputTensorAddress("shape", shape));
  EXPECT_TRUE(has(detailed.getLayerInformation(0, LayerInformationFormat::kONELINE), "Dimensions: [3,4]"));
  EXPECT_TRUE(detailed.setExecutionContext(nullptr));
}

/// TensorRT's words: programs compare them whole.
TEST(FormatWords, HasTensorRTsWords) {
  const auto of = [](nvinfer1::TensorFormat format, DType dtype, int rank) {
    return format_words(*from_api(format, rank), dtype, rank);
  };
  using nvinfer1::TensorFormat;
  EXPECT_EQ(of(TensorFormat::kLINEAR, DType::kF32, 4), "Row major linear FP32");
  EXPECT_EQ(of(TensorFormat::kLINEAR, DType::kF16, 2), "Row major linear FP16 format");
  EXPECT_EQ(of(TensorFormat::kLINEAR, DType::kBF16, 2), "Row major linear BFloat16 format");
  EXPECT_EQ(of(TensorFormat::kLINEAR, DType::kI8, 2), "Row major Int8 format");
  EXPECT_EQ(of(TensorFormat::kLINEAR, DType::kI32, 2), "Row major linear Int32");
  EXPECT_EQ(of(TensorFormat::kLINEAR, DType::kI64, 2), "Row major linear Int64 format");
  EXPECT_EQ(of(TensorFormat::kLINEAR, DType::kBool, 2), "Row major linear BOOL");
  EXPECT_EQ(of(TensorFormat::kLINEAR, DType::kU8, 2), "Row major linear UInt8 format");
  EXPECT_EQ(of(TensorFormat::kHWC, DType::kF32, 4), "Channel major FP32 format");
  EXPECT_EQ(of(TensorFormat::kDHWC, DType::kF32, 5), "Channel major FP32 format with 3 spatial dimensions");
  EXPECT_EQ(of(TensorFormat::kHWC8, DType::kF16, 4), "Channel major FP16 format where channel % 8 == 0");
  EXPECT_EQ(of(TensorFormat::kCHW2, DType::kF16, 4), "Two wide channel vectorized row major FP16 format");
  EXPECT_EQ(of(TensorFormat::kCHW4, DType::kI8, 4), "Four wide channel vectorized row major Int8 format");
  EXPECT_EQ(of(TensorFormat::kCHW16, DType::kF16, 4), "Sixteen wide channel vectorized row major FP16 format");
  EXPECT_EQ(of(TensorFormat::kCHW32, DType::kI8, 4), "Thirty-two wide channel vectorized row major Int8 format");
}

TEST_F(InspectorTest, TellsNothingIfBuiltSo) {
  IEngineInspector& silent = inspect(ProfilingVerbosity::kNONE);
  EXPECT_STREQ(silent.getLayerInformation(0, LayerInformationFormat::kONELINE), "");
  EXPECT_FALSE(has(silent.getEngineInformation(LayerInformationFormat::kJSON), "relu"));
}

TEST_F(InspectorTest, FollowsAContext) {
  IEngineInspector& names = inspect(ProfilingVerbosity::kLAYER_NAMES_ONLY);
  const std::unique_ptr<nvinfer1::IExecutionContext> context(engine->createExecutionContext());
  EXPECT_TRUE(names.setExecutionContext(context.get()));
  EXPECT_EQ(names.getExecutionContext(), context.get());
  EXPECT_TRUE(context->setOptimizationProfileAsync(1, nullptr));
  EXPECT_TRUE(names.getLayerInformation(0, LayerInformationFormat::kONELINE));
  EXPECT_EQ(names.getLayerInformation(99, LayerInformationFormat::kONELINE), nullptr);
  EXPECT_EQ(names.getLayerInformation(0, static_cast<LayerInformationFormat>(4)), nullptr);
  EXPECT_EQ(logger.last(), "IEngineInspector::getLayerInformation: format 4 is not a LayerInformationFormat");
  EXPECT_TRUE(names.setExecutionContext(nullptr));
}

}  // namespace
}  // namespace kiln::api
