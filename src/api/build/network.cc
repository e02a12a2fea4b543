#include "api/build/network.h"

#include <algorithm>

#include "api/base/convert.h"
#include "api/build/arguments.h"
#include "api/build/builder.h"
#include "api/build/expand_plugins.h"
#include "api/build/layers/layers.h"
#include "builder/build.h"
#include "ops/constant.h"

namespace kiln::api {
namespace {

Status check_input_type(DType type, const char* name) {
  switch (type) {
    case DType::kI4:
    case DType::kF4E2M1:
    case DType::kE8M0:
    case DType::kF64: return error(Code::kInvalidArgument, "input '", name, "': ", type, " cannot be an input's type");
    default: return {};
  }
}

std::string unnamed_layer(size_t index, const Op& op) { return str("(Unnamed Layer* ", index, ") [", op.name(), ']'); }

std::string output_name(std::string_view layer, size_t outputs, size_t output) {
  return outputs == 1 ? str(layer, "_output") : str(layer, "_output_", output);
}

}  // namespace

Network::Network(nv::IBuilder& builder, const Reporter& reporter, nv::NetworkDefinitionCreationFlags flags)
    : builder_(builder), reporter_(reporter), flags_(flags) {
  mImpl = this;
}
Network::~Network() = default;

bool Network::strongly_typed() const { return getFlag(nv::NetworkDefinitionCreationFlag::kSTRONGLY_TYPED); }

Tensor& Network::tensor(ir::ValueId value) {
  if (tensors_.size() <= ir::index(value)) tensors_.resize(static_cast<size_t>(graph_.num_values()));
  auto& object = tensors_[ir::index(value)];
  if (!object) {
    name_tensor(value);
    object = std::make_unique<Tensor>(*this, value);
  }
  return *object;
}

Layer& Network::layer(ir::NodeId node) {
  if (ir::index(node) >= layer_objects_.size() || !layer_objects_[ir::index(node)]) {
    name_layer(node);
    keep(node, make_layer(*this, node));
  }
  return *layer_objects_[ir::index(node)];
}

/// Names a layer that has no name. ONNX nodes need not have one, but programs use layer names as keys.
void Network::name_layer(ir::NodeId node) {
  if (!graph_.node(node).name.empty()) return;
  const std::vector<ir::NodeId>& all = layers();
  const auto index = std::ranges::lower_bound(all, node) - all.begin();
  graph_.set_name(node, unnamed_layer(static_cast<size_t>(index), graph_.node(node).op));
}

void Network::name_tensor(ir::ValueId value) {
  const ir::Value& v = graph_.value(value);
  if (!v.name.empty() || v.producer == ir::NodeId::kNone) return;
  name_layer(v.producer);
  const ir::Node& producer = graph_.node(v.producer);
  graph_.set_name(value, output_name(producer.name, producer.outputs.size(), static_cast<size_t>(v.output)));
}

void Network::keep(ir::NodeId node, std::unique_ptr<Layer> object) {
  if (layer_objects_.size() <= ir::index(node)) layer_objects_.resize(static_cast<size_t>(graph_.num_nodes()));
  layer_objects_[ir::index(node)] = std::move(object);
}

std::optional<DType> Network::output_type_set(ir::ValueId id) const {
  if (ir::index(id) >= static_cast<size_t>(graph_.num_values())) return std::nullopt;
  const ir::Value& value = graph_.value(id);
  if (ir::index(value.producer) >= layer_objects_.size() || !layer_objects_[ir::index(value.producer)])
    return std::nullopt;
  const auto& types = layer_objects_[ir::index(value.producer)]->output_types();
  const auto found = types.find(value.output);
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

/// Nodes in the order of their ids, which is the order of adding; weights are none.
const std::vector<ir::NodeId>& Network::layers() {
  for (; num_scanned_ < graph_.num_nodes(); ++num_scanned_) {
    const auto node = static_cast<ir::NodeId>(num_scanned_);
    if (graph_.alive(node) && !is_hidden(node)) layers_.push_back(node);
  }
  return layers_;
}

std::vector<std::string> Network::group_names() const {
  std::vector<std::string> names;
  for (const auto& group : groups_) names.push_back(group->name());
  return names;
}

Result<ir::ValueId> Network::value_of(const nv::ITensor& tensor, const char* what) const {
  const nv::ITensor* const address = address_of(tensor);
  TRY(require(address != nullptr, what, " is null"));
  const auto& ours = static_cast<const Tensor&>(*address);
  TRY(require(&ours.network() == this, what, " '", ours.getName(), "' belongs to another network"));
  return ours.value();
}

Result<int> Network::rank_of(ir::ValueId value) {
  const auto where = [&] { return str("the rank of '", graph_.value(value).name, "' is not known"); };
  const TensorType& type = TRY(in_context(graph_.inferred_type(value), where));  // the error is of a layer before
  return type.rank();
}

Result<ir::NodeId> Network::add_node(Op op, std::span<const ir::ValueId> inputs, Settings settings) {
  std::string name = unnamed_layer(layers().size(), op);
  bool can_check = settings == Settings::kComplete;
  for (const ir::ValueId input : inputs)
    can_check = can_check && (input == ir::ValueId::kNone || graph_.inferred_type(input).has_value());
  ir::NodeId node = ir::NodeId::kNone;
  if (can_check) {
    TRY(graph_.add(std::move(op), inputs, name));
    node = static_cast<ir::NodeId>(graph_.num_nodes() - 1);
  } else {
    node = graph_.add_lazily(std::move(op), inputs, name);
  }
  const std::vector<ir::ValueId>& outputs = graph_.node(node).outputs;
  for (size_t i = 0; i < outputs.size(); ++i) graph_.set_name(outputs[i], output_name(name, outputs.size(), i));
  return node;
}

ir::ValueId Network::add_weights(HostTensor value, std::string name) {
  const ir::ValueId weights = graph_.add_constant(std::move(value), std::move(name));
  hidden_.resize(static_cast<size_t>(graph_.num_nodes()), false);
  hidden_[ir::index(graph_.value(weights).producer)] = true;
  return weights;
}

bool Network::is_weights(ir::ValueId value) const {
  return value != ir::ValueId::kNone && graph_.value(value).producer != ir::NodeId::kNone &&
         is_hidden(graph_.value(value).producer);
}

void Network::drop_weights(ir::ValueId value) {
  if (is_weights(value) && graph_.num_uses(value) == 0) graph_.remove(graph_.value(value).producer);
}

bool Network::is_input_called(std::string_view name) {
  for (; num_values_indexed_ < graph_.num_values(); ++num_values_indexed_) {
    const auto value = static_cast<ir::ValueId>(num_values_indexed_);
    if (graph_.value(value).producer == ir::NodeId::kNone) note_input_name(value, graph_.value(value).name);
  }
  const auto [begin, end] = inputs_by_name_.equal_range(std::string(name));
  return std::any_of(begin, end, [&](const auto& entry) {
    const auto& inputs = graph_.inputs();
    return graph_.value(entry.second).name == name && std::ranges::find(inputs, entry.second) != inputs.end();
  });
}

Result<ir::ValueId> Network::add_input(const char* name, nv::DataType type, const nv::Dims& dimensions) {
  TRY(require(name && *name, "the name is ", name ? "empty" : "null"));
  TRY(new_name(name));
  TRY(require(!is_input_called(name), "there is an input '", name, "' already"));
  const DType dtype = TRY(from_api(type));
  TRY(check_input_type(dtype, name));
  const nv::Dims* const dims = address_of(dimensions);
  TRY(require(dims != nullptr, "input '", name, "': dimensions are null"));
  const Extents extents = TRY(in_context(from_api(*dims), [&] { return str("input '", name, "'"); }));
  for (const int64_t extent : extents)
    TRY(require(extent >= -1, "input '", name, "': extent ", extent, " in ", text(*dims), "; -1 is the least"));
  const ir::ValueId value = graph_.add_input(name, TensorType(dtype, {}));
  tensor(value).set_extents(extents);
  return value;
}

nv::ITensor* Network::addInput(const char* name, nv::DataType type, const nv::Dims& dimensions) noexcept {
  return guard(reporter_, "INetworkDefinition::addInput", static_cast<nv::ITensor*>(nullptr),
               [&]() -> Result<nv::ITensor*> { return &tensor(TRY(add_input(name, type, dimensions))); });
}

Status Network::mark_output(const nv::ITensor& tensor) {
  const ir::ValueId value = TRY(value_of(tensor, "tensor"));
  TRY(require(graph_.value(value).producer != ir::NodeId::kNone, "'", graph_.value(value).name,
              "' is an input of the network; an output must come from a layer, such as addIdentity"));
  if (graph_.is_output(value))
    reporter_.log().warning("INetworkDefinition::markOutput: '", graph_.value(value).name, "' is an output already");
  else
    graph_.mark_output(value, graph_.value(value).name);
  return {};
}

void Network::markOutput(nv::ITensor& tensor) noexcept {
  guard(reporter_, "INetworkDefinition::markOutput", [&] { return mark_output(tensor); });
}

void Network::unmarkOutput(nv::ITensor& tensor) noexcept {
  guard(reporter_, "INetworkDefinition::unmarkOutput", [&]() -> Status {
    const ir::ValueId value = TRY(value_of(tensor, "tensor"));
    TRY(require(graph_.is_output(value), "'", graph_.value(value).name, "' is no output of the network"));
    graph_.unmark_output(value);
    return {};
  });
}

bool Network::markOutputForShapes(nv::ITensor& tensor) noexcept {
  return guard(reporter_, "INetworkDefinition::markOutputForShapes", [&]() -> Status {
    const ir::ValueId value = TRY(value_of(tensor, "tensor"));
    const std::string& name = graph_.value(value).name;
    TRY(require(graph_.value(value).producer != ir::NodeId::kNone, "'", name, "' is an input of the network"));
    TRY(require(std::ranges::find(shape_outputs_, value) == shape_outputs_.end(), "'", name, "' is marked already"));
    const TensorType& type = TRY(graph_.inferred_type(value));
    TRY(require(type.values && is_index(type.dtype) && type.rank() <= 1, "'", name, "' is ", type,
                "; a shape tensor is needed: i32 or i64, of rank 0 or 1, with elements that follow from shapes"));
    shape_outputs_.push_back(value);
    return {};
  });
}

bool Network::unmarkOutputForShapes(nv::ITensor& tensor) noexcept {
  return guard(reporter_, "INetworkDefinition::unmarkOutputForShapes", [&]() -> Status {
    const ir::ValueId value = TRY(value_of(tensor, "tensor"));
    TRY(require(std::erase(shape_outputs_, value) == 1, "'", graph_.value(value).name,
                "' is not marked as an output for shapes"));
    return {};
  });
}

void Network::removeTensor(nv::ITensor& tensor) noexcept {
  guard(reporter_, "INetworkDefinition::removeTensor", [&]() -> Status {
    const ir::ValueId value = TRY(value_of(tensor, "tensor"));
    const bool removable = graph_.value(value).producer == ir::NodeId::kNone && graph_.num_uses(value) == 0;
    if (removable)
      graph_.remove_input(value);
    else
      reporter_.log().warning("INetworkDefinition::removeTensor: '", graph_.value(value).name,
                              "' is an input or output of a layer; the call is ignored");
    return {};
  });
}

int32_t Network::getNbLayers() const noexcept {
  return guard(reporter_, "INetworkDefinition::getNbLayers", 0,
               [&] { return static_cast<int32_t>(self().layers().size()); });
}

nv::ILayer* Network::getLayer(int32_t index) const noexcept {
  return guard(reporter_, "INetworkDefinition::getLayer", static_cast<nv::ILayer*>(nullptr),
               [&]() -> Result<nv::ILayer*> {
                 const auto& all = self().layers();
                 TRY(require(index >= 0 && static_cast<size_t>(index) < all.size(), "index ", index, " is outside [0, ",
                             all.size(), ")"));
                 return &self().layer(all[static_cast<size_t>(index)]).interface();
               });
}

int32_t Network::getNbInputs() const noexcept { return static_cast<int32_t>(graph_.inputs().size()); }
int32_t Network::getNbOutputs() const noexcept { return static_cast<int32_t>(graph_.outputs().size()); }

nv::ITensor* Network::getInput(int32_t index) const noexcept {
  return guard(
      reporter_, "INetworkDefinition::getInput", static_cast<nv::ITensor*>(nullptr), [&]() -> Result<nv::ITensor*> {
        TRY(require(index >= 0 && index < getNbInputs(), "index ", index, " is outside [0, ", getNbInputs(), ")"));
        return &self().tensor(graph_.inputs()[static_cast<size_t>(index)]);
      });
}

nv::ITensor* Network::getOutput(int32_t index) const noexcept {
  return guard(
      reporter_, "INetworkDefinition::getOutput", static_cast<nv::ITensor*>(nullptr), [&]() -> Result<nv::ITensor*> {
        TRY(require(index >= 0 && index < getNbOutputs(), "index ", index, " is outside [0, ", getNbOutputs(), ")"));
        return &self().tensor(graph_.outputs()[static_cast<size_t>(index)].value);
      });
}

void Network::setName(const char* name) noexcept {
  guard(reporter_, "INetworkDefinition::setName", [&]() -> Status {
    name_ = TRY(name_argument(name, "name"));
    return {};
  });
}
const char* Network::getName() const noexcept { return name_.c_str(); }

bool Network::setWeightsName(nv::Weights weights, const char* name) noexcept {
  return guard(reporter_, "INetworkDefinition::setWeightsName", [&]() -> Status {
    const std::string text(TRY(name_argument(name, "name")));
    const std::vector<ir::NodeId> found = weights.values ? constants_at(weights.values) : std::vector<ir::NodeId>();
    TRY(require(!found.empty(), "no layer of the network has these weights"));
    const DType type = TRY(from_api(weights.type));
    for (const ir::NodeId node : found) {
      const HostTensor& value = graph_.node(node).op.as<ops::Constant>()->value;
      TRY(require(volume(value.extents()) == weights.count && type == value.dtype(),
                  "the weights that begin there are ", volume(value.extents()), " of ", value.dtype(), ", not ",
                  weights.count, " of ", type));
    }
    for (const ir::NodeId node : found) graph_.set_name(node, text);
    return {};
  });
}

/// Constants with these elements. An index by address finds them, since a program asks for each of a network's weights.
std::vector<ir::NodeId> Network::constants_at(const void* elements) {
  const auto elements_of = [&](ir::NodeId node) -> const void* {
    const auto* constant = graph_.alive(node) ? graph_.node(node).op.as<ops::Constant>() : nullptr;
    return constant ? constant->value.bytes().data() : nullptr;
  };
  for (; num_nodes_indexed_ < graph_.num_nodes(); ++num_nodes_indexed_) {
    const auto node = static_cast<ir::NodeId>(num_nodes_indexed_);
    if (const void* its = elements_of(node)) constants_by_elements_.emplace(its, node);
  }
  std::vector<ir::NodeId> result;
  const auto [begin, end] = constants_by_elements_.equal_range(elements);
  for (auto entry = begin; entry != end; ++entry)
    if (elements_of(entry->second) == elements) result.push_back(entry->second);
  for (int i = 0; i < graph_.num_nodes() && result.empty(); ++i)  // weights may have changed since
    if (const auto node = static_cast<ir::NodeId>(i); elements_of(node) == elements) result.push_back(node);
  return result;
}

bool Network::hasImplicitBatchDimension() const noexcept { return false; }
void Network::setErrorRecorder(nv::IErrorRecorder* recorder) noexcept { reporter_.set_recorder(recorder); }
nv::IErrorRecorder* Network::getErrorRecorder() const noexcept { return reporter_.recorder(); }
nv::IBuilder& Network::getBuilder() const noexcept { return builder_; }
bool Network::needs_int32(const ops::Plugin& op, std::span<const DType> before) const {
  return plugin_needs_int32(op, before);
}
nv::IGpuAllocator* Network::gpu_allocator() const { return static_cast<const Builder&>(builder_).gpu_allocator(); }
nv::NetworkDefinitionCreationFlags Network::getFlags() const noexcept { return flags_; }
bool Network::getFlag(nv::NetworkDefinitionCreationFlag flag) const noexcept {
  const auto bit = static_cast<int32_t>(flag);
  return bit >= 0 && bit < nv::EnumMax<nv::NetworkDefinitionCreationFlag>() && ((flags_ >> bit) & 1U) != 0;
}
bool Network::areWeightsMarkedRefittable(const char*) const noexcept { return false; }

}  // namespace kiln::api
