/// TreeEnsemble of ai.onnx.ml by matrix products. A leaf is reached where all decisions of its path are as they are on
/// it: where the decisions, 0 and 1, times a column of 1 (for true) and -1 (for false) give the number of 1s.
#include <algorithm>
#include <cmath>

#include "onnx/dtypes.h"
#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/concatenation.h"
#include "ops/gather.h"
#include "ops/softmax.h"
#include "tensor/view.h"

namespace kiln::onnx::importers::ml {
namespace {

using enum ElementWiseKind;

enum class Branch : int64_t { kLeq, kLt, kGte, kGt, kEq, kNeq, kMember };
constexpr int64_t kNumBranches = 7;
constexpr int64_t kLargestMatrix = 1 << 22;  // of decisions by leaves

constexpr size_t kMostLeaves = 4096;  // of a tree
constexpr int64_t kMostTargets = 1 << 12;

struct Trees {
  std::vector<int64_t> features, true_nodes, false_nodes, true_leaves, false_leaves, missing_is_true, leaf_targets,
      roots;
  std::vector<double> splits, weights;
  std::vector<Branch> modes;
  std::vector<std::vector<double>> members;  ///< by node
  int64_t num_targets;
};

Result<std::vector<double>> numbers(ImportContext& cx, std::string_view attribute) {
  const TensorDef* given = TRY(cx.node().get_tensor(attribute));
  if (!given) return std::vector<double>();
  return View(TRY(host_tensor(TRY(tensor_data(cx.model(), *given))))).numbers();
}

Status check_indices(std::string_view what, const Ints& indices, size_t count) {
  for (const int64_t i : indices)
    TRY(require(i >= 0 && i < static_cast<int64_t>(count), what, " has ", i, ", which is outside [0, ", count, ")"));
  return {};
}

Result<Trees> read_trees(ImportContext& cx) {
  NodeReader& node = cx.node();
  Trees t{TRY(node.need_ints("nodes_featureids")),
          TRY(node.need_ints("nodes_truenodeids")),
          TRY(node.need_ints("nodes_falsenodeids")),
          TRY(node.need_ints("nodes_trueleafs")),
          TRY(node.need_ints("nodes_falseleafs")),
          TRY(node.get_ints("nodes_missing_value_tracks_true", {})),
          TRY(node.need_ints("leaf_targetids")),
          TRY(node.need_ints("tree_roots")),
          TRY(numbers(cx, "nodes_splits")),
          TRY(numbers(cx, "leaf_weights")),
          {},
          {},
          TRY(node.need_int("n_targets"))};
  for (const std::string_view hint : {"nodes_hitrates", "nodes_hitrates_as_tensor"}) node.pass_over(hint);
  const size_t count = t.features.size();
  for (const auto& [what, size] : {std::pair("nodes_truenodeids", t.true_nodes.size()),
                                   {"nodes_falsenodeids", t.false_nodes.size()},
                                   {"nodes_trueleafs", t.true_leaves.size()},
                                   {"nodes_falseleafs", t.false_leaves.size()},
                                   {"nodes_splits", t.splits.size()}})
    TRY(require(size == count, what, " has ", size, " entries and nodes_featureids ", count));
  TRY(require(t.missing_is_true.empty() || t.missing_is_true.size() == count, "nodes_missing_value_tracks_true has ",
              t.missing_is_true.size(), " entries; there are ", count, " nodes"));
  TRY(require(t.weights.size() == t.leaf_targets.size() && t.num_targets > 0 && t.num_targets <= kMostTargets,
              "there are ", t.weights.size(), " leaf_weights, ", t.leaf_targets.size(), " leaf_targetids and ",
              t.num_targets, " targets"));
  TRY(check_indices("leaf_targetids", t.leaf_targets, static_cast<size_t>(t.num_targets)));
  TRY(check_indices("tree_roots", t.roots, count));
  const std::vector<double> modes = TRY(numbers(cx, "nodes_modes")), values = TRY(numbers(cx, "membership_values"));
  TRY(require(modes.size() == count, "nodes_modes has ", modes.size(), " entries; there are ", count, " nodes"));
  auto next = values.begin();
  for (size_t i = 0; i < count; ++i) {
    TRY(require(modes[i] >= 0 && modes[i] < kNumBranches, "nodes_modes has ", modes[i], "; 0 to 6 are possible"));
    t.modes.push_back(static_cast<Branch>(static_cast<int64_t>(modes[i])));
    t.members.emplace_back();
    if (t.modes.back() != Branch::kMember) continue;
    const auto end = std::find_if(next, values.end(), [](double value) { return std::isnan(value); });
    t.members.back().assign(next, end);
    next = end == values.end() ? end : end + 1;
  }
  return t;
}

/// A leaf, and the decisions that lead to it.
struct Leaf {
  int64_t number;
  std::vector<std::pair<int64_t, bool>> path;  ///< node, and whether its condition holds
};

/// The leaves of one tree. A node that is met twice is in no tree.
Result<std::vector<Leaf>> leaves_of(const Trees& t, int64_t root, std::vector<bool>& met) {
  std::vector<Leaf> leaves;
  std::vector<Leaf> open{{root, {}}};  // number is that of a node
  while (!open.empty()) {
    const Leaf at = std::move(open.back());
    open.pop_back();
    const auto node = static_cast<size_t>(at.number);
    TRY(require(leaves.size() + open.size() < kMostLeaves, "a tree has more than ", kMostLeaves,
                " leaves; that is not in Kiln"));
    TRY(require(!met[node], "node ", at.number, " is met twice; trees are needed"));
    met[node] = true;
    const bool is_one_leaf =
        t.true_leaves[node] != 0 && t.false_leaves[node] != 0 && t.true_nodes[node] == t.false_nodes[node];
    for (const bool holds : {true, false}) {
      if (is_one_leaf && !holds) continue;
      Leaf next{holds ? t.true_nodes[node] : t.false_nodes[node], at.path};
      const bool is_leaf = (holds ? t.true_leaves[node] : t.false_leaves[node]) != 0;
      TRY(check_indices(holds ? "nodes_truenodeids" : "nodes_falsenodeids", {next.number},
                        is_leaf ? t.weights.size() : t.features.size()));
      if (!is_one_leaf) next.path.emplace_back(at.number, holds);
      (is_leaf ? leaves : open).push_back(std::move(next));
    }
  }
  return leaves;
}

/// Whether the conditions of some nodes of one mode hold, as numbers [rows, nodes].
Result<ValueId> decisions(ImportContext& cx, ValueId x, const Trees& t, Branch mode,
                          const std::vector<int64_t>& nodes) {
  const DType type = cx.dtype(x);
  const auto count = static_cast<int64_t>(nodes.size());
  Ints features;
  std::vector<double> splits, missing;
  size_t most_members = 1;
  for (const int64_t node : nodes) {
    const auto i = static_cast<size_t>(node);
    features.push_back(t.features[i]);
    splits.push_back(t.splits[i]);
    missing.push_back(t.missing_is_true.empty() ? 0 : static_cast<double>(t.missing_is_true[i]));
    most_members = std::max(most_members, t.members[i].size());
  }
  const ValueId at = cx.add_constant(HostTensor::of_ints(DType::kI64, {count}, features));
  const ValueId values = TRY(cx.add(ops::Gather{GatherMode::kDefault, 1, 0}, {x, at}));
  const ValueId split = cx.add_constant(HostTensor::of(type, {1, count}, splits));
  const auto compared = [&](ElementWiseKind kind) { return binary(cx, kind, values, split); };
  const auto either = [&](ElementWiseKind kind) -> Result<ValueId> {  // or equal
    return binary(cx, kOr, TRY(compared(kind)), TRY(compared(kEqual)));
  };
  ValueId holds = ValueId::kNone;
  switch (mode) {
    case Branch::kLeq: holds = TRY(either(kLess)); break;
    case Branch::kLt: holds = TRY(compared(kLess)); break;
    case Branch::kGte: holds = TRY(either(kGreater)); break;
    case Branch::kGt: holds = TRY(compared(kGreater)); break;
    case Branch::kEq: holds = TRY(compared(kEqual)); break;
    case Branch::kNeq: holds = TRY(unary(cx, UnaryKind::kNot, TRY(compared(kEqual)))); break;
    case Branch::kMember: {
      std::vector<double> members;
      for (const int64_t node : nodes) {
        std::vector<double> of_node = t.members[static_cast<size_t>(node)];
        of_node.resize(most_members, NAN);  // equals nothing
        members.insert(members.end(), of_node.begin(), of_node.end());
      }
      const ValueId sets =
          cx.add_constant(HostTensor::of(type, {1, count, static_cast<int64_t>(most_members)}, members));
      const ValueId same = TRY(binary(cx, kEqual, TRY(unsqueeze(cx, values, {2})), sets));
      holds = TRY(binary(cx, kGreater, TRY(reduce(cx, ReduceKind::kSum, TRY(cast(cx, same, type)), {2}, false)), 0));
    }
  }
  if (std::ranges::any_of(missing, [](double each) { return each != 0; })) {
    const ValueId tracks = TRY(cast(cx, cx.add_constant(HostTensor::of(type, {1, count}, missing)), DType::kBool));
    const ValueId is_missing = TRY(binary(cx, kAnd, TRY(unary(cx, UnaryKind::kIsNan, values)), tracks));
    holds = TRY(binary(cx, kOr, holds, is_missing));
  }
  return cast(cx, holds, type);
}

/// What some leaves add to the targets: [rows, targets].
Result<ValueId> scores(ImportContext& cx, ValueId x, const Trees& t, const std::vector<Leaf>& leaves) {
  const DType type = cx.dtype(x);
  std::vector<std::vector<int64_t>> by_mode(kNumBranches);
  std::vector<int64_t> column(t.features.size(), -1);
  for (const Leaf& leaf : leaves)
    for (const auto& [node, holds] : leaf.path)
      if (auto& at = column[static_cast<size_t>(node)]; at < 0) {
        at = 0;
        by_mode[static_cast<size_t>(t.modes[static_cast<size_t>(node)])].push_back(node);
      }
  Values parts;
  int64_t num_decisions = 0;
  for (size_t mode = 0; mode < by_mode.size(); ++mode) {
    if (by_mode[mode].empty()) continue;
    for (const int64_t node : by_mode[mode]) column[static_cast<size_t>(node)] = num_decisions++;
    parts.push_back(TRY(decisions(cx, x, t, static_cast<Branch>(mode), by_mode[mode])));
  }
  const auto num_leaves = static_cast<int64_t>(leaves.size());
  std::vector<double> paths(static_cast<size_t>(num_decisions * num_leaves), 0),
      ones(static_cast<size_t>(num_leaves), 0);
  std::vector<double> weights(static_cast<size_t>(num_leaves * t.num_targets), 0);
  for (int64_t i = 0; i < num_leaves; ++i) {
    const Leaf& leaf = leaves[static_cast<size_t>(i)];
    for (const auto& [node, holds] : leaf.path) {
      paths[static_cast<size_t>(column[static_cast<size_t>(node)] * num_leaves + i)] = holds ? 1 : -1;
      ones[static_cast<size_t>(i)] += holds;
    }
    const auto number = static_cast<size_t>(leaf.number);
    weights[static_cast<size_t>(i * t.num_targets + t.leaf_targets[number])] = t.weights[number];
  }
  const auto constant = [&](Extents extents, const std::vector<double>& elements) {
    return cx.add_constant(HostTensor::of(type, std::move(extents), elements));
  };
  const ValueId of_leaves = constant({num_leaves, t.num_targets}, weights);
  if (parts.empty()) {  // trees of one leaf
    const ValueId all = TRY(reduce(cx, ReduceKind::kSum, of_leaves, {0}, true));
    return expand(cx, all, {cx.extent(x, 0), t.num_targets});
  }
  const ValueId known = parts.size() == 1 ? parts[0] : TRY(cx.add(ops::Concatenation{1}, parts));
  const ValueId agreeing = TRY(matrix_multiply(cx, known, constant({num_decisions, num_leaves}, paths)));
  const ValueId is_reached = TRY(binary(cx, kEqual, agreeing, constant({1, num_leaves}, ones)));
  return matrix_multiply(cx, TRY(cast(cx, is_reached, type)), of_leaves);
}

}  // namespace

Status tree_ensemble(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  TRY(require(cx.rank(x) == 2 && is_float(cx.dtype(x)), "x is ", cx.type(x), "; floats [rows, features] are needed"));
  const int64_t aggregate = TRY(cx.node().get_int("aggregate_function", 1)),
                post = TRY(cx.node().get_int("post_transform", 0));
  TRY(require(aggregate == 0 || aggregate == 1, "aggregate_function is ", aggregate,
              "; AVERAGE (0) and SUM (1) are in Kiln"));
  TRY(require(post >= 0 && post <= 2, "post_transform is ", post,
              "; NONE (0), SOFTMAX (1) and LOGISTIC (2) are in Kiln"));
  const Trees trees = TRY(read_trees(cx));
  std::vector<bool> met(trees.features.size(), false);
  std::vector<Leaf> pending;
  ValueId y = ValueId::kNone;
  const auto add_pending = [&]() -> Status {
    if (pending.empty()) return {};
    const ValueId part = TRY(scores(cx, x, trees, pending));
    y = y == ValueId::kNone ? part : TRY(binary(cx, kSum, y, part));
    pending.clear();
    return {};
  };
  for (const int64_t root : trees.roots) {
    std::vector<Leaf> leaves = TRY(leaves_of(trees, root, met));
    const auto count = static_cast<int64_t>(leaves.size() + pending.size());
    if (count * count > kLargestMatrix) TRY(add_pending());
    pending.insert(pending.end(), std::make_move_iterator(leaves.begin()), std::make_move_iterator(leaves.end()));
  }
  TRY(add_pending());
  TRY(require(y != ValueId::kNone, "tree_roots is empty"));
  if (aggregate == 0) y = TRY(binary(cx, kDiv, y, static_cast<double>(trees.roots.size())));
  if (post == 1) y = TRY(cx.add(ops::Softmax{1}, {y}));
  if (post == 2) y = TRY(activation(cx, ActivationKind::kSigmoid, y));
  return cx.output(y);
}

}  // namespace kiln::onnx::importers::ml
