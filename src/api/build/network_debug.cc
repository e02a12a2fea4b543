// INetworkDefinition: tensors that programs watch while an engine runs.
#include <algorithm>

#include "api/build/network.h"

namespace kiln::api {

bool Network::markDebug(nv::ITensor& tensor) noexcept {
  return guard(reporter_, "INetworkDefinition::markDebug", [&]() -> Status {
    debug_tensors_.insert(TRY(value_of(tensor, "tensor")));
    return {};
  });
}

bool Network::unmarkDebug(nv::ITensor& tensor) noexcept {
  return guard(reporter_, "INetworkDefinition::unmarkDebug", [&]() -> Status {
    debug_tensors_.erase(TRY(value_of(tensor, "tensor")));
    return {};
  });
}

bool Network::isDebugTensor(const nv::ITensor& tensor) const noexcept {
  return guard(reporter_, "INetworkDefinition::isDebugTensor", false,
               [&]() -> Result<bool> { return debug_tensors_.contains(TRY(value_of(tensor, "tensor"))); });
}

bool Network::markUnfusedTensorsAsDebugTensors() noexcept { return debugs_unfused_ = true; }

bool Network::unmarkUnfusedTensorsAsDebugTensors() noexcept {
  debugs_unfused_ = false;
  return true;
}

/// Programs ask for debug tensors by their names.
Status Network::add_taps(ir::Graph& graph) const {
  std::set<std::string_view> names;
  for (const ir::ValueId value : debug_tensors_) {
    const ir::NodeId producer = graph_.value(value).producer;
    if (producer != ir::NodeId::kNone && !graph_.alive(producer)) continue;  // its layer was removed
    const std::string& name = graph_.value(value).name;
    TRY(require(!name.empty(), "a debug tensor has no name: call setName"));
    TRY(require(names.insert(name).second, "two debug tensors are called '", name, "': call setName"));
    graph.add_tap(value, name);
  }
  return {};
}

}  // namespace kiln::api
