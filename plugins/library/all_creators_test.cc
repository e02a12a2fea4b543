// What holds for each of the library's creators.
#include <NvInferPlugin.h>
#include <NvOnnxParser.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "api/onnx/create.h"
#include "onnx/test_model.h"
#include "testing/examples.h"
#include "testing/holders.h"

namespace kiln::plugins::testing {
namespace {

using api::testing::Workbench;

TEST(AllCreators, HaveExamples) {
  std::set<const Definition*> seen;
  for (const ExamplePlugin& one : example_plugins()) seen.insert(one.plugin.definition);
  for (const Definition& definition : definitions())
    EXPECT_TRUE(seen.contains(&definition)) << definition.name << ' ' << definition.version;
  EXPECT_EQ(seen.size(), 76U) << "75 of TensorRT's, and version 2 of CustomGeluPluginDynamic";
}

/// The error of adding a plugin to a network with these inputs by the API.
std::string error_of_adding(const ExamplePlugin& one, std::span<nv::ITensor* const> inputs, Workbench& w) {
  const std::vector<nv::PluginField> fields = one.plugin.fields.views();
  const nv::PluginFieldCollection collection{static_cast<int32_t>(fields.size()), fields.data()};
  const Definition& definition = *one.plugin.definition;
  nv::IPluginCreatorInterface& creator = *getPluginRegistry()->getCreator(definition.name, definition.version);
  const auto count = static_cast<int32_t>(inputs.size());
  bool added = false;
  if (definition.generation == Generation::kV3) {
    const std::unique_ptr<nv::IPluginV3> plugin(
        static_cast<nv::IPluginCreatorV3One&>(creator).createPlugin("plugin", &collection, nv::TensorRTPhase::kBUILD));
    added = w->addPluginV3(inputs.data(), count, nullptr, 0, *plugin) != nullptr;
  } else {
    const OwnedV2 plugin(static_cast<nv::IPluginCreator&>(creator).createPlugin("plugin", &collection));
    added = w->addPluginV2(inputs.data(), count, *plugin) != nullptr;
  }
  return added ? "" : w.take_error();
}

/// Keeps what the plugins say, and outlives them as the logger of a test would not.
class Listener : public nv::ILogger {
 public:
  void log(Severity, const char* message) noexcept override { said += message; }
  std::string said;
};
Listener& listener() {
  static Listener& result = *new Listener;
  return result;
}

TEST(AllCreators, RefuseToHaveNoInputs) {
  ASSERT_TRUE(initLibNvInferPlugins(&listener(), ""));
  Workbench w;
  for (const ExamplePlugin& one : example_plugins()) {
    SCOPED_TRACE(one.what);
    const bool takes_none = one.plugin.definition->min_inputs == 0;
    const std::string error = error_of_adding(one, {}, w);
    EXPECT_EQ(error.empty(), takes_none) << error;
    EXPECT_EQ(static_cast<bool>(output_types(one.plugin, nullptr, 0)), takes_none);
    const auto supported = supports(one.plugin, {}, 0, nv::DataType::kFLOAT);
    EXPECT_EQ(static_cast<bool>(supported), takes_none);
    if (!takes_none && !supported) {
      EXPECT_NE(supported.error().message.find("there are 0 inputs; it takes"), std::string::npos);
    }
  }
}

TEST(AllCreators, RefuseOnnxNodesWithoutInputs) {
  ASSERT_TRUE(initLibNvInferPlugins(&listener(), ""));
  using namespace onnx::test;
  const auto number = [](const char* name) { return attribute(name, 1).fixed(onnx::field::attribute::kF, 0.5F); };
  const Proto file = model(graph(
      {.nodes = {node("EfficientNMS_TRT", {}, {"count", "boxes", "scores", "classes"}, "it",
                      {number("score_threshold"), number("iou_threshold"), int_attribute("max_output_boxes", 4)})},
       .outputs = {value("boxes", 1, {1, 4, 4})}}));
  Workbench w;
  const std::unique_ptr<nvonnxparser::IParser> parser(
      static_cast<nvonnxparser::IParser*>(api::create_parser(w.network.get(), &w.logger, NV_ONNX_PARSER_VERSION)));
  listener().said.clear();
  EXPECT_FALSE(parser->parse(file.bytes.data(), file.bytes.size(), nullptr));
  ASSERT_GT(parser->getNbErrors(), 0);
  const std::string error = parser->getError(0)->desc();
  EXPECT_NE(error.find("plugin 'EfficientNMS_TRT' version '1': getOutputDataType: there are 0 inputs; it takes 2 to 3"),
            std::string::npos)
      << error;
  EXPECT_EQ(listener().said, "") << "the error has the words";
}

Shape shape_of(const std::vector<int64_t>& extents) { return {extents.begin(), extents.end()}; }
std::string text_of(const std::vector<Tensor>& inputs) {
  std::string text;
  for (const Tensor& input : inputs) {
    text += text.empty() ? "[" : ", [";
    for (const int64_t extent : input.extents) text += str(extent, ' ');
    text += "]";
  }
  return text;
}

/// Expects the layers to be of the shapes that the plugin tells, or one of both to refuse the inputs. Returns whether
/// they were taken.
bool expect_told_is_computed(const Plugin& plugin, const std::vector<Tensor>& inputs) {
  std::vector<Shape> shapes;
  for (const Tensor& input : inputs) shapes.push_back(shape_of(input.extents));
  const Result<std::vector<Shape>> told = output_shapes(plugin, shapes);
  if (!told) return false;
  Workbench w;
  std::vector<nv::ITensor*> tensors;
  for (const Tensor& input : inputs)
    tensors.push_back(
        w->addInput(str("x", tensors.size()).c_str(), input.type, dims_of(std::span<const int64_t>(input.extents))));
  Layers layers(*w.network);
  const std::vector<float> scales(inputs.size() + told->size(), 1.0F);
  const Result<std::vector<nv::ITensor*>> computed = add_layers(plugin, layers, tensors, scales);
  if (!computed) return false;
  EXPECT_EQ(computed->size(), told->size());
  for (size_t i = 0; i < std::min(computed->size(), told->size()); ++i) {
    const nv::Dims dims = (*computed)[i]->getDimensions();
    std::vector<int64_t> is(dims.d, dims.d + dims.nbDims), says;
    for (const Dim& dim : (*told)[i]) says.push_back(dim.number().value_or(-1));
    EXPECT_EQ(says, is) << "output " << i;
  }
  return true;
}

/// Shapes that are wrong in one place: an axis more or less, an extent of 1 or one that is greater.
std::vector<std::vector<int64_t>> changed(const std::vector<int64_t>& extents) {
  std::vector<std::vector<int64_t>> all;
  for (size_t axis = 0; axis < extents.size(); ++axis)
    for (const int64_t other : {int64_t{1}, extents[axis] + 1, 2 * extents[axis]}) {
      all.push_back(extents);
      all.back()[axis] = other;
    }
  all.push_back(extents);
  all.back().push_back(1);
  all.push_back(extents);
  all.back().insert(all.back().begin(), 1);
  if (!extents.empty()) all.emplace_back(extents.begin(), extents.end() - 1);
  return all;
}

TEST(AllCreators, ComputeTheShapesThatTheyTell) {
  int num_taken = 0, num_refused = 0;  // of the shapes that are wrong for some plugin
  for (const ExamplePlugin& one : example_plugins()) {
    SCOPED_TRACE(one.what);
    EXPECT_TRUE(expect_told_is_computed(one.plugin, one.inputs));
    for (size_t i = 0; i < one.inputs.size(); ++i)
      for (std::vector<int64_t>& extents : changed(one.inputs[i].extents)) {
        std::vector<Tensor> inputs = one.inputs;
        inputs[i].extents = std::move(extents);
        SCOPED_TRACE(text_of(inputs));
        ++(expect_told_is_computed(one.plugin, inputs) ? num_taken : num_refused);
      }
  }
  EXPECT_GT(num_taken, 600) << "else few shapes are compared";
  EXPECT_GT(num_refused, 1500) << "else few refusals are";
}

}  // namespace
}  // namespace kiln::plugins::testing
