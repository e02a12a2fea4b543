#include "onnx/inline_functions.h"

#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "onnx/node_reader.h"

namespace kiln::onnx {
namespace {

using Key = std::tuple<std::string_view, std::string_view, std::string_view>;  // domain, name, overload
Key key_of(const NodeDef& node) { return {node.domain, node.op_type, node.overload}; }

/// Calls and bodies around a node, together. Bounds the stack.
constexpr int kMaxDepth = 128;
/// Functions that call functions grow without bound: n of them, two calls each, make 2^n nodes.
constexpr size_t kMaxExpandedItems = 2'000'000;
constexpr size_t kMaxTextBytes = size_t{256} << 20;

/// The call that nodes are being expanded for.
struct Frame {
  const FunctionDef& function;
  const NodeDef& call;
  std::string_view prefix;  ///< what inner names begin with
};

/// New names of the values of a function body or of a graph inside one. Graphs outside of functions keep their names.
struct Scope {
  const Scope* outer = nullptr;
  std::unordered_map<std::string_view, std::string_view> names = {};

  const std::string_view* find(std::string_view name) const {
    for (const Scope* scope = this; scope; scope = scope->outer)
      if (const auto found = scope->names.find(name); found != scope->names.end()) return &found->second;
    return nullptr;
  }
};

std::string describe(const FunctionDef& f) {
  return str("function '", f.domain, f.domain.empty() ? "" : ".", f.name, f.overload.empty() ? "" : ":", f.overload,
             "'");
}

struct Deeper {
  int& depth;
  explicit Deeper(int& depth) : depth(depth) { ++depth; }
  ~Deeper() { --depth; }
};

std::unexpected<Error> too_deep() {
  return error(Code::kUnsupported, "calls of functions and bodies nest deeper than ", kMaxDepth, " levels");
}

/// The version of `domain` that a function was written for; 0 if that is what the model imports too.
int64_t own_opset(const Model& model, const FunctionDef& function, std::string_view domain) {
  for (const OpsetImport& import : function.opset_imports)
    if (import.domain == domain && model.opset(domain) != import.version) return import.version;
  return 0;
}

class Inliner {
 public:
  explicit Inliner(Model& out) : out_(out) {}

  Status run(const Model& in);

 private:
  Status index_functions(const Model& in);
  void take_names(const GraphDef& graph);
  std::string_view fresh(std::unordered_set<std::string_view>& taken, std::string_view prefix, std::string_view name);

  Status expand_nodes(const std::vector<NodeDef>& nodes, const Scope& scope, const Frame* frame,
                      std::vector<NodeDef>& out);
  Status expand_call(const FunctionDef& function, const NodeDef& call, std::vector<NodeDef>& out);
  Status bind_call(const Frame& frame, Scope& scope, std::vector<NodeDef>& copies);
  Result<NodeDef> rewrite_node(const NodeDef& node, const Scope& scope, const Frame* frame);
  Status rewrite_attribute(AttributeDef attribute, const Scope& scope, const Frame* frame, NodeDef& out);
  Result<std::shared_ptr<const GraphDef>> rewrite_graph(const GraphDef& graph, const Scope& outer, const Frame* frame);
  void define(Scope& scope, std::string_view name, const Frame& frame);
  Result<std::string_view> renamed(std::string_view name, const Scope& scope, const Frame* frame) const;
  Status charge(const NodeDef& node);
  Status check_budget() const;

