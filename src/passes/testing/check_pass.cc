#include "passes/testing/check_pass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "ir/interpret.h"
#include "ir/parse.h"
#include "passes/testing/random_graph.h"
#include "tensor/view.h"

namespace kiln::passes {
namespace {

Status run(Pass pass, ir::Graph& graph, bool strongly_typed) {
  NullLog log;
  PassContext cx{log};
  cx.strongly_typed = strongly_typed;
  TRY(pass(graph, cx));
  return ir::verify(graph);
}

/// The difference of two tensors, with its place; empty if they agree.
std::string difference(const HostTensor& before, const HostTensor& after, double tolerance) {
  if (before.dtype() != after.dtype() || before.extents() != after.extents())
    return str(before.dtype(), before.extents(), " became ", after.dtype(), after.extents());
  const View x(before), y(after);
  double largest = 0;
  for (int64_t i = 0; i < x.volume(); ++i)
    if (std::isfinite(x[i])) largest = std::max(largest, std::abs(x[i]));
  for (int64_t i = 0; i < x.volume(); ++i) {
    const bool same =
        x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i])) || std::abs(x[i] - y[i]) <= tolerance * largest;
    if (!same) return str("element ", i, " was ", x[i], " and is ", y[i]);
  }
  return {};
}

/// An assumption that `after` must not make: one that does not hold at an extent at which all of `before` holds. Empty
/// if there is none.
std::string believed_too_much(std::span<const sym::Assumption> before, const ir::Graph& after) {
  const std::span<const sym::Expr> symbols = after.shared_table()->symbols();
  if (symbols.empty()) return {};
  CHECK(symbols.size() == 1);  // that of random graphs
  const sym::Bounds bounds = after.shared_table()->bounds(symbols[0]);
  for (int64_t n = bounds.min; n <= bounds.max; ++n) {
    const auto check = [&](const sym::Assumption& x) { return sym::Guard::compile(x).check({&n, 1}); };
    if (!std::ranges::all_of(before, [&](const sym::Assumption& x) { return check(x).has_value(); })) continue;
    for (const sym::Assumption& belief : after.beliefs())
      if (const Status holds = check(belief); !holds)
        return str("where ", symbols[0], " is ", n, ": ", holds.error().message);
  }
  return {};
}

/// The text without the comments that hold types.
std::string without_types(const std::string& text) {
  std::string out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    out += line.substr(0, line.find("  #")) + '\n';
    begin = end + 1;
  }
  return out;
}

/// Names every value of the graph: who watches it has to see the same value behind the pass.
void tap_all(ir::Graph& graph) {
  for (int i = 0; i < graph.num_values(); ++i) graph.add_tap(static_cast<ir::ValueId>(i), str("value ", i));
}

/// Values by their taps.
Result<std::map<std::string, HostTensor>> tapped(const ir::Graph& graph, const std::vector<HostTensor>& inputs) {
  ir::Graph all = graph.clone();
  std::vector<std::string> names;
  for (size_t i = 0; i < graph.outputs().size(); ++i) names.emplace_back();
  for (int i = 0; i < all.num_values(); ++i) {
    const auto value = static_cast<ir::ValueId>(i);
    const ir::NodeId producer = all.value(value).producer;
    if (producer != ir::NodeId::kNone && !all.alive(producer)) continue;
    const std::vector<std::string> taps = all.value(value).taps;
    for (const std::string& tap : taps) all.mark_output(value, tap), names.push_back(tap);
  }
  std::vector<HostTensor> values = TRY(ir::interpret(all, inputs));
  std::map<std::string, HostTensor> result;
  for (size_t i = 0; i < values.size(); ++i)
    if (!names[i].empty()) result.emplace(names[i], std::move(values[i]));
  return result;
}

}  // namespace

void check_pass(Pass pass, std::span<const OpInfo* const> ops, const CheckOptions& options) {
  int changed = 0;
  for (int seed = 0; seed < options.graphs; ++seed) {
    RandomGraph random = random_graph(static_cast<uint64_t>(seed), options.nodes, ops);
    ir::Graph& graph = random.graph;
    const std::string text = ir::print(graph);
    const auto before = ir::interpret(graph, random.inputs);
    if (!before) continue;  // the inputs break an assumption
    const std::vector<sym::Assumption> believed = graph.beliefs();
    tap_all(graph);
    const auto tapped_before = tapped(graph, random.inputs);
    ASSERT_TRUE(tapped_before) << "seed " << seed << ": " << tapped_before.error().message << "\n" << text;
    const Status passed = run(pass, graph, options.strongly_typed);
    ASSERT_TRUE(passed) << "seed " << seed << ": " << passed.error().message << "\n" << text;
    const std::string once = ir::print(graph);
    changed += once != text;
    ASSERT_EQ(believed_too_much(believed, graph), "") << "seed " << seed << "\n" << text << "became\n" << once;
    const auto after = ir::interpret(graph, random.inputs);
    ASSERT_TRUE(after) << "seed " << seed << ": " << after.error().message << "\n" << text << "became\n" << once;
    for (size_t i = 0; i < before->size(); ++i) {
      const std::string differs = difference((*before)[i], (*after)[i], options.tolerance);
      ASSERT_EQ(differs, "") << "seed " << seed << ", output " << i << "\n" << text << "became\n" << once;
    }
    const auto tapped_after = tapped(graph, random.inputs);
    ASSERT_TRUE(tapped_after) << "seed " << seed << ": " << tapped_after.error().message << "\n" << text;
    for (const auto& [name, value] : *tapped_after)
      ASSERT_EQ(difference(tapped_before->at(name), value, options.tolerance), "")
          << "seed " << seed << ", the tap of " << name << "\n"
          << text << "became\n"
          << once;
    ASSERT_TRUE(run(pass, graph, options.strongly_typed));
    if (options.settles) {
      ASSERT_EQ(ir::print(graph), once) << "seed " << seed << ": a second run changes the graph";
    }
  }
  EXPECT_GE(changed, options.least_changed) << "the random graphs do not try this pass";
}

std::string after_pass(Pass pass, std::string_view text, bool strongly_typed) {
  auto graph = ir::parse(text);
  if (!graph) return graph.error().message;
  const Status passed = run(pass, *graph, strongly_typed);
  return passed ? without_types(ir::print(*graph)) : passed.error().message;
}

}  // namespace kiln::passes
