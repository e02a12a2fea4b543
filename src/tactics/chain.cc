#include "tactics/chain.h"

#include <algorithm>
#include <map>
#include <set>

#include "ops/cast.h"
#include "ops/expand.h"
#include "tactics/quantization.h"

namespace kiln {
namespace {

constexpr size_t kMostNodes = 32;  // of a chain: half of what a nest's code holds
constexpr size_t kMostLeaves = 16;
constexpr size_t kMostCode = 64;  // instructions that a nest holds

class Grower {
 public:
  Grower(const ir::Graph& graph, ir::NodeId root, bool (*has_type)(DType))
      : graph_(graph), root_(root), has_type_(has_type) {}

  std::expected<Chain, Reject> run() {
    if (const auto refused = refusal(root_); !refused.empty()) return reject(refused);
    insert(root_);
    // The latest node comes first, so that all readers of a value are decided before the value's producer.
    std::set<ir::NodeId, std::greater<>> frontier = producers_of(root_);
    for (bool grew = true; grew;) {
      grew = false;
      for (const ir::NodeId id : std::vector(frontier.begin(), frontier.end())) {
        if (inside_.contains(id) || !joins(id) || inside_.size() >= kMostNodes) continue;
        if (code_ + code_of(id) > kMostCode) continue;
        insert(id);
        frontier.merge(producers_of(id));
        grew = true;
        break;
      }
    }
    return build();
  }

 private:
  size_t code_of(ir::NodeId id) const { return is_quantization(graph_.node(id).op) ? kQuantizationCode : 1; }
  void insert(ir::NodeId id) {
    inside_.insert(id);
    code_ += code_of(id);
  }
  std::set<ir::NodeId, std::greater<>> producers_of(ir::NodeId id) const {
    std::set<ir::NodeId, std::greater<>> result;
    for (const ir::ValueId input : graph_.node(id).inputs)
      if (input != ir::ValueId::kNone && graph_.value(input).producer != ir::NodeId::kNone)
        result.insert(graph_.value(input).producer);
    return result;
  }

  /// Empty if a nest can compute the node.
  std::string refusal(ir::NodeId id) const {
    const ir::Node& node = graph_.node(id);
    if (!node.op.has(Trait::kPointwise)) return str(node.op.name(), " is not pointwise");
    for (const ir::ValueId input : node.inputs)
      if (!has_type_(graph_.type(input).dtype)) return str("an input is ", graph_.type(input));
    const TensorType& y = graph_.output_type(id);
    if (!has_type_(y.dtype)) return str("the output is ", y);
    if (is_quantization(node.op)) return quantization_refusal(graph_, id);
    const TensorType& x = graph_.type(node.inputs.back());
    if (!has_nest_function(node.op.scalar().fn, x.dtype))
      return str("there is no kernel for ", name_of(node.op.scalar().fn), " of ", x.dtype);
    return {};
  }

  bool is_expand(ir::NodeId id) const { return graph_.node(id).op.as<ops::Expand>() != nullptr; }

  bool joins(ir::NodeId id) const {
    const ir::Node& node = graph_.node(id);
    const ir::ValueId output = node.outputs[0];
    if (node.outputs.size() != 1 || graph_.is_output(output) || graph_.constant(output)) return false;
    if (!std::ranges::all_of(graph_.value(output).users, [&](ir::NodeId user) { return inside_.contains(user); }))
      return false;
    if (is_expand(id)) return has_type_(graph_.type(output).dtype);
    return graph_.type(output).shape == graph_.output_type(root_).shape && refusal(id).empty();
  }

  /// Appends a node behind the nodes of the chain that it reads.
  void order_from(ir::NodeId id) {
    if (std::ranges::find(chain_.nodes, id) != chain_.nodes.end()) return;
    for (const ir::ValueId input : graph_.node(id).inputs) {
      const ir::NodeId producer = input == ir::ValueId::kNone ? ir::NodeId::kNone : graph_.value(input).producer;
      if (producer != ir::NodeId::kNone && inside_.contains(producer)) order_from(producer);
    }
    chain_.nodes.push_back(id);
  }

  /// The operand that computes a value; leaves become inputs of the program.
  NestOperand operand(ir::ValueId value) {
    while (true) {  // an expand inside is its input, broadcast
      const ir::NodeId producer = graph_.value(value).producer;
      if (producer == ir::NodeId::kNone || !inside_.contains(producer) || !is_expand(producer)) break;
      value = graph_.node(producer).inputs[0];
    }
    const ir::NodeId producer = graph_.value(value).producer;
    if (producer != ir::NodeId::kNone && inside_.contains(producer)) return results_.at(producer);
    const auto [at, is_new] = leaf_index_.emplace(value, static_cast<int>(chain_.leaves.size()));
    if (is_new) {
      chain_.leaves.push_back(value);
      chain_.program.inputs.push_back(graph_.type(value).dtype);
    }
    return ~at->second;
  }

  NestOperand scalar_function(ir::NodeId id) {
    const ir::Node& node = graph_.node(id);
    const Scalar scalar = node.op.scalar();
    NestInstruction instruction{.fn = scalar.fn,
                                .type = graph_.type(node.inputs.back()).dtype,
                                .result = graph_.output_type(id).dtype,
                                .alpha = scalar.alpha,
                                .beta = scalar.beta};
    for (size_t i = 0; i < node.inputs.size(); ++i) instruction.args[i] = operand(node.inputs[i]);
    chain_.program.code.push_back(instruction);
    return static_cast<NestOperand>(chain_.program.code.size()) - 1;
  }
  NestOperand quantization(ir::NodeId id) {
    std::vector<NestOperand> inputs;
    for (const ir::ValueId input : graph_.node(id).inputs) inputs.push_back(operand(input));
    return append_quantization(chain_.program, graph_, id, inputs);
  }

  std::expected<Chain, Reject> build() {
    order_from(root_);
    for (const ir::NodeId id : chain_.nodes) {
      if (is_expand(id)) continue;
      results_[id] = is_quantization(graph_.node(id).op) ? quantization(id) : scalar_function(id);
    }
    if (chain_.leaves.size() > kMostLeaves)
      return reject("the chain reads ", chain_.leaves.size(), " tensors; ", kMostLeaves, " are possible");
    chain_.program.outputs = {graph_.output_type(root_).dtype};
    chain_.program.output_regs = {results_.at(root_)};
    if (Status valid = validate(chain_.program); !valid) return reject(valid.error().message);
    return std::move(chain_);
  }

  const ir::Graph& graph_;
  ir::NodeId root_;
  bool (*has_type_)(DType);
  std::set<ir::NodeId> inside_;
  size_t code_ = 0;  // at most so many instructions
  std::map<ir::NodeId, NestOperand> results_;
  std::map<ir::ValueId, int> leaf_index_;
  Chain chain_;
};

}  // namespace

std::expected<Chain, Reject> grow_chain(const ir::Graph& graph, ir::NodeId root, bool (*has_type)(DType)) {
  return Grower(graph, root, has_type).run();
}

}  // namespace kiln
