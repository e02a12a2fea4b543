#include "api/onnx/parser.h"

#include <algorithm>
#include <utility>

#include "api/onnx/loaded_model.h"
#include "base/address_of.h"

namespace kiln::api {
namespace {

using nvonnxparser::OnnxParserFlag;

constexpr std::pair<OnnxParserFlag, const char*> kOfAccelerators[] = {
    {OnnxParserFlag::kENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA, "kENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA"},
    {OnnxParserFlag::kREPORT_CAPABILITY_DLA, "kREPORT_CAPABILITY_DLA"},
    {OnnxParserFlag::kADJUST_FOR_DLA, "kADJUST_FOR_DLA"}};

template <class F>
void with_flag(ErrorList& errors, const char* call, OnnxParserFlag flag, F change) noexcept {
  errors.run(call, [&]() -> Status {
    const auto bit = static_cast<int32_t>(flag);
    TRY(require(bit >= 0 && bit < nvonnxparser::EnumMax<OnnxParserFlag>(), "OnnxParserFlag(", bit, ") is no flag"));
    change(1U << bit);
    return {};
  });
}

}  // namespace

void Parser::use(RegistryPlugins& plugins, onnx::ImportOptions& options) const {
  options.plugins = &plugins;
  options.prefers_plugins = getFlag(OnnxParserFlag::kENABLE_PLUGIN_OVERRIDE);
  for (const auto& [flag, name] : kOfAccelerators)
    if (getFlag(flag)) errors_.reporter().log().warning("OnnxParserFlag::", name, " is ignored: there is no DLA");
}

namespace {
/// Succeeds if no input or output of the model is called as one that the network has: of a model that was parsed twice
/// the build would say so late, and of two.
Status require_new_names(const ir::Graph& network, const onnx::GraphDef& model) {
  const auto is_weight = [&](std::string_view name) {
    return std::ranges::any_of(model.initializers, [&](const auto& tensor) { return tensor.name == name; });
  };
  const auto refuse = [](std::string_view what, std::string_view name) {
    return error(Code::kState, "the network has an ", what, " '", name,
                 "' already; a model is parsed into a network of its own");
  };
  for (const onnx::ValueInfo& input : model.inputs)
    for (const ir::ValueId value : network.inputs())
      if (network.value(value).name == input.name && !is_weight(input.name)) return refuse("input", input.name);
  for (const onnx::ValueInfo& output : model.outputs)
    for (const auto& known : network.outputs())
      if (known.name == output.name) return refuse("output", output.name);
  return {};
}
}  // namespace

/// All problems are reported, not only the first; where there are any, the network holds a part of the model.
Status Parser::import(const char* call, std::shared_ptr<const onnx::Model> model, onnx::ImportOptions options) {
  TRY(require_new_names(network_.graph(), model->graph));
  RegistryPlugins plugins(network_);
  use(plugins, options);
  onnx::ImportReport report;
  const Status done = onnx::import_model(std::move(model), network_.graph(), options, report);
  for (const std::string& warning : report.warnings) errors_.reporter().log().warning(call, ": ", warning);
  for (const onnx::Problem& problem : report.errors) errors_.add(call, problem);
  return report.errors.empty() ? done : Status();  // told above
}

bool Parser::parse(const void* serialized_onnx_model, size_t serialized_onnx_model_size,
                   const char* model_path) noexcept {
  constexpr const char* kCall = "IParser::parse";
  const int before = errors_.size();
  return errors_.run(kCall, [&]() -> Status {
    return import(kCall, TRY(load_model(serialized_onnx_model, serialized_onnx_model_size, model_path)));
  }) && errors_.size() == before;
}

bool Parser::parseFromFile(const char* onnxModelFile, int) noexcept {
  constexpr const char* kCall = "IParser::parseFromFile";
  const int before = errors_.size();
  return errors_.run(kCall, [&]() -> Status { return import(kCall, TRY(load_model_file(onnxModelFile))); }) &&
         errors_.size() == before;
}

bool Parser::parseWithWeightDescriptors(const void* serialized_onnx_model, size_t serialized_onnx_model_size) noexcept {
  return parse(serialized_onnx_model, serialized_onnx_model_size, nullptr);
}

Status Parser::query(const char* call, std::shared_ptr<const onnx::Model> model) {
  RegistryPlugins plugins(network_);
  onnx::ImportOptions options;
  use(plugins, options);
  onnx::ModelSupport support = onnx::query_support(std::move(model), options);
  subgraphs_ = std::move(support.subgraphs);
  for (const onnx::Problem& problem : support.report.errors) errors_.add(call, problem);
  return {};
}

bool Parser::supportsModelV2(const void* serializedOnnxModel, size_t serializedOnnxModelSize,
                             const char* modelPath) noexcept {
  constexpr const char* kCall = "IParser::supportsModelV2";
  const int before = errors_.size();
  subgraphs_.clear();
  return errors_.run(kCall, [&]() -> Status {
    return query(kCall, TRY(load_model(serializedOnnxModel, serializedOnnxModelSize, modelPath)));
  }) && errors_.size() == before;
}

bool Parser::supportsModel(const void* serialized_onnx_model, size_t serialized_onnx_model_size,
                           ::SubGraphCollection_t& sub_graph_collection, const char* model_path) noexcept {
  const bool supported = supportsModelV2(serialized_onnx_model, serialized_onnx_model_size, model_path);
  return errors_.run("IParser::supportsModel", [&]() -> Status {
    TRY(require(address_of(sub_graph_collection) != nullptr, "the collection of subgraphs is null"));
    sub_graph_collection.clear();
    for (const onnx::Subgraph& part : subgraphs_)
      sub_graph_collection.emplace_back(std::vector<size_t>(part.nodes.begin(), part.nodes.end()), true);
    return {};
  }) && supported;
}

int64_t Parser::getNbSubgraphs() noexcept { return static_cast<int64_t>(subgraphs_.size()); }
/// Nodes that cannot be imported are in no part.
bool Parser::isSubgraphSupported(int64_t index) noexcept { return index >= 0 && index < getNbSubgraphs(); }
int64_t* Parser::getSubgraphNodes(int64_t index, int64_t& subgraphLength) noexcept {
  const bool there = index >= 0 && index < getNbSubgraphs();
  std::vector<int64_t>* const nodes = there ? &subgraphs_[static_cast<size_t>(index)].nodes : nullptr;
  if (address_of(subgraphLength)) subgraphLength = nodes ? static_cast<int64_t>(nodes->size()) : 0;
  return nodes ? nodes->data() : nullptr;
}

bool Parser::supportsOperator(const char* op_name) const noexcept {
  return op_name && (onnx::has_importer("", op_name) || onnx::has_importer("trt", op_name));
}

int Parser::getNbErrors() const noexcept { return errors_.size(); }
const nvonnxparser::IParserError* Parser::getError(int index) const noexcept { return errors_.at(index); }
void Parser::clearErrors() noexcept { errors_.clear(); }

const char* const* Parser::getUsedVCPluginLibraries(int64_t& nbPluginLibs) const noexcept {
  if (address_of(nbPluginLibs)) nbPluginLibs = 0;  // every importer is built in
  return nullptr;
}

void Parser::setFlags(nvonnxparser::OnnxParserFlags onnxParserFlags) noexcept {
  errors_.run("IParser::setFlags", [&]() -> Status {
    TRY(require(onnxParserFlags < (1U << nvonnxparser::EnumMax<OnnxParserFlag>()), "flags ", onnxParserFlags,
                " have bits that are no OnnxParserFlag"));
    flags_ = onnxParserFlags;
    return {};
  });
}
nvonnxparser::OnnxParserFlags Parser::getFlags() const noexcept { return flags_; }
void Parser::clearFlag(OnnxParserFlag onnxParserFlag) noexcept {
  with_flag(errors_, "IParser::clearFlag", onnxParserFlag, [&](uint32_t bit) { flags_ &= ~bit; });
}
void Parser::setFlag(OnnxParserFlag onnxParserFlag) noexcept {
  with_flag(errors_, "IParser::setFlag", onnxParserFlag, [&](uint32_t bit) { flags_ |= bit; });
}
bool Parser::getFlag(OnnxParserFlag onnxParserFlag) const noexcept {
  const auto bit = static_cast<int32_t>(onnxParserFlag);
  return bit >= 0 && bit < nvonnxparser::EnumMax<OnnxParserFlag>() && ((flags_ >> bit) & 1U) != 0;
}

/// The last node of that name; kNone if there is none.
ir::NodeId Parser::node_named(std::string_view name) {
  const ir::Graph& graph = network_.graph();
  for (; num_indexed_ < graph.num_nodes(); ++num_indexed_)
    if (const auto id = static_cast<ir::NodeId>(num_indexed_); graph.alive(id))
      nodes_by_name_[graph.node(id).name] = id;
  const auto is_it = [&](ir::NodeId id) { return graph.alive(id) && graph.node(id).name == name; };
  if (const auto found = nodes_by_name_.find(std::string(name)); found != nodes_by_name_.end() && is_it(found->second))
    return found->second;
  for (int id = graph.num_nodes() - 1; id >= 0; --id)  // the program may have renamed or removed layers
    if (is_it(static_cast<ir::NodeId>(id))) return static_cast<ir::NodeId>(id);
  return ir::NodeId::kNone;
}

/// An ONNX node may have become several of ours; the last has its outputs.
const nvinfer1::ITensor* Parser::getLayerOutputTensor(const char* name, int64_t i) noexcept {
  const nvinfer1::ITensor* found = nullptr;
  errors_.run("IParser::getLayerOutputTensor", [&]() -> Status {
    TRY(require(name != nullptr, "the name is null"));
    const ir::NodeId node = node_named(name);
    if (node == ir::NodeId::kNone) return {};
    const auto& outputs = network_.graph().node(node).outputs;
    if (i >= 0 && static_cast<size_t>(i) < outputs.size()) found = &network_.tensor(outputs[static_cast<size_t>(i)]);
    return {};
  });
  return found;
}

bool Parser::loadModelProto(const void* serializedOnnxModel, size_t serializedOnnxModelSize,
                            const char* modelPath) noexcept {
  return errors_.run("IParser::loadModelProto", [&]() -> Status {
    loaded_.reset();
    loaded_.emplace(TRY(load_model(serializedOnnxModel, serializedOnnxModelSize, modelPath)));
    return {};
  });
}

bool Parser::loadInitializer(const char* name, const void* data, size_t size) noexcept {
  return errors_.run("IParser::loadInitializer", [&]() -> Status {
    if (!loaded_) return error(Code::kState, "no model is loaded: call loadModelProto");
    return loaded_->supply(name, data, size);
  });
}

bool Parser::parseModelProto() noexcept {
  constexpr const char* kCall = "IParser::parseModelProto";
  const int before = errors_.size();
  return errors_.run(kCall, [&]() -> Status {
    if (!loaded_) return error(Code::kState, "no model is loaded: call loadModelProto");
    // The program keeps what it supplied until now, a network is built later.
    return import(kCall, loaded_->model(), {.copy_weights = loaded_->is_supplied()});
  }) && errors_.size() == before;
}

bool Parser::setBuilderConfig(const nvinfer1::IBuilderConfig* builderConfig) noexcept {
  return errors_.run("IParser::setBuilderConfig",
                     [&] { return require(builderConfig != nullptr, "the configuration is null"); });
}

}  // namespace kiln::api
