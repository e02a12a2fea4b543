#include "api/run/inspector.h"

#include "api/run/testing/runtime_fixture.h"

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
  EXPECT_TRUE(has(names.getEngineInformation(LayerInformationFormat::kONELINE), "Bindings: x shape index y z picked"));
}

TEST_F(InspectorTest, DescribesLayersInDetail) {
  IEngineInspector& detailed = inspect(ProfilingVerbosity::kDETAILED);
  const char* all = detailed.getEngineInformation(LayerInformationFormat::kJSON);
  for (const char* key : {"\"Name\"", "\"LayerType\"", "\"Inputs\"", "\"Outputs\"", "\"TacticName\"", "\"Dimensions\"",
                          "\"Format/Datatype\"", "row-major linear f32 (kLINEAR)"})
    EXPECT_TRUE(has(all, key)) << key << " in " << all;
  const char* line = detailed.getLayerInformation(0, LayerInformationFormat::kONELINE);
  EXPECT_TRUE(has(line, "LayerType: ")) << line;
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
