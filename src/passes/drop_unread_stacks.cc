#include "passes/drop_unread_stacks.h"

#include <algorithm>

#include "ops/loop.h"
#include "passes/remove_dead.h"
#include "passes/size_readers.h"

namespace kiln::passes {
namespace {

using Places = std::vector<int>;  ///< of outputs of a loop, in ascending order

bool has(const Places& places, int place) { return std::ranges::binary_search(places, place); }

/// The body's output that the loop stacks to make its own.
size_t output_of_body(const ops::Loop& loop, int output) { return static_cast<size_t>(output + (loop.tests ? 1 : 0)); }

Places unread_stacks(const ir::Graph& graph, const ir::Node& node, const SizeReaders& readers) {
  const auto& loop = *node.op.as<ops::Loop>();
  Places unread;
  for (int output = loop.carried; output < loop.num_outputs(); ++output) {
    const bool is_tapped = !node.bodies[0]->outputs()[output_of_body(loop, output)].tap.empty();
    if (!is_tapped && graph.num_uses(node.outputs[static_cast<size_t>(output)]) == 0) unread.push_back(output);
  }
  for (size_t i = 0; i < loop.decided.size(); ++i)
    if (readers.read(node.sizes[i].symbol)) std::erase(unread, loop.decided[i].output);
  return unread;
}

/// The op without these outputs, and the sizes that it still decides.
std::pair<ops::Loop, std::vector<DecidedSize>> without(const ir::Node& node, const Places& places) {
  const auto& old = *node.op.as<ops::Loop>();
  ops::Loop loop = old;
  loop.stacks.clear(), loop.decided.clear(), loop.most.clear();
  for (int output = old.carried; output < old.num_outputs(); ++output)
    if (!has(places, output)) loop.stacks.push_back(old.stacks[static_cast<size_t>(output - old.carried)]);
  std::vector<DecidedSize> sizes;
  for (size_t i = 0; i < old.decided.size(); ++i) {
    DecidedAxis axis = old.decided[i];
    if (has(places, axis.output)) continue;
    axis.output -= static_cast<int>(std::ranges::lower_bound(places, axis.output) - places.begin());
    loop.decided.push_back(axis);
    loop.most.push_back(old.most[i]);
    sizes.push_back(node.sizes[i]);
  }
  sizes.insert(sizes.end(), node.sizes.begin() + std::ssize(old.decided), node.sizes.end());  // of elements
  return {std::move(loop), std::move(sizes)};
}

Result<std::shared_ptr<ir::Graph>> body_without(const ir::Node& node, const Places& places, PassContext& cx) {
  const auto& loop = *node.op.as<ops::Loop>();
  auto body = std::make_shared<ir::Graph>(node.bodies[0]->clone());
  const std::vector<ir::Output> outputs = body->outputs();
  std::vector<bool> goes(outputs.size());
  for (const int place : places) goes[output_of_body(loop, place)] = true;
  for (const ir::Output& output : outputs) body->unmark_output(output.value);
  for (size_t k = 0; k < outputs.size(); ++k)
    if (!goes[k]) body->mark_output(outputs[k].value, outputs[k].name, outputs[k].tap);
  TRY(remove_dead(*body, cx));
  return body;
}

Status drop(ir::Graph& graph, ir::NodeId id, const Places& places, PassContext& cx) {
  const ir::Node& old = graph.node(id);
  auto [loop, sizes] = without(old, places);
  std::vector<std::shared_ptr<ir::Graph>> bodies = old.bodies;
  bodies[0] = TRY(body_without(old, places, cx));
  const std::vector<ir::ValueId> before = old.outputs;
  const std::vector<std::string> provenance = old.provenance;
  const std::vector<ir::ValueId> inputs = old.inputs;
  const std::vector<ir::ValueId> after =
      TRY(graph.add(std::move(loop), inputs, std::string(old.name), std::move(bodies), std::move(sizes)));
  graph.set_provenance(graph.value(after[0]).producer, provenance);
  for (size_t i = 0, next = 0; i < before.size(); ++i) {
    if (has(places, static_cast<int>(i))) continue;
    graph.set_name(after[next], graph.value(before[i]).name);
    graph.replace_uses(before[i], after[next++]);
  }
  graph.remove(id);
  return {};
}

}  // namespace

Status drop_unread_stacks(ir::Graph& graph, PassContext& cx) {
  const SizeReaders readers(graph);
  for (int i = 0, count = graph.num_nodes(); i < count; ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (!graph.alive(id) || !graph.node(id).op.as<ops::Loop>()) continue;
    const Places unread = unread_stacks(graph, graph.node(id), readers);
    if (!unread.empty() && unread.size() < graph.node(id).outputs.size()) TRY(drop(graph, id, unread, cx));
  }
  return {};
}

}  // namespace kiln::passes
