/// IParser: ONNX models into networks.
#pragma once

#include <NvOnnxParser.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/base/network_handle.h"
#include "api/onnx/error_list.h"
#include "api/onnx/loaded_model.h"
#include "api/onnx/registry_plugins.h"
#include "onnx/importer.h"

namespace kiln::api {

class Parser final : public nvonnxparser::IParser {
 public:
  Parser(NetworkHandle& network, nvinfer1::ILogger& logger) : network_(network), errors_(logger) {}

  bool parse(const void* serialized_onnx_model, size_t serialized_onnx_model_size,
             const char* model_path) noexcept override;
  bool parseFromFile(const char* onnxModelFile, int verbosity) noexcept override;
  bool supportsModel(const void* serialized_onnx_model, size_t serialized_onnx_model_size,
                     ::SubGraphCollection_t& sub_graph_collection, const char* model_path) noexcept override;
  bool parseWithWeightDescriptors(const void* serialized_onnx_model,
                                  size_t serialized_onnx_model_size) noexcept override;
  bool supportsOperator(const char* op_name) const noexcept override;
  int getNbErrors() const noexcept override;
  const nvonnxparser::IParserError* getError(int index) const noexcept override;
  void clearErrors() noexcept override;
  const char* const* getUsedVCPluginLibraries(int64_t& nbPluginLibs) const noexcept override;
  void setFlags(nvonnxparser::OnnxParserFlags onnxParserFlags) noexcept override;
  nvonnxparser::OnnxParserFlags getFlags() const noexcept override;
  void clearFlag(nvonnxparser::OnnxParserFlag onnxParserFlag) noexcept override;
  void setFlag(nvonnxparser::OnnxParserFlag onnxParserFlag) noexcept override;
  bool getFlag(nvonnxparser::OnnxParserFlag onnxParserFlag) const noexcept override;
  const nvinfer1::ITensor* getLayerOutputTensor(const char* name, int64_t i) noexcept override;
  bool supportsModelV2(const void* serializedOnnxModel, size_t serializedOnnxModelSize,
                       const char* modelPath) noexcept override;
  int64_t getNbSubgraphs() noexcept override;
  bool isSubgraphSupported(int64_t index) noexcept override;
  int64_t* getSubgraphNodes(int64_t index, int64_t& subgraphLength) noexcept override;
  bool loadModelProto(const void* serializedOnnxModel, size_t serializedOnnxModelSize,
                      const char* modelPath) noexcept override;
  bool loadInitializer(const char* name, const void* data, size_t size) noexcept override;
  bool parseModelProto() noexcept override;
  bool setBuilderConfig(const nvinfer1::IBuilderConfig* builderConfig) noexcept override;

 private:
  Status import(const char* call, std::shared_ptr<const onnx::Model> model, onnx::ImportOptions options = {});
  Status query(const char* call, std::shared_ptr<const onnx::Model> model);
  void use(RegistryPlugins& plugins, onnx::ImportOptions& options) const;
  ir::NodeId node_named(std::string_view name);

  NetworkHandle& network_;
  ErrorList errors_;
  nvonnxparser::OnnxParserFlags flags_ = 1U
                                         << static_cast<uint32_t>(nvonnxparser::OnnxParserFlag::kNATIVE_INSTANCENORM);
  std::optional<SuppliedModel> loaded_;  ///< of loadModelProto
  std::vector<onnx::Subgraph> subgraphs_;
  std::unordered_map<std::string, ir::NodeId> nodes_by_name_;  ///< the last of each name, of the first `num_indexed_`
  int num_indexed_ = 0;
};

}  // namespace kiln::api
