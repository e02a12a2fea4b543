/// TreeEnsemble of ai.onnx.ml, which has nodes and leaves apart, and numbers for all trees.
#include <algorithm>
#include <cmath>

#include "onnx/import/feature_rows.h"
#include "onnx/import/importers.h"
#include "onnx/import/post_transform.h"
#include "onnx/import/trees.h"

namespace kiln::onnx::importers::ml {
namespace {

/// The attributes that have an entry a node.
struct NodeColumns {
  Ints features, true_nodes, false_nodes, true_leaves, false_leaves, missing_is_true;
  std::vector<double> splits, modes;
};

Result<NodeColumns> node_columns_of(ImportContext& cx) {
  NodeReader& node = cx.node();
  NodeColumns c{TRY(node.need_ints("nodes_featureids")),   TRY(node.need_ints("nodes_truenodeids")),
                TRY(node.need_ints("nodes_falsenodeids")), TRY(node.need_ints("nodes_trueleafs")),
                TRY(node.need_ints("nodes_falseleafs")),   TRY(node.get_ints("nodes_missing_value_tracks_true", {})),
                TRY(tensor_numbers(cx, "nodes_splits")),   TRY(tensor_numbers(cx, "nodes_modes"))};
  for (const std::string_view hint : {"nodes_hitrates", "nodes_hitrates_as_tensor"}) node.pass_over(hint);
  const size_t count = c.features.size();
  if (c.missing_is_true.empty()) c.missing_is_true.assign(count, 0);
  for (const auto& [what, size] : {std::pair("nodes_truenodeids", c.true_nodes.size()),
                                   {"nodes_falsenodeids", c.false_nodes.size()},
                                   {"nodes_trueleafs", c.true_leaves.size()},
                                   {"nodes_falseleafs", c.false_leaves.size()},
                                   {"nodes_missing_value_tracks_true", c.missing_is_true.size()},
                                   {"nodes_splits", c.splits.size()},
                                   {"nodes_modes", c.modes.size()}})
    TRY(require(size == count, what, " has ", size, " entries and nodes_featureids ", count));
  for (const double mode : c.modes)
    TRY(require(mode >= 0 && mode < kNumBranches && mode == std::floor(mode), "nodes_modes has ", mode,
                "; 0 to 6 are possible"));
  return c;
}

Result<Trees> read_trees(ImportContext& cx) {
  const NodeColumns c = TRY(node_columns_of(cx));
  Trees trees;
  const std::vector<double> members = TRY(tensor_numbers(cx, "membership_values"));
  auto next = members.begin();
  for (size_t i = 0; i < c.features.size(); ++i) {
    TreeNode& node = trees.nodes.emplace_back();
    node.feature = c.features[i];
    node.split = c.splits[i];
    node.mode = static_cast<Branch>(static_cast<int>(c.modes[i]));
    node.missing_is_true = c.missing_is_true[i] != 0;
    node.when_true = {c.true_nodes[i], c.true_leaves[i] != 0};
    node.when_false = {c.false_nodes[i], c.false_leaves[i] != 0};
    if (node.mode != Branch::kMember) continue;
    const auto end = std::find_if(next, members.end(), [](double value) { return std::isnan(value); });
    node.members.assign(next, end);
    next = end == members.end() ? end : end + 1;
  }
  const std::vector<double> weights = TRY(tensor_numbers(cx, "leaf_weights"));
  const Ints targets = TRY(cx.node().need_ints("leaf_targetids"));
  trees.num_targets = TRY(cx.node().need_int("n_targets"));
  TRY(require(weights.size() == targets.size(), "there are ", weights.size(), " leaf_weights and ", targets.size(),
              " leaf_targetids"));
  TRY(require(trees.num_targets > 0, "n_targets is ", trees.num_targets));
  TRY(check_indices("leaf_targetids", targets, static_cast<size_t>(trees.num_targets)));
  for (size_t i = 0; i < targets.size(); ++i) trees.leaves.push_back({{targets[i], weights[i]}});
  trees.roots = TRY(cx.node().need_ints("tree_roots"));
  return trees;
}

}  // namespace

Status tree_ensemble(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  TRY(require(cx.rank(x) == 2 && is_float(cx.dtype(x)), "x is ", cx.type(x), "; floats [rows, features] are needed"));
  const int64_t aggregate = TRY(cx.node().get_int("aggregate_function", 1)),
                post = TRY(cx.node().get_int("post_transform", 0));
  TRY(require(aggregate >= 0 && aggregate < kNumAggregates, "aggregate_function is ", aggregate,
              "; AVERAGE (0), SUM (1), MIN (2) or MAX (3) is needed"));
  TRY(require(post >= 0 && post < kNumPostTransforms, "post_transform is ", post,
              "; NONE (0), SOFTMAX (1), LOGISTIC (2), SOFTMAX_ZERO (3) or PROBIT (4) is needed"));
  Trees trees = TRY(read_trees(cx));
  trees.aggregate = static_cast<Aggregate>(aggregate);
  return cx.output(TRY(post_transformed(cx, TRY(tree_scores(cx, x, trees)), static_cast<PostTransform>(post))));
}

}  // namespace kiln::onnx::importers::ml
