// Real networks, imported whole.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "onnx/importer.h"
#include "onnx/reader.h"

namespace kiln::onnx {
namespace {

void import_file(const std::filesystem::path& path) {
  SCOPED_TRACE(path.string());
  const auto model = read_model_file(path.string());
  ASSERT_TRUE(model) << model.error().message;
  ir::Graph graph;
  ImportReport report;
  const Status imported = import_model(*model, graph, {}, report);
  for (const Problem& problem : report.errors) ADD_FAILURE() << problem.message;
  ASSERT_TRUE(imported);
  EXPECT_EQ(graph.outputs().size(), (*model)->graph.outputs.size());
  const Status sound = ir::verify(graph);
  EXPECT_TRUE(sound) << sound.error().message;
  std::cout << path.parent_path().filename().string() << '/' << path.filename().string() << ": "
            << (*model)->graph.nodes.size() << " ONNX nodes, " << graph.num_nodes() << " nodes, "
            << graph.assumptions().size() << " assumptions\n";
}

TEST(ImportModels, Collection) {
  const char* folder = std::getenv("KILN_MODELS_DIR");
  if (!folder) GTEST_SKIP() << "KILN_MODELS_DIR is not set";
  for (const char* name : {"mnist", "squeezenet", "squeezenet-fp16", "ultraface", "yolox-nano", "kws", "magika",
                           "superres", "vittrack", "basic-pitch"})
    import_file(std::filesystem::path(folder) / name / "model.onnx");
}

TEST(ImportModels, Zoo) {
  const char* folder = std::getenv("KILN_ZOO_WEIGHTS_DIR");
  if (!folder) GTEST_SKIP() << "KILN_ZOO_WEIGHTS_DIR, where fill_weights.py wrote the zoo's networks, is not set";
  for (const char* name : {"resnet50", "mobilenet_v3_large", "vit_b_16", "bert_base", "gpt2", "efficientnet_b0",
                           "convnext_tiny", "unet_256", "deeplabv3_mobilenet"})
    import_file(std::filesystem::path(folder) / name / "model.onnx");
}

}  // namespace
}  // namespace kiln::onnx
