#include "api/build/cache_aliases.h"

#include <algorithm>

#include "ops/kv_cache_update.h"
#include "ops/shape.h"

namespace kiln::api {
namespace {

int index_of(const std::vector<plan::IoTensor>& tensors, std::string_view name) {
  const auto found = std::ranges::find(tensors, name, &plan::IoTensor::name);
  return found == tensors.end() ? -1 : static_cast<int>(found - tensors.begin());
}

/// The cache that makes `output`, if it is an input of the network. Somebody else who reads it might do so when it is
/// updated already; its extents stay.
ir::ValueId cache_of(const ir::Graph& network, ir::ValueId output) {
  if (!network.producer_as<ops::KvCacheUpdate>(output)) return ir::ValueId::kNone;
  const ir::NodeId update = network.value(output).producer;
  const ir::ValueId cache = network.node(update).inputs[0];
  const auto may_read = [&](ir::NodeId user) { return user == update || network.node(user).op.as<ops::Shape>(); };
  const ir::Value& value = network.value(cache);
  const bool is_read_once = std::ranges::count(value.users, update) == 1 && std::ranges::all_of(value.users, may_read);
  return value.producer == ir::NodeId::kNone && is_read_once ? cache : ir::ValueId::kNone;
}

}  // namespace

std::vector<int> cache_inputs(const ir::Graph& network, const plan::Plan& plan) {
  std::vector<int> inputs(plan.outputs.size(), -1);
  for (const ir::Output& output : network.outputs()) {
    const ir::ValueId cache = cache_of(network, output.value);
    const int to = index_of(plan.outputs, output.name);
    const int from = cache == ir::ValueId::kNone ? -1 : index_of(plan.inputs, network.value(cache).name);
    if (to < 0 || from < 0) continue;
    const plan::IoTensor &x = plan.inputs[static_cast<size_t>(from)], &y = plan.outputs[static_cast<size_t>(to)];
    if (x.dtype == y.dtype && x.format == y.format) inputs[static_cast<size_t>(to)] = from;
  }
  if (std::ranges::all_of(inputs, [](int input) { return input < 0; })) inputs.clear();
  return inputs;
}

}  // namespace kiln::api
