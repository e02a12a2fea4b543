/// Models of bodies in bodies in bodies, written for tests.
#pragma once

#include <string>
#include <vector>

#include "onnx/test_import.h"

namespace kiln::onnx::test {

/// What a level puts around the levels within it.
enum class Level {
  kIfOfShapes,   ///< an If by the extent of x, whose branches agree
  kIfOfRanks,    ///< an If by the extent of x, whose branches give values of different ranks
  kIfOfData,     ///< an If by an input of the network
  kCountedLoop,  ///< a Loop of a constant number of iterations
  kLoopOfData,   ///< a Loop that goes on while a value that it computes is small
  kGrowingLoop,  ///< a Loop that adds a row in each iteration
  kCuttingLoop,  ///< a Loop whose iterations keep as many rows as their number says
};

inline Proto untyped(const std::string& name) { return Proto().text(field::value_info::kName, name); }
inline Proto index_scalar(std::string_view name, int64_t number) {
  return tensor(name, kInt64, {}).text(field::tensor::kRawData, Proto().append_raw(number).bytes);
}

struct Nest {
  std::vector<Level> levels;  ///< by depth, repeated
  int64_t trips = 3;          ///< of each loop
  std::string core = "Neg";   ///< the innermost operator, and that of the branches beside
  std::vector<Proto> initializers{i64s("one", {1}), i64s("at", {0}), floats("row", {1, 3}, {1, 2, 3}),
                                  index_scalar("zero", 0), index_scalar("trips", trips)};

  /// Nodes that make "y<depth>" of x.
  std::vector<Proto> nodes(int depth, const std::string& x) {
    if (depth == 0) return {node(core, {x}, {"y0"})};
    const Level level = levels[static_cast<size_t>(depth) % levels.size()];
    const bool is_if = level == Level::kIfOfShapes || level == Level::kIfOfRanks || level == Level::kIfOfData;
    return is_if ? if_nodes(level, depth, x) : loop_nodes(level, depth, x);
  }
  std::vector<Proto> loop_nodes(Level level, int depth, const std::string& x) {
    const auto named = [&](std::string_view name) { return str(name, depth); };
    const std::string i = named("i"), go = named("go"), v = named("v"), on = named("on"), most = named("m"),
                      rows = named("n"), inner = str("y", depth - 1), next = named("next");
    std::vector<Proto> iteration = nodes(depth - 1, v);
    const auto add = [&](Proto made) { iteration.push_back(std::move(made)); };
    if (level == Level::kLoopOfData) {
      add(node("ReduceMax", {inner}, {most}, "", {int_attribute("keepdims", 0)}));
      add(node("Less", {most, "limit"}, {on}));
    } else {
      add(node("Identity", {go}, {on}));
    }
    if (level == Level::kGrowingLoop) {
      add(node("Concat", {inner, "row"}, {next}, "", {int_attribute("axis", 0)}));
    } else if (level == Level::kCuttingLoop) {
      add(node("Unsqueeze", {i, "at"}, {rows}));
      add(node("Slice", {inner, "at", rows}, {next}));
    } else {
      add(node("Identity", {inner}, {next}));
    }
    const Proto body =
        graph({iteration, {untyped(i), untyped(go), untyped(v)}, {untyped(on), untyped(next)}, {}}, "body");
    return {node("Loop", {"trips", "", x}, {named("y")}, "", {graph_attribute("body", body)})};
  }
  std::vector<Proto> if_nodes(Level level, int depth, const std::string& x) {
    const auto named = [&](std::string_view name) { return str(name, depth); };
    const std::string shape = named("s"), extent = named("e"), most = named("most"), z = named("z");
    const std::string condition = level == Level::kIfOfData ? "c" : named("c");
    std::vector<Proto> result;
    if (level != Level::kIfOfData) {
      initializers.push_back(index_scalar(most, depth));
      result = {node("Shape", {x}, {shape}), node("Gather", {shape, "zero"}, {extent}),
                node("Less", {extent, most}, {condition})};
    }
    const Proto other = level == Level::kIfOfRanks ? node("Unsqueeze", {x, "one"}, {z}) : node(core, {x}, {z});
    const auto branch = [](const std::vector<Proto>& inside, const std::string& output) {
      return graph({inside, {}, {untyped(output)}, {}}, "branch");
    };
    result.push_back(node("If", {condition}, {named("y")}, "",
                          {graph_attribute("then_branch", branch(nodes(depth - 1, x), str("y", depth - 1))),
                           graph_attribute("else_branch", branch({other}, z))}));
    return result;
  }
};

/// A model that makes "y<depth>" of x f32[-1, 3], the condition c and the number limit.
inline Proto nested_model(int depth, Nest nest) {
  const std::vector<Proto> nodes = nest.nodes(depth, "x");
  return model(graph({nodes,
                      {value("x", kFloat, {-1, 3}), value("c", kBool), value("limit", kFloat)},
                      {untyped(str("y", depth))},
                      nest.initializers}));
}

}  // namespace kiln::onnx::test
