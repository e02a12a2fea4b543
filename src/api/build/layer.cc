#include "api/build/layer.h"

#include "api/base/convert.h"
#include "api/build/arguments.h"
#include "api/build/network.h"

namespace kiln::api {

ir::Graph& Layer::graph() const { return network_.graph(); }
const Reporter& Layer::reporter() const { return network_.reporter(); }

void Layer::setName(const char* name) noexcept {
  guard(reporter(), "ILayer::setName", [&]() -> Status {
    TRY(new_name(name));
    graph().set_name(node_, std::string(name));
    return {};
  });
}
const char* Layer::getName() const noexcept { return ir_node().name.c_str(); }

ir::ValueId Layer::input_value(int index) const {
  const auto& inputs = ir_node().inputs;
  if (index < 0 || static_cast<size_t>(index) >= inputs.size()) return ir::ValueId::kNone;
  const ir::ValueId value = inputs[static_cast<size_t>(index)];
  return network_.is_weights(value) ? ir::ValueId::kNone : value;
}

void Layer::put_input(int index, ir::ValueId value) {
  const auto count = static_cast<int>(ir_node().inputs.size());
  if (value == ir::ValueId::kNone && index >= count) return;
  if (index >= count) graph().set_num_inputs(node_, index + 1);
  graph().set_input(node_, index, value);
  int needed = static_cast<int>(ir_node().inputs.size());
  while (needed > ir_node().op.info().min_inputs &&
         ir_node().inputs[static_cast<size_t>(needed - 1)] == ir::ValueId::kNone)
    --needed;
  graph().set_num_inputs(node_, needed);
}

int32_t Layer::getNbInputs() const noexcept {
  auto count = static_cast<int32_t>(ir_node().inputs.size());
  while (count > 0 && !has_input(count - 1)) --count;
  return count;
}

nv::ITensor* Layer::getInput(int32_t index) const noexcept {
  return guard(reporter(), "ILayer::getInput", static_cast<nv::ITensor*>(nullptr),
               [&]() -> nv::ITensor* { return network_.tensor_or_null(input_value(index)); });
}

int32_t Layer::getNbOutputs() const noexcept { return static_cast<int32_t>(ir_node().outputs.size()); }

nv::ITensor* Layer::getOutput(int32_t index) const noexcept {
  return guard(reporter(), "ILayer::getOutput", static_cast<nv::ITensor*>(nullptr), [&]() -> nv::ITensor* {
    if (index < 0 || index >= getNbOutputs()) return nullptr;
    return &network_.tensor(ir_node().outputs[static_cast<size_t>(index)]);
  });
}

int Layer::from_front(int axis) const {
  return axis < 0 ? axis + network_.rank_of(ir_node().inputs[0]).value_or(0) : axis;
}

Status Layer::check_input(int index) const {
  const int most = ir_node().op.info().max_inputs;
  const int limit = most < 0 ? static_cast<int>(ir_node().inputs.size()) : most;
  return require(index >= 0 && index < limit, "index ", index, " is outside [0, ", limit, ") of layer '", getName(),
                 "' (", ir_node().op.name(), ")");
}

Status Layer::set_input(int32_t index, const nv::ITensor& tensor) {
  TRY(check_input(index));
  put_input(index, TRY(network_.value_of(tensor, "tensor")));
  return input_changed(index);
}

void Layer::setInput(int32_t index, nv::ITensor& tensor) noexcept {
  guard(reporter(), "ILayer::setInput", [&] { return set_input(index, tensor); });
}

void Layer::setPrecision(nv::DataType dataType) noexcept {
  guard(reporter(), "ILayer::setPrecision", [&]() -> Status {
    TRY(require(!network_.strongly_typed(), "layer '", getName(),
                "': the network is strongly typed; its types decide, use addCast"));
    precision_ = TRY(from_api(dataType));
    return {};
  });
}

nv::DataType Layer::getPrecision() const noexcept { return precision_ ? to_api(*precision_) : nv::DataType::kFLOAT; }

void Layer::setOutputType(int32_t index, nv::DataType dataType) noexcept {
  guard(reporter(), "ILayer::setOutputType", [&]() -> Status {
    TRY(require(!network_.strongly_typed(), "layer '", getName(),
                "': the network is strongly typed; its types decide, use addCast"));
    TRY(require(index >= 0 && index < getNbOutputs(), "index ", index, " is outside [0, ", getNbOutputs(), ")"));
    output_types_[index] = TRY(from_api(dataType));
    return {};
  });
}

nv::DataType Layer::getOutputType(int32_t index) const noexcept {
  if (const auto wanted = output_types_.find(index); wanted != output_types_.end()) return to_api(wanted->second);
  const nv::ITensor* const output = getOutput(index);
  return output ? output->getType() : nv::DataType::kFLOAT;
}

void Layer::setMetadata(const char* docString) noexcept {
  guard(reporter(), "ILayer::setMetadata", [&]() -> Status {
    metadata_ = TRY(name_argument(docString, "docString"));
    return {};
  });
}

bool Layer::setNbRanks(int32_t nbRanks) noexcept {
  return guard(reporter(), "ILayer::setNbRanks", [&]() -> Status {
    TRY(require(nbRanks >= 1, "nbRanks is ", nbRanks, "; 1 is the least"));
    num_ranks_ = nbRanks;
    return {};
  });
}

}  // namespace kiln::api
