#include "tactics/chain.h"

#include <algorithm>
#include <map>
#include <set>

#include "ops/cast.h"
#include "ops/expand.h"
#include "ops/quantize.h"
#include "ops/slice.h"
#include "ops/transpose.h"
#include "tactics/quantization.h"

namespace kiln {
namespace {

constexpr size_t kMostNodes = 32;  // of a chain: half of what a nest's code holds
constexpr size_t kMostLeaves = 16;
constexpr size_t kMostCode = 64;  // instructions that a nest holds

class Grower {
 public:
  Grower(const ir::Graph& graph, ir::NodeId root, bool (*has_type)(DType), ChainReach reach, ir::NodeId left_out)
      : graph_(graph), root_(root), left_out_(left_out), has_type_(has_type), reach_(reach) {}

  std::expected<Chain, Reject> run() {
    if (const auto refused = refusal(root_); !refused.empty()) return reject(refused);
    left_to_sums_ = quantizes_of_sums();
    insert(root_);
    // The latest node comes first, so that all readers of a value are decided before the value's producer.
    std::set<ir::NodeId, std::greater<>> frontier = producers_of(root_);
    for (bool grew = true; grew;) {
      grew = false;
      for (const ir::NodeId id : std::vector(frontier.begin(), frontier.end())) {
        if (inside_.contains(id) || !joins(id) || inside_.size() >= kMostNodes) continue;
        if (code_ + code_of(id) > kMostCode || reads_too_much_with(id)) continue;
        insert(id);
        frontier.merge(producers_of(id));
        grew = true;
        break;
      }
    }
    if (reach_ == ChainReach::kViews && std::ranges::none_of(inside_, [&](ir::NodeId id) {
          return graph_.node(id).op.as<ops::Slice>() || graph_.node(id).op.as<ops::Transpose>();
        }))
      return reject("it reads nothing that Slices or Transposes move");
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

  /// Each Quantize that ends the step of a contraction whose result reaches the chain through pointwise nodes, so that
  /// bytes are in memory. The chain may have one contraction at its beginning, with the Quantize behind it.
  std::set<ir::NodeId> quantizes_of_sums() const {
    std::set<ir::NodeId> result;
    bool has_floats = false;  // of a contraction without a Quantize in between
    std::vector<std::pair<ir::NodeId, ir::NodeId>> left{{root_, ir::NodeId::kNone}};  // a node, a Quantize below it
    for (size_t i = 0; i < left.size() && i < 2 * kMostNodes; ++i) {
      const auto [id, quantize] = left[i];
      const ir::Node& node = graph_.node(id);
      if (node.op.has(Trait::kContraction)) {
        if (quantize == ir::NodeId::kNone)
          has_floats = true;
        else
          result.insert(quantize);
      }
      if (!node.op.has(Trait::kPointwise)) continue;
      const bool is_first = id != root_ && quantize == ir::NodeId::kNone && node.op.as<ops::Quantize>();
      for (const ir::ValueId input : node.inputs)
        if (input != ir::ValueId::kNone && graph_.value(input).producer != ir::NodeId::kNone &&
            graph_.num_uses(input) == 1)
          left.emplace_back(graph_.value(input).producer, is_first ? id : quantize);
    }
    if (!has_floats && !result.empty()) result.erase(std::prev(result.end()));
    return result;
  }

  /// Whether the chain would read more tensors than a nest may if the node joined it.
  bool reads_too_much_with(ir::NodeId joining) const {
    if (2 * inside_.size() + 3 <= kMostLeaves) return false;  // a node reads three tensors, one of which another made
    const auto has = [&](ir::NodeId id) { return id == joining || inside_.contains(id); };
    std::set<ir::ValueId> leaves;
    const auto add_leaves = [&](ir::NodeId id) {
      if (is_expand(id) || is_move(id)) return;
      for (ir::ValueId value : graph_.node(id).inputs) {
        if (value == ir::ValueId::kNone) continue;
        ir::NodeId producer = graph_.value(value).producer;
        for (; producer != ir::NodeId::kNone && has(producer) && is_expand(producer);
             producer = graph_.value(value).producer)
          value = graph_.node(producer).inputs[0];
        if (producer == ir::NodeId::kNone || !has(producer) || is_move(producer)) leaves.insert(value);
      }
    };
    std::ranges::for_each(inside_, add_leaves);
    add_leaves(joining);
    return leaves.size() > kMostLeaves;
  }

  bool is_expand(ir::NodeId id) const { return graph_.node(id).op.as<ops::Expand>() != nullptr; }
  /// Whether the node moves elements that the chain reads where they lay before.
  bool is_move(ir::NodeId id) const { return reach_ == ChainReach::kViews && keeps_rows_readable(graph_, id); }

  /// `view` along the root's axes; nothing where a kernel cannot read it or would better not.
  std::optional<StridedView> along_root(const StridedView& view) const {
    const Shape& space = graph_.output_type(root_).shape;
    if (view.extents.size() > space.size()) return std::nullopt;
    const size_t missing = space.size() - view.extents.size();
    StridedView result{view.source, view.offset, space, Shape(space.size(), 0)};
    for (size_t axis = 0; axis < view.extents.size(); ++axis) {
      if (view.extents[axis] == sym::Expr(1)) continue;
      if (view.extents[axis] != space[missing + axis]) return std::nullopt;
      result.strides[missing + axis] = view.strides[axis];
    }
    // Elements that are further apart are better moved by a kernel that reads them side by side.
    const auto last = result.strides.empty() ? std::optional<int64_t>(0) : result.strides.back().constant();
    return last && *last >= -1 && *last <= 1 ? std::optional(result) : std::nullopt;
  }
  /// Whether nodes of the chain can read all that they read of `value`, through nodes that move it, as `view` has it.
  bool is_readable(ir::ValueId value, const StridedView& view) const {
    return std::ranges::all_of(graph_.value(value).users, [&](ir::NodeId user) {
      if (!is_move(user)) return along_root(view).has_value();
      const auto moved = moved_view(graph_, user, view);
      return graph_.node(user).inputs[0] == value && moved && is_readable(graph_.node(user).outputs[0], *moved);
    });
  }
  bool joins_as_move(ir::NodeId id) const {
    const ir::Node& node = graph_.node(id);
    if (!has_type_(graph_.type(node.inputs[0]).dtype)) return false;
    const auto view = moved_view(graph_, id, whole_view(graph_, node.inputs[0]));
    return view && is_readable(node.outputs[0], *view);
  }

  bool joins(ir::NodeId id) const {
    const ir::Node& node = graph_.node(id);
    const ir::ValueId output = node.outputs[0];
    if (node.outputs.size() != 1 || graph_.is_output(output) || graph_.constant(output)) return false;
    if (id == left_out_ || left_to_sums_.contains(id)) return false;
    if (!std::ranges::all_of(graph_.value(output).users, [&](ir::NodeId user) { return inside_.contains(user); }))
      return false;
    if (is_move(id)) return joins_as_move(id);
    if (std::ranges::any_of(graph_.value(output).users, [&](ir::NodeId user) { return is_move(user); })) return false;
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
    const bool is_inside = producer != ir::NodeId::kNone && inside_.contains(producer);
    if (is_inside && !is_move(producer)) return results_.at(producer);
    const auto [at, is_new] = leaf_index_.emplace(value, static_cast<int>(chain_.leaves.size()));
    if (is_new) {
      chain_.views.push_back(is_inside ? along_root(view_of(value)) : std::nullopt);
      CHECK(!is_inside || chain_.views.back());
      chain_.leaves.push_back(is_inside ? chain_.views.back()->source : value);
      chain_.program.inputs.push_back(graph_.type(value).dtype);
    }
    return ~at->second;
  }
  /// The value in the memory of what the chain's nodes that move it read.
  StridedView view_of(ir::ValueId value) const {
    const ir::NodeId producer = graph_.value(value).producer;
    if (producer == ir::NodeId::kNone || !inside_.contains(producer)) return whole_view(graph_, value);
    return *moved_view(graph_, producer, view_of(graph_.node(producer).inputs[0]));
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
      if (is_expand(id) || is_move(id)) continue;
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
  ir::NodeId root_, left_out_;
  bool (*has_type_)(DType);
  ChainReach reach_;
  std::set<ir::NodeId> inside_;
  std::set<ir::NodeId> left_to_sums_;  // each Quantize that ends another step
  size_t code_ = 0;                    // at most so many instructions
  std::map<ir::NodeId, NestOperand> results_;
  std::map<ir::ValueId, int> leaf_index_;
  Chain chain_;
};

}  // namespace

std::expected<Chain, Reject> grow_chain(const ir::Graph& graph, ir::NodeId root, bool (*has_type)(DType),
                                        ChainReach reach, ir::NodeId left_out) {
  return Grower(graph, root, has_type, reach, left_out).run();
}

}  // namespace kiln
