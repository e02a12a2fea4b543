#include "builder/debug_taps.h"

#include <algorithm>

#include "ir/bodies.h"

namespace kiln {
namespace {

constexpr int kMostBuilds = 3;  // the last of them keeps all

void collect(const ir::Graph& graph, std::set<std::string>& names) {
  for (int i = 0; i < graph.num_values(); ++i) {
    const std::vector<std::string>& taps = graph.value(static_cast<ir::ValueId>(i)).taps;
    names.insert(taps.begin(), taps.end());
  }
}

std::string joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += str(text.empty() ? "'" : ", '", name, '\'');
  return text;
}

}  // namespace

DebugTaps::DebugTaps(const ir::Graph& network) {
  collect(network, wanted_);
  ir::for_each_body(network, [&](const ir::Graph& body) { collect(body, wanted_); });
}

bool DebugTaps::keep(ir::Graph& graph) const {
  if (kept_.empty()) return false;
  bool keeps = false;
  for (int i = 0, count = graph.num_values(); i < count; ++i) {
    const auto value = static_cast<ir::ValueId>(i);
    const std::vector<std::string> taps = graph.value(value).taps;
    for (const std::string& tap : taps) {
      if (!kept_.contains(tap)) continue;
      graph.mark_output(value, "", tap);
      keeps = true;
    }
  }
  for (int i = 0, count = graph.num_nodes(); i < count; ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (!graph.alive(id)) continue;
    bool inside = false;
    for (const auto& body : graph.node(id).bodies) inside |= keep(*body);
    if (!inside) continue;
    keeps = true;
    const std::vector<ir::ValueId>& outputs = graph.node(id).outputs;
    const bool is_read = std::ranges::any_of(outputs, [&](ir::ValueId value) { return graph.num_uses(value) > 0; });
    if (!is_read && !outputs.empty()) graph.mark_output(outputs[0], "");
  }
  return keeps;
}

void DebugTaps::take(const plan::Profile& profile, std::span<const plan::Body> bodies) {
  std::set<std::string> names;
  const auto add = [&](const plan::Block& block) {
    for (const plan::DebugTensor& debug : block.debug_tensors) names.insert(debug.name);
  };
  add(profile);
  std::ranges::for_each(bodies, add);
  found_.insert(names.begin(), names.end());
  std::ranges::set_difference(wanted_, names, std::inserter(lost_, lost_.end()));
}

bool DebugTaps::begin_next_build(Log& log) {
  std::set<std::string> next, missing;
  std::ranges::set_difference(lost_, kept_, std::inserter(next, next.end()));
  std::ranges::set_difference(wanted_, found_, std::inserter(missing, missing.end()));
  found_.clear(), lost_.clear();
  if (!next.empty()) {
    log.info("no step writes the debug tensors ", joined(next), ": the network is built again, with steps that do");
    kept_.merge(next);
    if (++num_builds_ + 1 >= kMostBuilds) keep_all();
    return true;
  }
  if (!missing.empty())
    log.warning("no run will show the debug tensors ", joined(missing), ": the network does not compute them");
  return false;
}

void drop_doubled_taps(plan::Body& test, const ir::Graph& iteration) {
  std::set<std::string> names;
  collect(iteration, names);
  std::erase_if(test.debug_tensors, [&](const plan::DebugTensor& debug) { return names.contains(debug.name); });
}

}  // namespace kiln
