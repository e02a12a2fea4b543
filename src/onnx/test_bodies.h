/// Nodes with bodies, written for tests.
#pragma once

#include <string>
#include <vector>

#include "onnx/test_import.h"
#include "onnx/test_nest.h"

namespace kiln::onnx::test {

inline Proto body(const std::vector<Proto>& nodes, Texts inputs, Texts outputs,
                  const std::vector<Proto>& initializers = {}) {
  GraphParts parts{.nodes = nodes, .inputs = {}, .outputs = {}, .initializers = initializers};
  for (const auto name : inputs) parts.inputs.push_back(untyped(std::string(name)));
  for (const auto name : outputs) parts.outputs.push_back(untyped(std::string(name)));
  return graph(parts, "body");
}
inline Proto loop_node(Texts inputs, Texts outputs, const Proto& body) {
  return node("Loop", inputs, outputs, "loop", {graph_attribute("body", body)});
}
inline Proto if_node(std::string_view condition, Texts outputs, const Proto& then, const Proto& otherwise) {
  return node("If", {condition}, outputs, "if",
              {graph_attribute("then_branch", then), graph_attribute("else_branch", otherwise)});
}
inline Proto map_node(Texts inputs, Texts outputs, const Proto& body) {
  return node("SequenceMap", inputs, outputs, "map", {graph_attribute("body", body)});
}
inline Proto concat_from(std::string_view sequence, std::string_view output, int64_t axis, int64_t new_axis = 0) {
  return node("ConcatFromSequence", {sequence}, {output}, "join",
              {int_attribute("axis", axis), int_attribute("new_axis", new_axis)});
}

/// x f32[-1, 3], the boolean c and the count n; constants zero, one, last, few (i64[]), at (i64[1]{0}), c is data.
inline Imported import_nodes(std::vector<Proto> nodes, Texts outputs) {
  GraphParts parts{.nodes = std::move(nodes),
                   .inputs = {value("x", kFloat, {-1, 3}), value("c", kBool), value("n", kInt64),
                              value("d", kInt64, {20}), value("p", kFloat, {7, 3})},
                   .outputs = {},
                   .initializers = {index_scalar("zero", 0), index_scalar("one", 1), index_scalar("last", -1),
                                    index_scalar("few", 3), i64s("at", {0})}};
  for (const auto name : outputs) parts.outputs.push_back(untyped(std::string(name)));
  return import_proto(model(graph(parts)));
}
/// The types of the outputs that nodes make, or the first problem.
inline std::string types_of(std::vector<Proto> nodes, Texts outputs) {
  const Imported got = import_nodes(std::move(nodes), outputs);
  if (!got.status) return got.status.error().message;
  const Status sound = ir::verify(got.graph);
  if (!sound) return sound.error().message;
  std::string text;
  for (const ir::Output& output : got.graph.outputs())
    text += str(text.empty() ? "" : "; ", got.graph.type(output.value));
  return text;
}
inline std::string print_of(std::vector<Proto> nodes, Texts outputs) {
  return text_of(import_nodes(std::move(nodes), outputs));
}

}  // namespace kiln::onnx::test
