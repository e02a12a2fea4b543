// DOUBLE of ONNX models, which the API has no type for: what a debug listener is shown of it.
#include "api/onnx/bodies_program.h"
#include "api/run/testing/shared_memory.h"

namespace kiln::api {
namespace {

using namespace bodies;

/// Notes floats as "name = 1 2", and the type of others.
struct Listener final : nv::IDebugListener {
  bool processDebugTensor(const void* address, nv::TensorLocation, nv::DataType type, const nv::Dims& shape,
                          const char* name, cudaStream_t stream) override {
    int64_t count = 1;
    for (const int64_t extent : list(shape)) count *= extent;
    std::string& text = seen[name];
    text = type == nv::DataType::kFLOAT ? "" : str("type ", static_cast<int>(type));
    Floats values(static_cast<size_t>(count));
    if (type == nv::DataType::kFLOAT) {
      EXPECT_TRUE(testing::copy_on(stream, values.data(), address, values.size() * sizeof(float)));
      for (const float value : values) text += str(' ', value);
    }
    return true;
  }
  std::map<std::string, std::string> seen;
};

/// y = x / sum(x), in DOUBLE.
Proto shares() {
  constexpr int64_t kDouble = 11;
  return model(graph(
      {{node("Cast", {"x"}, {"wide"}, "", {int_attribute("to", kDouble)}), node("ReduceSum", {"wide"}, {"sum"}),
        node("Div", {"wide", "sum"}, {"share"}), node("Cast", {"share"}, {"y"}, "", {int_attribute("to", kFloat)})},
       {value("x", kFloat, {4})},
       {value("y", kFloat, {4})},
       {}}));
}

TEST(DoublesOfOnnx, AreShownToADebugListenerAsFloats) {
  const auto mark = [](nv::INetworkDefinition& network) {
    for (int i = 0; i < network.getNbLayers(); ++i) {
      nv::ITensor* const tensor = network.getLayer(i)->getOutput(0);
      EXPECT_EQ(tensor->getType(), nv::DataType::kFLOAT);  // as the listener is told
      if (std::string_view(tensor->getName()) != "y") {
        EXPECT_TRUE(network.markDebug(*tensor));
      }
    }
  };
  Program p(build(shares(), {}, mark));
  ASSERT_TRUE(p.context);
  Listener listener;
  ASSERT_TRUE(p.context->setDebugListener(&listener));
  ASSERT_TRUE(p.context->setAllTensorsDebugState(true));
  p.feed("x", {4}, Floats{1, 2, 4, 1});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.of<float>("y"), (Floats{0.125, 0.25, 0.5, 0.125}));
  EXPECT_EQ(listener.seen, (std::map<std::string, std::string>{
                               {"wide", " 1 2 4 1"}, {"sum", " 8"}, {"share", " 0.125 0.25 0.5 0.125"}}));
}
TEST(DoublesOfOnnx, AreShownAsUnfusedTensors) {
  const auto mark = [](nv::INetworkDefinition& network) { network.markUnfusedTensorsAsDebugTensors(); };
  Program p(build(shares(), {}, mark));
  ASSERT_TRUE(p.context);
  Listener listener;
  ASSERT_TRUE(p.context->setDebugListener(&listener));
  ASSERT_TRUE(p.context->setUnfusedTensorsDebugState(true));
  p.feed("x", {4}, Floats{1, 2, 4, 1});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(listener.seen["sum"], " 8");
}

}  // namespace
}  // namespace kiln::api
