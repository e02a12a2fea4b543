// Standard plugins whose inputs have extents that only a run tells: what does not fit is refused as it is where the
// network tells the extents.
#include <NvInferPlugin.h>
#include <gtest/gtest.h>

#include "testing/examples.h"
#include "testing/holders.h"

namespace kiln::plugins::testing {
namespace {

using api::testing::list;
using api::testing::Workbench;

nv::Dims dims_of(const Tensor& tensor) { return plugins::dims_of(std::span<const int64_t>(tensor.extents)); }

/// Axes from the back that plugins want to be known when networks are built.
int known_axes_of(std::string_view plugin, size_t input) {
  if (plugin == "RPROI_TRT" && input == 2) return 2;
  if (plugin == "VoxelGeneratorPlugin" && input == 0) return 1;
  if (plugin == "ScatterND" && input == 1) return 1;
  if (plugin == "ResizeNearest_TRT") return 2;
  return 0;
}

/// A plugin's layers where runs tell all extents, in a context whose shapes change.
class Layered {
 public:
  explicit Layered(const ExamplePlugin& one) : one_(one), layers_(*w_.network) {
    nv::IOptimizationProfile& profile = *w_.builder->createOptimizationProfile();
    std::vector<nv::ITensor*> tensors;
    for (const Tensor& input : one.inputs) {
      const int known = known_axes_of(one.plugin.definition->name, tensors.size());
      nv::Dims unknown = dims_of(input), least = unknown, most = unknown;
      for (int axis = 0; axis < unknown.nbDims - known; ++axis) {
        unknown.d[axis] = -1;
        least.d[axis] = 1;
        most.d[axis] = 2 * most.d[axis] + 1;
      }
      names_.push_back(str("x", names_.size()));
      const char* const name = names_.back().c_str();
      tensors.push_back(w_->addInput(name, input.type, unknown));
      profile.setDimensions(name, nv::OptProfileSelector::kMIN, least);
      profile.setDimensions(name, nv::OptProfileSelector::kOPT, dims_of(input));
      profile.setDimensions(name, nv::OptProfileSelector::kMAX, most);
    }
    if (!tensors.empty()) w_.config->addOptimizationProfile(&profile);
    w_.config->setBuilderOptimizationLevel(0);
    add_layers(tensors);
    const std::unique_ptr<nv::IHostMemory> plan(w_.builder->buildSerializedNetwork(*w_.network, *w_.config));
    if (!plan) return;
    runtime_.reset(nv::createInferRuntime(logger_));
    engine_.reset(runtime_->deserializeCudaEngine(plan->data(), plan->size()));
    if (engine_) context_.reset(engine_->createExecutionContext());
  }
  bool is_built() const { return context_ != nullptr; }
  std::string build_error() { return w_.take_error(); }

  /// The error of binding these shapes.
  std::string bind(const std::vector<Tensor>& inputs) {
    logger_.errors.clear();
    bool fits = true;
    for (size_t i = 0; i < inputs.size(); ++i) fits &= context_->setInputShape(names_[i].c_str(), dims_of(inputs[i]));
    if (fits && context_->inferShapes(0, nullptr) == 0) return "";
    return logger_.errors.empty() ? "an error without words" : logger_.errors.front();
  }
  std::vector<int64_t> output(size_t i) const { return list(context_->getTensorShape(str("y", i).c_str())); }

