// Real models, from exporters we did not write.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "onnx/check.h"
#include "onnx/inline_functions.h"
#include "onnx/reader.h"
#include "onnx/tensor_data.h"

namespace kiln::onnx {
namespace {

int64_t count_readable_bytes(const Model& model, const GraphDef& graph) {
  int64_t total = 0;
  const auto use = [&](const TensorDef& tensor) {
    if (tensor.type == ElementType::kString) {
      EXPECT_TRUE(tensor_strings(tensor));
      return;
    }
    const auto data = tensor_data(model, tensor);
    EXPECT_TRUE(data) << data.error().message;
    if (data) total += static_cast<int64_t>(data->bytes.size());
  };
  for (const TensorDef& tensor : graph.initializers) use(tensor);
  for (const NodeDef& node : graph.nodes)
    for (const AttributeDef& attribute : node.attributes) {
      for (const TensorDef& tensor : attribute.tensors) use(tensor);
      for (const auto& body : attribute.graphs) total += count_readable_bytes(model, *body);
    }
  return total;
}

TEST(Models, AreReadWhole) {
  const char* folder = std::getenv("KILN_MODELS_DIR");
  if (!folder) GTEST_SKIP() << "KILN_MODELS_DIR is not set";
  int64_t num_models = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto path = entry.path() / "model.onnx";
    if (!std::filesystem::exists(path)) continue;
    SCOPED_TRACE(path.string());
    ++num_models;
    const auto model = read_model_file(path.string());
    ASSERT_TRUE(model) << model.error().message;
    const auto flat = inline_functions(*model);
    ASSERT_TRUE(flat) << flat.error().message;
    const CheckedModel checked = check_model(*flat);
    for (const ModelProblem& problem : checked.problems) ADD_FAILURE() << problem.message;
    // Weights are most of a file, so that a tensor silently left out shows.
    const auto size = static_cast<int64_t>(std::filesystem::file_size(path));
    const int64_t bytes = count_readable_bytes(*checked.model, checked.model->graph);
    EXPECT_GT(bytes, size / 4);
    EXPECT_LT(bytes, size * 2);
  }
  EXPECT_GT(num_models, 0);
}

}  // namespace
}  // namespace kiln::onnx
