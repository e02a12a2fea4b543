#include "onnx/check.h"

#include <algorithm>
#include <set>
#include <span>
#include <unordered_set>

#include "onnx/topological_order.h"

namespace kiln::onnx {
namespace {

using Names = std::unordered_set<std::string_view>;

/// A model that misses thousands of values has one mistake; the first ones show it.
constexpr size_t kMaxProblems = 100;

/// The values that a graph may use: its own and those of the graphs around it.
struct Visible {
  const Visible* outer = nullptr;
  Names names = {};

  bool contains(std::string_view name) const {
    for (const Visible* level = this; level; level = level->outer)
      if (level->names.contains(name)) return true;
    return false;
  }
};

/// The graph that a problem is in, given by the nodes around it; the main graph has none. It becomes text only when
/// there is a problem.
struct Where {
  const Where* outer = nullptr;
  const NodeDef* node = nullptr;
  std::string_view attribute;
};
/// The node of the main graph that a body is in, directly or not; null for the main graph.
const NodeDef* outermost(const Where& where) {
  return where.outer && where.outer->node ? outermost(*where.outer) : where.node;
}
void append(std::string& out, const Where& where) {
  if (!where.node) return;
  append(out, *where.outer);
  out += str(*where.node, ": ", where.attribute, ": ");
}

/// Where a body gives a name, for whoever reads it from another place: "node 'r' (Relu) in then_branch of node 'if'
/// (If)"; empty where no body does.
std::string maker_in_bodies(const GraphDef& graph, std::string_view name) {
  for (const NodeDef& node : graph.nodes)
    for (const AttributeDef& attribute : node.attributes)
      for (const auto& body : attribute.graphs) {
        for (const NodeDef& inner : body->nodes)
          if (std::ranges::find(inner.outputs, name) != inner.outputs.end())
            return str(inner, " in ", attribute.name, " of ", node);
        if (std::string deeper = maker_in_bodies(*body, name); !deeper.empty()) return deeper;
      }
  return {};
}

class Checker {
 public:
  Checker(const GraphDef& main, CheckedModel& out) : main_(main), out_(out) {}

  void versions(const Model& model);
  /// The graph with its nodes sorted; null if they were.
  std::shared_ptr<GraphDef> graph(const GraphDef& graph, const Visible* outer, const Where& where);

 private:
  Names define_values(const GraphDef& graph, const Where& where);
  void use_values(const GraphDef& graph, const Visible& visible, const Where& where);
  std::shared_ptr<GraphDef> bodies(const GraphDef& graph, const Visible& visible, const Where& where);
  void attributes(const NodeDef& node, const Where& where);

  void unknown_value(std::string_view what, std::string_view name, const NodeDef* node, const Where& where);
  void renumber(std::span<const size_t> order);

  template <class... Parts>
  void problem(Code code, const Parts&... parts) {
    add(code, nullptr, str(parts...));
  }
  template <class... Parts>
  void problem_in(const Where& where, const Parts&... parts) {
    add(Code::kCorrupt, outermost(where), str(where, parts...));
  }
  template <class... Parts>
  void problem_of(const Where& where, const NodeDef& node, const Parts&... parts) {
    const NodeDef* around = outermost(where);
    add(Code::kCorrupt, around ? around : &node, str(where, node, ": ", parts...));
  }
  void add(Code code, const NodeDef* node, std::string message) {
    if (out_.problems.size() == kMaxProblems) return;
    out_.problems.push_back({code, std::move(message), node ? static_cast<int>(node - main_.nodes.data()) : -1});
  }