 private:
  void add_layers(std::span<nv::ITensor* const> tensors) {
    const auto num_outputs = static_cast<size_t>(one_.plugin.computation->num_outputs());
    const std::vector<float> scales(tensors.size() + num_outputs, 1.0F);
    const auto outputs = plugins::add_layers(one_.plugin, layers_, tensors, scales);
    EXPECT_TRUE(outputs) << outputs.error().message << w_.take_error();
    for (size_t i = 0; outputs && i < outputs->size(); ++i) w_.mark((*outputs)[i], str("y", i).c_str());
  }
  const ExamplePlugin& one_;
  Workbench w_;
  Layers layers_;
  std::vector<std::string> names_;
  api::testing::Logger logger_;
  std::unique_ptr<nv::IRuntime> runtime_;
  std::unique_ptr<nv::ICudaEngine> engine_;
  std::unique_ptr<nv::IExecutionContext> context_;
};

/// What a plugin tells of its outputs if the network tells these shapes; nothing where it refuses them, or its layers
/// do.
std::optional<std::vector<Shape>> told(const Plugin& plugin, const std::vector<Tensor>& inputs) {
  std::vector<Shape> shapes;
  for (const Tensor& input : inputs) shapes.emplace_back(input.extents.begin(), input.extents.end());
  const Result<std::vector<Shape>> outputs = output_shapes(plugin, shapes);
  if (!outputs) return std::nullopt;
  Workbench w;
  std::vector<nv::ITensor*> tensors;
  for (const Tensor& input : inputs)
    tensors.push_back(w->addInput(str("x", tensors.size()).c_str(), input.type, dims_of(input)));
  Layers layers(*w.network);
  const std::vector<float> scales(inputs.size() + outputs->size(), 1.0F);
  if (!add_layers(plugin, layers, tensors, scales)) return std::nullopt;
  return *outputs;
}

std::string text_of(const std::vector<Tensor>& inputs) {
  std::string text;
  for (const Tensor& input : inputs) text += plugins::text_of(dims_of(input)) + " ";
  return text;
}

/// The inputs, with one extent of one of them changed.
std::vector<std::vector<Tensor>> changed(const ExamplePlugin& one) {
  std::vector<std::vector<Tensor>> all;
  for (size_t i = 0; i < one.inputs.size(); ++i) {
    const auto known = static_cast<size_t>(known_axes_of(one.plugin.definition->name, i));
    for (size_t axis = 0; axis + known < one.inputs[i].extents.size(); ++axis)
      for (const int64_t extent :
           {int64_t{1}, one.inputs[i].extents[axis] + 1, std::max<int64_t>(one.inputs[i].extents[axis] - 1, 1)}) {
        if (extent == one.inputs[i].extents[axis]) continue;
        all.push_back(one.inputs);
        all.back()[i].extents[axis] = extent;
      }
  }
  return all;
}

TEST(DynamicExtents, ThatDoNotFitAreRefusedAsStaticOnesAre) {
  static api::testing::Logger& lasting = *new api::testing::Logger;  // the library keeps it
  ASSERT_TRUE(initLibNvInferPlugins(&lasting, ""));
  int num_taken = 0, num_refused = 0;
  for (const ExamplePlugin& one : example_plugins()) {
    SCOPED_TRACE(one.what);
    Layered layered(one);
    EXPECT_TRUE(layered.is_built()) << layered.build_error();
    if (!layered.is_built()) continue;
    std::vector<std::vector<Tensor>> all = changed(one);
    all.push_back(one.inputs);
    for (const std::vector<Tensor>& inputs : all) {
      SCOPED_TRACE(text_of(inputs));
      const auto outputs = told(one.plugin, inputs);
      const std::string error = layered.bind(inputs);
      EXPECT_EQ(error.empty(), outputs.has_value()) << error;
      ++(error.empty() ? num_taken : num_refused);
      if (!error.empty()) {
        EXPECT_NE(error.find(one.plugin.definition->name), std::string::npos) << "names no plugin: " << error;
      }
      for (size_t i = 0; error.empty() && outputs && i < outputs->size(); ++i) {
        std::vector<int64_t> wanted;
        for (const Dim& dim : (*outputs)[i]) wanted.push_back(dim.number().value_or(-1));
        EXPECT_EQ(layered.output(i), wanted) << "output " << i;
      }
    }
  }
  EXPECT_GT(num_taken, 300) << "else few shapes are compared";
  EXPECT_GT(num_refused, 700) << "else few refusals are";
}

/// A plugin of version 2 in the branch of true, on x of `rank` unknown extents, from 1 to 12 each.
class InABranch : public ::testing::Test {
 protected:
  InABranch() {
    static api::testing::Logger& lasting = *new api::testing::Logger;  // the library keeps it
    EXPECT_TRUE(initLibNvInferPlugins(&lasting, ""));
    branches->setCondition(*w.input("c", {}, nv::DataType::kBOOL));
  }
  nv::ITensor* input(int32_t rank) {
    nv::Dims unknown{rank, {}}, least = unknown, most = unknown;
    std::fill_n(unknown.d, rank, -1), std::fill_n(least.d, rank, 1), std::fill_n(most.d, rank, 12);
    nv::IOptimizationProfile& profile = *w.builder->createOptimizationProfile();
    profile.setDimensions("x", nv::OptProfileSelector::kMIN, least);
    profile.setDimensions("x", nv::OptProfileSelector::kOPT, most);
    profile.setDimensions("x", nv::OptProfileSelector::kMAX, most);
    w.config->addOptimizationProfile(&profile);
    return branches->addInput(*w->addInput("x", nv::DataType::kFLOAT, unknown))->getOutput(0);
  }
  nv::ITensor* plugin(const char* name, const Attributes& attributes, nv::ITensor* x, int32_t output) {
    const std::vector<nv::PluginField> fields = attributes.fields();
    const nv::PluginFieldCollection collection{static_cast<int32_t>(fields.size()), fields.data()};
    auto& creator = static_cast<nv::IPluginCreator&>(*getPluginRegistry()->getCreator(name, "1"));
    const OwnedV2 made(creator.createPlugin("made", &collection));
    return w->addPluginV2(&x, 1, *made)->getOutput(output);
  }
  /// The error of a run with x all `number`, to `out`.
  std::string error_of(api::testing::Running& running, const nv::Dims& dims, float number) {
    api::testing::Shared<std::byte> condition{std::byte{1}};
    api::testing::Shared<float> in(1728, number);
    running.context->setTensorAddress("c", condition.data());
    running.context->setTensorAddress("x", in.data());
    running.context->setTensorAddress("y", out.data());
    EXPECT_TRUE(running.context->setInputShape("x", dims));
    return running.run() ? "" : running.last_error();
  }
  Workbench w;
  nv::IIfConditional* const branches = w->addIfConditional();
  api::testing::Shared<float> out = api::testing::Shared<float>(1728, 0);
};

/// The other branch has the extents of x; the plugin's layers know of one that it is 6.
TEST_F(InABranch, ExtentsAreThoseThatThePluginTells) {
  const std::vector<float> six(6, 1);
  nv::ITensor* const x = input(3);
  nv::ITensor* const normal =
      plugin("InstanceNormalization_TRT", Attributes().set("scales", six).set("bias", six), x, 0);
  w.mark(branches->addOutput(*normal, *w->addActivation(*x, nv::ActivationType::kRELU)->getOutput(0))->getOutput(0));
  api::testing::Running running(w);
  ASSERT_NE(running.context, nullptr) << running.error << w.take_error();
  EXPECT_EQ(error_of(running, api::testing::dims({1, 6, 2}), 2), "");
  EXPECT_NEAR(out[11], 1, 1e-5) << "equal numbers are 0, and the bias is 1";
  for (const int64_t channels : {7, 1})
    EXPECT_NE(error_of(running, api::testing::dims({1, channels, 2}), 2), "") << channels;
}

TEST_F(InABranch, ExtentsThatDoNotFitAreRefused) {
  const Attributes parts = Attributes().set("axis", std::vector<int32_t>{1}).set("output_lengths", std::vector{1, 3});
  nv::ITensor* const x = input(2);
  const auto sum = [&](nv::ITensor* tensor) {
    return w->addReduce(*tensor, nv::ReduceOperation::kSUM, 2, true)->getOutput(0);
  };
  w.mark(branches->addOutput(*sum(plugin("Split", parts, x, 1)), *sum(x))->getOutput(0));
  api::testing::Running running(w);
  ASSERT_NE(running.context, nullptr) << running.error << w.take_error();
  EXPECT_EQ(error_of(running, api::testing::dims({1, 4}), 2), "");
  EXPECT_EQ(out[0], 6);
  const std::string error = error_of(running, api::testing::dims({1, 5}), 2);
  EXPECT_NE(error.find("Split version 1: axis 1 of input 0 has to be 4 long"), std::string::npos) << error;
}

}  // namespace
}  // namespace kiln::plugins::testing
