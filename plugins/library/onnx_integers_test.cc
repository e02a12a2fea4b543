// Exports have integers of 64 bits, as ONNX has them, where plugins have 32.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "testing/examples.h"

namespace kiln::plugins::testing {
namespace {

/// The inputs with values, their integers of the type.
std::vector<Tensor> filled(const std::vector<Tensor>& inputs, nv::DataType integers) {
  std::vector<Tensor> result;
  for (const Tensor& input : inputs) {
    const bool is_integer = input.type == nv::DataType::kINT32;
    result.push_back(is_integer ? input : noise(input.extents, 1));
    if (!is_integer) continue;
    result.back().type = integers;
    result.back().values.assign(static_cast<size_t>(volume(input.extents)), 1);
  }
  return result;
}

/// The examples that have integers as inputs.
const std::set<std::string>& with_integers() {
  static const std::set<std::string> all{"CustomEmbLayerNormPluginDynamic 1",
                                         "CustomEmbLayerNormPluginDynamic 2",
                                         "CustomEmbLayerNormPluginDynamic 3",
                                         "CustomEmbLayerNormPluginDynamic 4",
                                         "CustomEmbLayerNormPluginDynamic 5",
                                         "CustomEmbLayerNormPluginDynamic 6",
                                         "CustomQKVToContextPluginDynamic 1",
                                         "CustomQKVToContextPluginDynamic 2",
                                         "CustomQKVToContextPluginDynamic 3",
                                         "CustomQKVToContextPluginDynamic 4",
                                         "CustomQKVToContextPluginDynamic 5",
                                         "CustomQKVToContextPluginDynamic 6",
                                         "MultiscaleDeformableAttnPlugin_TRT 1",
                                         "MultiscaleDeformableAttnPlugin_TRT 2",
                                         "PillarScatterPlugin 1",
                                         "ROIAlign_TRT 1",
                                         "ROIAlign_TRT 2",
                                         "ScatterElements 1",
                                         "ScatterElements 2",
                                         "ScatterND 1",
                                         "VoxelGeneratorPlugin 1"};
  return all;
}

TEST(OnnxIntegers, Of64BitsAreCast) {
  std::set<std::string> taken;
  const std::vector<ExamplePlugin> plugins = example_plugins();
  auto made = plugins.begin();  // in the order of examples and their versions
  for (const Example& one : examples())
    for (const char digit : std::string_view(one.versions)) {
      const auto num_outputs = static_cast<size_t>(made++->plugin.computation->num_outputs());
      if (std::ranges::count(one.inputs, nv::DataType::kINT32, &Tensor::type) == 0) continue;
      const std::string version(1, digit);
      SCOPED_TRACE(str(one.name, ' ', version));
      const auto run_with = [&](nv::DataType integers) {
        return run(Way::kOnnx, one.name, version.c_str(), one.attributes, filled(one.inputs, integers),
                   std::vector<float>(num_outputs));
      };
      const Outcome of_32 = run_with(nv::DataType::kINT32), of_64 = run_with(nv::DataType::kINT64);
      EXPECT_EQ(of_32.error, "");
      EXPECT_EQ(of_64.error, "");
      ASSERT_EQ(of_64.outputs.size(), of_32.outputs.size());
      for (size_t i = 0; i < of_64.outputs.size(); ++i) EXPECT_EQ(of_64.outputs[i].values, of_32.outputs[i].values);
      taken.insert(str(one.name, ' ', version));
    }
  EXPECT_EQ(taken, with_integers());
}

}  // namespace
}  // namespace kiln::plugins::testing
