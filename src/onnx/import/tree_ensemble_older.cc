/// TreeEnsembleRegressor and TreeEnsembleClassifier of ai.onnx.ml, which number the nodes of each tree anew, count
/// leaves among them, and list the weights of leaves apart.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "onnx/import/feature_rows.h"
#include "onnx/import/importers.h"
#include "onnx/import/post_transform.h"
#include "onnx/import/trees.h"

namespace kiln::onnx::importers::ml {
namespace {

using enum ElementWiseKind;

constexpr std::array<std::string_view, 6> kModes = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                                    "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
constexpr std::array<std::string_view, kNumAggregates> kAggregateNames = {"AVERAGE", "SUM", "MIN", "MAX"};

/// A node by its tree and its number there.
using Key = std::pair<int64_t, int64_t>;

/// The attributes that have an entry a node.
struct OlderColumns {
  Ints tree_ids, node_ids, features, true_nodes, false_nodes, missing_is_true;
  std::vector<double> splits;
  std::vector<std::string_view> modes;

  size_t count() const { return tree_ids.size(); }
  bool is_leaf(size_t i) const { return modes[i] == "LEAF"; }
  std::string name(size_t i) const { return str("node ", node_ids[i], " of tree ", tree_ids[i]); }
};

Result<OlderColumns> older_columns_of(ImportContext& cx) {
  NodeReader& node = cx.node();
  OlderColumns c{TRY(node.need_ints("nodes_treeids")),      TRY(node.need_ints("nodes_nodeids")),
                 TRY(node.need_ints("nodes_featureids")),   TRY(node.need_ints("nodes_truenodeids")),
                 TRY(node.need_ints("nodes_falsenodeids")), TRY(node.get_ints("nodes_missing_value_tracks_true", {})),
                 TRY(floats_or_tensor(cx, "nodes_values")), TRY(node.get_strings("nodes_modes"))};
  for (const std::string_view hint : {"nodes_hitrates", "nodes_hitrates_as_tensor"}) node.pass_over(hint);
  if (c.missing_is_true.empty()) c.missing_is_true.assign(c.count(), 0);
  for (const auto& [what, size] : {std::pair("nodes_nodeids", c.node_ids.size()),
                                   {"nodes_featureids", c.features.size()},
                                   {"nodes_truenodeids", c.true_nodes.size()},
                                   {"nodes_falsenodeids", c.false_nodes.size()},
                                   {"nodes_missing_value_tracks_true", c.missing_is_true.size()},
                                   {"nodes_values", c.splits.size()},
                                   {"nodes_modes", c.modes.size()}})
    TRY(require(size == c.count(), what, " has ", size, " entries and nodes_treeids ", c.count()));
  for (const std::string_view mode : c.modes)
    TRY(require(mode == "LEAF" || std::ranges::find(kModes, mode) != kModes.end(), "nodes_modes has '", mode,
                "'; BRANCH_LEQ, BRANCH_LT, BRANCH_GTE, BRANCH_GT, BRANCH_EQ, BRANCH_NEQ or LEAF is needed"));
  return c;
}

/// Where nodes and leaves of the model are among those of Trees.
struct Places {
  std::map<Key, size_t> rows;   ///< of the columns
  std::vector<int64_t> number;  ///< by row: of the node, or of the leaf
};

Result<Places> places_of(const OlderColumns& c) {
  Places places;
  int64_t num_nodes = 0, num_leaves = 0;
  for (size_t i = 0; i < c.count(); ++i) {
    TRY(require(places.rows.try_emplace({c.tree_ids[i], c.node_ids[i]}, i).second, c.name(i), " is there twice"));
    places.number.push_back(c.is_leaf(i) ? num_leaves++ : num_nodes++);
  }
  return places;
}

/// Adds the nodes, and the roots: those that are no node's child. A root that is a leaf becomes a node with that leaf.
Status add_nodes(const OlderColumns& c, const Places& places, Trees& trees) {
  std::vector<bool> is_child(c.count(), false);
  const auto child = [&](size_t i, int64_t id) -> Result<TreeNode::Child> {
    const auto found = places.rows.find({c.tree_ids[i], id});
    TRY(require(found != places.rows.end(), c.name(i), " has a child ", id, ", which is not there"));
    is_child[found->second] = true;
    return TreeNode::Child{places.number[found->second], c.is_leaf(found->second)};
  };
  for (size_t i = 0; i < c.count(); ++i) {
    if (c.is_leaf(i)) continue;
    TreeNode& node = trees.nodes.emplace_back();
    node.feature = c.features[i];
    node.split = c.splits[i];
    node.mode = static_cast<Branch>(std::ranges::find(kModes, c.modes[i]) - kModes.begin());
    node.missing_is_true = c.missing_is_true[i] != 0;
    node.when_true = TRY(child(i, c.true_nodes[i]));
    node.when_false = TRY(child(i, c.false_nodes[i]));
  }
  std::set<int64_t> with_root;
  for (size_t i = 0; i < c.count(); ++i) {
    if (is_child[i]) continue;
    TRY(require(with_root.insert(c.tree_ids[i]).second, "tree ", c.tree_ids[i],
                " has two nodes that are no child of another; one root is needed"));
    trees.roots.push_back(c.is_leaf(i) ? static_cast<int64_t>(trees.nodes.size()) : places.number[i]);
    if (!c.is_leaf(i)) continue;
    TreeNode& node = trees.nodes.emplace_back();
    node.when_true = node.when_false = {places.number[i], true};
  }
  for (const int64_t tree : c.tree_ids)
    TRY(require(with_root.contains(tree), "tree ", tree, " has no node that is no child of another; a root is needed"));
  return {};
}

/// The weights of leaves, from attributes that start with `prefix`. What nodes have that are no leaves is ignored.
struct Weights {
  Ints tree_ids, node_ids, ids;
  std::vector<double> weights;
};
Result<Weights> weights_of(ImportContext& cx, const std::string& prefix) {
  Weights w{TRY(cx.node().need_ints(prefix + "_treeids")), TRY(cx.node().need_ints(prefix + "_nodeids")),
            TRY(cx.node().need_ints(prefix + "_ids")), TRY(floats_or_tensor(cx, prefix + "_weights"))};
  for (const auto& [what, size] :
       {std::pair("_nodeids", w.node_ids.size()), {"_ids", w.ids.size()}, {"_weights", w.weights.size()}})
    TRY(require(size == w.tree_ids.size(), prefix, what, " has ", size, " entries and ", prefix, "_treeids ",
                w.tree_ids.size()));
  return w;
}

Result<Trees> trees_of(ImportContext& cx, const Weights& w, int64_t num_targets) {
  const OlderColumns c = TRY(older_columns_of(cx));
  const Places places = TRY(places_of(c));
  Trees trees;
  trees.num_targets = num_targets;
  TRY(add_nodes(c, places, trees));
  trees.leaves.resize(static_cast<size_t>(std::ranges::count(c.modes, "LEAF")));
  for (size_t i = 0; i < w.ids.size(); ++i) {
    const auto found = places.rows.find({w.tree_ids[i], w.node_ids[i]});
    TRY(require(found != places.rows.end(), "a weight is of node ", w.node_ids[i], " of tree ", w.tree_ids[i],
                ", which is not there"));
    if (!c.is_leaf(found->second)) continue;
    trees.leaves[static_cast<size_t>(places.number[found->second])].emplace_back(w.ids[i], w.weights[i]);
  }
  return trees;
}

/// Scores plus base_values, one a column.
Result<ValueId> plus_base(ImportContext& cx, ValueId scores, const std::vector<double>& base) {
  if (base.empty()) return scores;
  const auto count = static_cast<int64_t>(base.size());
  return binary(cx, kSum, scores, cx.add_constant(HostTensor::of(cx.dtype(scores), {1, count}, base)));
}

Result<std::vector<double>> base_of(ImportContext& cx, int64_t count) {
  std::vector<double> base = TRY(floats_or_tensor(cx, "base_values"));
  TRY(require(base.empty() || static_cast<int64_t>(base.size()) == count, "base_values has ", base.size(), " numbers; ",
              count, " are needed"));
  return base;
}

/// The scores of classes of which at least two have weights. Without base values, a class that has none is not chosen.
Status several_scores(ImportContext& cx, ValueId x, const Weights& w, const Ints& labels) {
  const auto count = static_cast<int64_t>(labels.size());
  const std::vector<double> base = TRY(base_of(cx, count));
  const ValueId sums = TRY(tree_scores(cx, x, TRY(trees_of(cx, w, count))));
  const ValueId scores = TRY(cast(cx, TRY(plus_base(cx, sums, base)), DType::kF32));
  std::vector<double> least(labels.size(), base.empty() ? -INFINITY : 0);
  for (const int64_t id : w.ids) least[static_cast<size_t>(id)] = 0;
  const bool all_used = std::ranges::all_of(least, [](double each) { return each == 0; });
  TRY(cx.output(0, TRY(top_labels(cx, all_used ? scores : TRY(plus_base(cx, scores, least)), labels))));
  return cx.output(1, TRY(post_transformed(cx, scores, TRY(post_transform_of(cx)))));
}

/// The scores of two classes where one score decides: weights of class 0, which are those of the second label. They
/// are shares where none is negative.
Status one_score(ImportContext& cx, ValueId x, const Weights& w, const Ints& labels) {
  TRY(require(w.ids[0] == 0, "class_ids are all ", w.ids[0],
              "; where one score decides between two classes, all are 0"));
  const ValueId sums = TRY(tree_scores(cx, x, TRY(trees_of(cx, w, 1))));
  const ValueId score = TRY(cast(cx, TRY(plus_base(cx, sums, TRY(base_of(cx, 1)))), DType::kF32));
  const bool are_shares = std::ranges::all_of(w.weights, [](double weight) { return weight >= 0; });
  const ValueId is_second = TRY(binary(cx, kGreater, score, are_shares ? 0.5 : 0));
  TRY(cx.output(0, TRY(either_label(cx, is_second, labels))));
  const OtherScore other = are_shares ? OtherScore::kRest : OtherScore::kNegative;
  return cx.output(1, TRY(two_scores(cx, score, other, TRY(post_transform_of(cx)))));
}

}  // namespace

Status tree_ensemble_regressor(ImportContext& cx) {
  const ValueId x = TRY(feature_rows(cx));
  const int64_t targets = TRY(cx.node().need_int("n_targets"));
  TRY(require(targets > 0, "n_targets is ", targets));
  const std::string_view name = TRY(cx.node().get_string("aggregate_function", "SUM"));
  const auto* const aggregate = std::ranges::find(kAggregateNames, name);
  TRY(require(aggregate != kAggregateNames.end(), "aggregate_function is '", name,
              "'; AVERAGE, SUM, MIN or MAX is needed"));
  const Weights w = TRY(weights_of(cx, "target"));
  TRY(check_indices("target_ids", w.ids, static_cast<size_t>(targets)));
  Trees trees = TRY(trees_of(cx, w, targets));
  trees.aggregate = static_cast<Aggregate>(aggregate - kAggregateNames.begin());
  const ValueId scores = TRY(plus_base(cx, TRY(tree_scores(cx, x, trees)), TRY(base_of(cx, targets))));
  const ValueId y = TRY(cast(cx, scores, DType::kF32));
  return cx.output(TRY(post_transformed(cx, y, TRY(post_transform_of(cx)))));
}

/// Imports TreeEnsembleClassifier. Labels are by scores before post_transform.
Status tree_ensemble_classifier(ImportContext& cx) {
  const ValueId x = TRY(feature_rows(cx));
  const Ints labels = TRY(class_labels(cx, "classlabels_int64s", "classlabels_strings"));
  const Weights w = TRY(weights_of(cx, "class"));
  TRY(check_indices("class_ids", w.ids, labels.size()));
  TRY(require(!w.ids.empty(), "class_ids is empty"));
  const bool is_one = labels.size() == 2 && std::ranges::all_of(w.ids, [&](int64_t id) { return id == w.ids[0]; });
  return is_one ? one_score(cx, x, w, labels) : several_scores(cx, x, w, labels);
}

}  // namespace kiln::onnx::importers::ml