  Model& out_;
  std::map<Key, const FunctionDef*> functions_;
  std::unordered_set<std::string_view> values_, node_names_;   // taken
  std::vector<const FunctionDef*> calls_;                      // from the outermost to the current
  std::unordered_map<std::string_view, int64_t> last_number_;  // that was put after a name
  size_t items_ = 0, text_bytes_ = 0;
  int depth_ = 0;
};

Status Inliner::run(const Model& in) {
  TRY(index_functions(in));
  take_names(in.graph);
  std::vector<NodeDef> nodes;
  TRY(expand_nodes(in.graph.nodes, Scope{}, nullptr, nodes));
  out_.graph.nodes = std::move(nodes);
  return check_budget();
}

Status Inliner::index_functions(const Model& in) {
  for (const FunctionDef& function : in.functions)
    if (!functions_.emplace(Key{function.domain, function.name, function.overload}, &function).second)
      return error(Code::kCorrupt, describe(function), " is defined twice");
  return {};
}

void Inliner::take_names(const GraphDef& graph) {
  for (const ValueInfo& input : graph.inputs) values_.insert(input.name);
  for (const ValueInfo& output : graph.outputs) values_.insert(output.name);
  for (const TensorDef& tensor : graph.initializers) values_.insert(tensor.name);
  for (const NodeDef& node : graph.nodes) {
    node_names_.insert(node.name);
    values_.insert(node.inputs.begin(), node.inputs.end());
    values_.insert(node.outputs.begin(), node.outputs.end());
    for (const AttributeDef& attribute : node.attributes)
      for (const auto& body : attribute.graphs) take_names(*body);
  }
}

std::string_view Inliner::fresh(std::unordered_set<std::string_view>& taken, std::string_view prefix,
                                std::string_view name) {
  text_bytes_ += prefix.size() + 1 + name.size();
  if (text_bytes_ > kMaxTextBytes) return name;  // nobody will see it: check_budget fails
  const std::string text = prefix.empty() ? std::string(name) : str(prefix, '/', name);
  const auto known = taken.find(text);
  if (known == taken.end()) return *taken.insert(out_.keep(text)).first;
  for (int64_t& number = last_number_[*known];;) {
    std::string numbered = str(text, '_', ++number);
    if (!taken.contains(numbered)) return *taken.insert(out_.keep(std::move(numbered))).first;
  }
}

/// Counts what the expansion makes; models that are meant to exhaust memory end here.
Status Inliner::charge(const NodeDef& node) {
  items_ += 1 + node.inputs.size() + node.outputs.size() + node.metadata.size();
  for (const AttributeDef& attribute : node.attributes)
    items_ += 4 + attribute.floats.size() + attribute.ints.size() + attribute.strings.size() +
              attribute.tensors.size() + attribute.graphs.size() + attribute.types.size();
  return check_budget();
}

Status Inliner::check_budget() const {
  if (items_ > kMaxExpandedItems || text_bytes_ > kMaxTextBytes)
    return error(Code::kUnsupported, "its functions expand to more than ", kMaxExpandedItems,
                 " nodes, inputs and "
                 "attributes, or more than ",
                 kMaxTextBytes >> 20, " MiB of names");
  return {};
}

Status Inliner::expand_nodes(const std::vector<NodeDef>& nodes, const Scope& scope, const Frame* frame,
                             std::vector<NodeDef>& out) {
  for (const NodeDef& node : nodes) {
    const auto describe_node = [&] { return str(node); };
    TRY(in_context(charge(node), describe_node));
    NodeDef rewritten = TRY(in_context(rewrite_node(node, scope, frame), describe_node));
    const auto function = functions_.find(key_of(node));
    if (function != functions_.end())
      TRY(in_context(expand_call(*function->second, rewritten, out), describe_node));
    else
      out.push_back(std::move(rewritten));
  }
  return {};
}

Status Inliner::expand_call(const FunctionDef& function, const NodeDef& call, std::vector<NodeDef>& out) {
  const Deeper deeper(depth_);
  if (depth_ > kMaxDepth) return too_deep();
  for (const FunctionDef* caller : calls_)
    if (caller == &function) {
      std::string path;
      for (const FunctionDef* step : calls_) path += str(step->name, " -> ");
      return error(Code::kCorrupt, describe(function), " calls itself: ", path, function.name);
    }
  calls_.push_back(&function);
  const std::string_view prefix = call.name.empty() ? fresh(node_names_, "", call.op_type) : call.name;
  const Frame frame{function, call, prefix};
  Scope scope;
  std::vector<NodeDef> copies;
  const Status done = in_context(
      [&]() -> Status {
        TRY(bind_call(frame, scope, copies));
        return expand_nodes(function.nodes, scope, &frame, out);
      }(),
      [&] { return describe(function); });
  for (NodeDef& copy : copies) out.push_back(std::move(copy));
  calls_.pop_back();
  return done;
}

/// Gives the function's inputs and outputs the call's names and every other value a fresh one. An output that is an
/// input, or another output too, becomes a copy at the end.
Status Inliner::bind_call(const Frame& frame, Scope& scope, std::vector<NodeDef>& copies) {
  const auto& [function, call, prefix] = frame;
  if (call.inputs.size() > function.inputs.size() || call.outputs.size() > function.outputs.size())
    return error(Code::kCorrupt, "is called with ", call.inputs.size(), " inputs and ", call.outputs.size(),
                 " outputs; it has ", function.inputs.size(), " and ", function.outputs.size());
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    const bool is_given = i < call.inputs.size();
    if (!scope.names.emplace(function.inputs[i], is_given ? call.inputs[i] : std::string_view{}).second)
      return error(Code::kCorrupt, "has two inputs '", function.inputs[i], "'");
  }
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    if (call.outputs[i].empty()) continue;
    const auto [known, is_new] = scope.names.emplace(function.outputs[i], call.outputs[i]);
    if (is_new) continue;
    if (known->second.empty())
      return error(Code::kCorrupt, "output '", call.outputs[i], "' is input '", function.outputs[i],
                   "', which the call leaves out");
    NodeDef copy;
    copy.name = fresh(node_names_, prefix, "Identity");
    copy.op_type = "Identity";
    copy.opset = own_opset(out_, function, "");
    copy.inputs = {known->second};
    copy.outputs = {call.outputs[i]};
    copies.push_back(std::move(copy));
  }
  std::unordered_set<std::string_view> made(function.inputs.begin(), function.inputs.end());
  for (const NodeDef& node : function.nodes)
    for (const std::string_view output : node.outputs) {
      if (!output.empty()) define(scope, output, frame);
      made.insert(output);
    }
  for (const std::string_view output : function.outputs)
    if (!made.contains(output)) return error(Code::kCorrupt, "output '", output, "' is made by none of its nodes");
  return {};
}