  const GraphDef& main_;
  CheckedModel& out_;
};

void add_domains(const GraphDef& graph, std::set<std::string_view>& domains) {
  for (const NodeDef& node : graph.nodes) {
    if (node.opset == 0) domains.insert(node.domain);
    for (const AttributeDef& attribute : node.attributes)
      for (const auto& body : attribute.graphs) add_domains(*body, domains);
  }
}

/// Operators whose meaning no version before kOldestOpset changed.
bool are_ageless(const GraphDef& graph) {
  static constexpr std::string_view kAgeless[] = {"Not",           "Transpose", "Shape",   "Size", "GlobalAveragePool",
                                                  "GlobalMaxPool", "Softplus",  "Softsign"};
  return std::ranges::all_of(
      graph.nodes, [](const NodeDef& node) { return std::ranges::find(kAgeless, node.op_type) != std::end(kAgeless); });
}

void Checker::versions(const Model& model) {
  if (model.ir_version < kOldestIr)
    problem(Code::kUnsupported, "IR version ", model.ir_version, " is below ", kOldestIr,
            ", the oldest that Kiln reads; save the model again with a newer onnx");
  if (model.ir_version > kNewestIr)
    out_.warnings.push_back(str("IR version ", model.ir_version, " is above ", kNewestIr,
                                ", the newest that Kiln knows; what it does not know is ignored"));
  if (const auto opset = model.opset("")) {
    if (*opset < kOldestOpset && !are_ageless(model.graph))
      problem(Code::kUnsupported, "opset ", *opset, " is below ", kOldestOpset,
              ", the oldest that Kiln reads; convert the model with onnx.version_converter");
    if (*opset > kNewestOpset)
      out_.warnings.push_back(str("opset ", *opset, " is above ", kNewestOpset,
                                  ", the newest that Kiln knows; operators are taken as in opset ", kNewestOpset));
  }
  std::set<std::string_view> domains;
  add_domains(model.graph, domains);
  for (const std::string_view domain : domains)
    if (!model.opset(domain))
      problem(Code::kCorrupt, "the model uses operators of domain '", domain.empty() ? "ai.onnx" : domain,
              "', but imports no operator set of it");
  if (model.has_training_info) out_.warnings.push_back("the model's training information is ignored");
}

/// The names that the graph gives, each once. An initializer may be the default of an input of the same name.
Names Checker::define_values(const GraphDef& graph, const Where& where) {
  Names names, initializers;
  for (const ValueInfo& input : graph.inputs)
    if (!names.insert(input.name).second) problem_in(where, "there are two inputs '", input.name, "'");
  const auto add_initializer = [&](std::string_view name) {
    if (!initializers.insert(name).second) problem_in(where, "there are two initializers '", name, "'");
  };
  for (const TensorDef& tensor : graph.initializers) add_initializer(tensor.name);
  names.insert(initializers.begin(), initializers.end());
  for (const NodeDef& node : graph.nodes)
    for (const std::string_view output : node.outputs)
      if (!output.empty() && !names.insert(output).second)
        problem_of(where, node, "output '", output, "' is the name of another value too");
  return names;
}

void Checker::use_values(const GraphDef& graph, const Visible& visible, const Where& where) {
  for (const NodeDef& node : graph.nodes) {
    if (node.op_type.empty()) problem_of(where, node, "it has no op type");
    for (const std::string_view input : node.inputs)
      if (!input.empty() && !visible.contains(input)) unknown_value("input", input, &node, where);
    attributes(node, where);
  }
  for (const ValueInfo& output : graph.outputs)
    if (!visible.contains(output.name)) unknown_value("output", output.name, nullptr, where);
}

/// Tells of a name that stands for no value here. `node` is null for outputs of the graph.
void Checker::unknown_value(std::string_view what, std::string_view name, const NodeDef* node, const Where& where) {
  const std::string maker = maker_in_bodies(main_, name);
  const std::string why = maker.empty() ? str("' is made by no node, and is no input or initializer")
                                        : str("' is made by ", maker, ", and is known in that body alone");
  node ? problem_of(where, *node, what, " '", name, why) : problem_in(where, what, " '", name, why);
}

/// Gives problems the positions that their nodes have in the sorted main graph.
void Checker::renumber(std::span<const size_t> order) {
  std::vector<int> place(order.size());
  for (size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<int>(i);
  for (ModelProblem& problem : out_.problems)
    if (problem.node >= 0) problem.node = place[static_cast<size_t>(problem.node)];
}

void Checker::attributes(const NodeDef& node, const Where& where) {
  Names names;
  for (const AttributeDef& attribute : node.attributes) {
    if (!names.insert(attribute.name).second) problem_of(where, node, "it has two attributes '", attribute.name, "'");
    if (!attribute.ref_name.empty())
      problem_of(where, node, "attribute '", attribute.name, "' refers to '", attribute.ref_name,
                 "' of a function, but the node is in none");
  }
}

std::shared_ptr<GraphDef> Checker::bodies(const GraphDef& graph, const Visible& visible, const Where& where) {
  std::shared_ptr<GraphDef> changed;
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    for (size_t a = 0; a < graph.nodes[n].attributes.size(); ++a) {
      const AttributeDef& attribute = graph.nodes[n].attributes[a];
      for (size_t g = 0; g < attribute.graphs.size(); ++g) {
        const Where inner{&where, &graph.nodes[n], attribute.name};
        auto sorted = this->graph(*attribute.graphs[g], &visible, inner);
        if (!sorted) continue;
        if (!changed) changed = std::make_shared<GraphDef>(graph);
        changed->nodes[n].attributes[a].graphs[g] = std::move(sorted);
      }
    }
  return changed;
}

std::shared_ptr<GraphDef> Checker::graph(const GraphDef& graph, const Visible* outer, const Where& where) {
  const Visible visible{outer, define_values(graph, where)};
  use_values(graph, visible, where);
  std::shared_ptr<GraphDef> changed = bodies(graph, visible, where);
  const auto order = topological_order(graph);
  if (!order) {
    add(order.error().code, outermost(where), str(where, order.error().message));
    return changed;
  }
  if (std::is_sorted(order->begin(), order->end())) return changed;
  if (!changed) changed = std::make_shared<GraphDef>(graph);
  std::vector<NodeDef> nodes;
  nodes.reserve(order->size());
  for (const size_t index : *order) nodes.push_back(std::move(changed->nodes[index]));
  changed->nodes = std::move(nodes);
  if (!where.node) renumber(*order);
  return changed;
}

}  // namespace

CheckedModel check_model(std::shared_ptr<const Model> model) {
  CheckedModel out{.model = model, .problems = {}, .warnings = {}};
  Checker checker(model->graph, out);
  checker.versions(*model);
  if (const auto sorted = checker.graph(model->graph, nullptr, Where{})) {
    auto changed = std::make_shared<Model>(*model);
    changed->graph = std::move(*sorted);
    changed->owner = std::move(model);  // the texts that it made itself are not in the copy's
    changed->texts.clear();
    out.model = std::move(changed);
  }
  return out;
}

}  // namespace kiln::onnx