void Inliner::define(Scope& scope, std::string_view name, const Frame& frame) {
  if (const auto [at, is_new] = scope.names.emplace(name, std::string_view{}); is_new)
    at->second = fresh(values_, frame.prefix, name);
}

Result<std::string_view> Inliner::renamed(std::string_view name, const Scope& scope, const Frame* frame) const {
  if (!frame || name.empty()) return name;
  if (const std::string_view* found = scope.find(name)) return *found;
  return error(Code::kCorrupt, "value '", name, "' is made by no node and is no input");
}

Result<NodeDef> Inliner::rewrite_node(const NodeDef& node, const Scope& scope, const Frame* frame) {
  NodeDef out = node;
  out.attributes.clear();
  for (std::string_view& name : out.inputs) name = TRY(renamed(name, scope, frame));
  for (std::string_view& name : out.outputs) name = TRY(renamed(name, scope, frame));
  if (frame) {
    out.name = fresh(node_names_, frame->prefix, node.name.empty() ? node.op_type : node.name);
    out.opset = own_opset(out_, frame->function, node.domain);
    for (const FunctionDef* function : calls_) out.functions.push_back(function->name);
    items_ += calls_.size();
  }
  for (const AttributeDef& attribute : node.attributes) TRY(rewrite_attribute(attribute, scope, frame, out));
  return out;
}

Status Inliner::rewrite_attribute(AttributeDef attribute, const Scope& scope, const Frame* frame, NodeDef& out) {
  if (!attribute.ref_name.empty() && frame) {
    const AttributeDef* given = NodeReader(frame->call).find(attribute.ref_name);
    if (!given)
      for (const AttributeDef& fallback : frame->function.default_attributes)
        if (fallback.name == attribute.ref_name) given = &fallback;
    if (!given) return {};  // an optional attribute that the call left out
    if (attribute.kind != AttributeKind::kUndefined && attribute.kind != given->kind)
      return error(Code::kCorrupt, "attribute '", attribute.name, "' is a ", attribute.kind, "; '", attribute.ref_name,
                   "' that it refers to is a ", given->kind);
    if (!given->graphs.empty())
      return error(Code::kUnsupported, "attribute '", attribute.name,
                   "' is a graph that is passed to a function; that is "
                   "not in Kiln yet");
    const std::string_view name = attribute.name;
    attribute = *given;
    attribute.name = name;
    out.attributes.push_back(std::move(attribute));
    return charge(out);
  }
  for (auto& graph : attribute.graphs) graph = TRY(rewrite_graph(*graph, scope, frame));
  out.attributes.push_back(std::move(attribute));
  return {};
}

Result<std::shared_ptr<const GraphDef>> Inliner::rewrite_graph(const GraphDef& graph, const Scope& outer,
                                                               const Frame* frame) {
  const Deeper deeper(depth_);
  if (depth_ > kMaxDepth) return too_deep();
  auto out = std::make_shared<GraphDef>(graph);
  out->nodes.clear();
  Scope scope{.outer = &outer};
  if (frame) {
    out->value_infos.clear();  // hints under the old names
    items_ += graph.inputs.size() + graph.outputs.size() + graph.initializers.size();
    for (ValueInfo& input : out->inputs) define(scope, input.name, *frame), input.name = scope.names[input.name];
    for (TensorDef& tensor : out->initializers)
      define(scope, tensor.name, *frame), tensor.name = scope.names[tensor.name];
    for (const NodeDef& node : graph.nodes)
      for (const std::string_view output : node.outputs)
        if (!output.empty()) define(scope, output, *frame);
    for (ValueInfo& output : out->outputs) output.name = TRY(renamed(output.name, scope, frame));
  }
  TRY(expand_nodes(graph.nodes, scope, frame, out->nodes));
  return out;
}

}  // namespace

Result<std::shared_ptr<const Model>> inline_functions(std::shared_ptr<const Model> model) {
  if (model->functions.empty()) return model;
  auto out = std::make_shared<Model>();
  out->ir_version = model->ir_version;
  out->model_version = model->model_version;
  out->producer_name = model->producer_name;
  out->producer_version = model->producer_version;
  out->domain = model->domain;
  out->opset_imports = model->opset_imports;
  out->graph = model->graph;
  out->metadata = model->metadata;
  out->has_training_info = model->has_training_info;
  out->external = model->external;
  TRY(in_context(Inliner(*out).run(*model), [] { return "expanding the model's functions"; }));
  out->owner = std::move(model);  // its bytes, and texts that it made itself
  return out;
}

}  // namespace kiln::onnx
