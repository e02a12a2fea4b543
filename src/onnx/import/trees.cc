/// Small ensembles are two matrix products: a leaf is reached where all decisions of its path are as they are on it,
/// that is where the decisions, 0 and 1, times a column of 1 (for true) and -1 (for false) give the number of 1s. In
/// large ones, whose matrices would be as large as their leaves squared, each row goes down all trees, a level at a
/// time, by gathers.
#include "onnx/import/trees.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "ops/concatenation.h"
#include "ops/gather.h"

namespace kiln::onnx {
namespace {

using enum ElementWiseKind;

constexpr size_t kMostLeavesOfProducts = 512;
constexpr int kDeepestTree = 256;  // a dozen ops a level
constexpr int64_t kMostTargets = 1 << 12;
constexpr size_t kLargestTable = 1 << 28;  // of leaves by targets, or of nodes and leaves by members

/// A leaf, and the decisions that lead to it.
struct Leaf {
  int64_t number;
  std::vector<std::pair<int64_t, bool>> path;  ///< node, and whether its condition holds
};

/// How large an ensemble is. Leaves that are reached in two ways count twice.
struct EnsembleSize {
  size_t leaves = 0;
  int depth = 0;
};

Status check_child(const Trees& trees, const TreeNode::Child& child, std::string_view what) {
  return check_indices(what, {child.number}, child.is_leaf ? trees.leaves.size() : trees.nodes.size());
}

/// Goes through all trees. Each node has to be met, and once.
Result<EnsembleSize> measured(const Trees& trees) {
  EnsembleSize size;
  std::vector<bool> met(trees.nodes.size(), false);
  std::vector<std::pair<int64_t, int>> open;  // nodes, and how deep they are
  for (const int64_t root : trees.roots) open.emplace_back(root, 1);
  while (!open.empty()) {
    const auto [number, depth] = open.back();
    open.pop_back();
    TRY(require(!met[static_cast<size_t>(number)], "node ", number, " is met twice; trees are needed"));
    met[static_cast<size_t>(number)] = true;
    const TreeNode& node = trees.nodes[static_cast<size_t>(number)];
    TRY(check_child(trees, node.when_true, "nodes_truenodeids"));
    TRY(check_child(trees, node.when_false, "nodes_falsenodeids"));
    size.depth = std::max(size.depth, depth);
    TRY(require(depth <= kDeepestTree, "a tree has more than ", kDeepestTree, " levels; that is not in Kiln"));
    for (const TreeNode::Child& child : {node.when_true, node.when_false}) {
      size.leaves += child.is_leaf;
      if (!child.is_leaf) open.emplace_back(child.number, depth + 1);
    }
  }
  for (size_t i = 0; i < met.size(); ++i) TRY(require(met[i], "node ", i, " is in no tree"));
  return size;
}

/// The leaves of one tree.
std::vector<Leaf> leaves_of(const Trees& trees, int64_t root) {
  std::vector<Leaf> leaves;
  std::vector<Leaf> open{{root, {}}};  // number is that of a node
  while (!open.empty()) {
    const Leaf at = std::move(open.back());
    open.pop_back();
    const TreeNode& node = trees.nodes[static_cast<size_t>(at.number)];
    if (node.is_one_leaf()) {
      leaves.push_back({node.when_true.number, at.path});
      continue;
    }
    for (const bool holds : {true, false}) {
      const TreeNode::Child& child = holds ? node.when_true : node.when_false;
      Leaf next{child.number, at.path};
      next.path.emplace_back(at.number, holds);
      (child.is_leaf ? leaves : open).push_back(std::move(next));
    }
  }
  return leaves;
}

/// What conditions compare: features, [rows, nodes], and what broadcasts with them: splits, and sets of members on one
/// more axis, padded by NaN, which equals nothing.
struct Compared {
  ValueId values, splits, sets;
};

/// Whether the conditions of one mode hold, as bools.
Result<ValueId> condition(ImportContext& cx, Branch mode, const Compared& of) {
  const auto compared = [&](ElementWiseKind kind) { return binary(cx, kind, of.values, of.splits); };
  const auto either = [&](ElementWiseKind kind) -> Result<ValueId> {  // or equal
    return binary(cx, kOr, TRY(compared(kind)), TRY(compared(kEqual)));
  };
  switch (mode) {
    case Branch::kLeq: return either(kLess);
    case Branch::kLt: return compared(kLess);
    case Branch::kGte: return either(kGreater);
    case Branch::kGt: return compared(kGreater);
    case Branch::kEq: return compared(kEqual);
    case Branch::kNeq: return unary(cx, UnaryKind::kNot, TRY(compared(kEqual)));
    case Branch::kMember: break;
  }
  const ValueId same = TRY(binary(cx, kEqual, TRY(unsqueeze(cx, of.values, {2})), of.sets));
  const ValueId count = TRY(reduce(cx, ReduceKind::kSum, TRY(cast(cx, same, cx.dtype(of.values))), {2}, false));
  return binary(cx, kGreater, count, 0);
}

/// What some nodes have, in their order, as constants whose first axes are `leading`.
class Tables {
 public:
  Tables(ImportContext& cx, const Trees& trees, std::vector<int64_t> nodes, Extents leading)
      : cx_(cx), trees_(trees), nodes_(std::move(nodes)), leading_(std::move(leading)) {}

  using Number = std::function<double(const TreeNode&)>;
  ValueId numbers(DType type, const Number& number) {
    std::vector<double> all;
    all.reserve(nodes_.size());
    for (const int64_t node : nodes_) all.push_back(number(trees_.nodes[static_cast<size_t>(node)]));
    return cx_.add_constant(HostTensor::of(type, leading_, all));
  }
  ValueId splits(DType type) {
    return numbers(type, [](const TreeNode& node) { return node.split; });
  }
  ValueId missing() {
    return numbers(DType::kBool, [](const TreeNode& node) { return node.missing_is_true ? 1.0 : 0.0; });
  }
  ValueId sets(DType type) {
    size_t most = 1;
    for (const int64_t node : nodes_) most = std::max(most, trees_.nodes[static_cast<size_t>(node)].members.size());
    std::vector<double> all;
    for (const int64_t node : nodes_) {
      std::vector<double> members = trees_.nodes[static_cast<size_t>(node)].members;
      members.resize(most, NAN);
      all.insert(all.end(), members.begin(), members.end());
    }
    Extents extents = leading_;
    extents.push_back(static_cast<int64_t>(most));
    return cx_.add_constant(HostTensor::of(type, std::move(extents), all));
  }

 private:
  ImportContext& cx_;
  const Trees& trees_;
  const std::vector<int64_t> nodes_;
  const Extents leading_;
};

bool any_missing(const Trees& trees) {
  return std::ranges::any_of(trees.nodes, [](const TreeNode& node) { return node.missing_is_true; });
}

/// Conditions that hold, or features that are missing where that counts as true.
Result<ValueId> or_missing(ImportContext& cx, ValueId holds, ValueId values, ValueId missing_is_true) {
  const ValueId is_missing = TRY(binary(cx, kAnd, TRY(unary(cx, UnaryKind::kIsNan, values)), missing_is_true));
  return binary(cx, kOr, holds, is_missing);
}

/// Whether the conditions of some nodes of one mode hold, as numbers [rows, nodes].
Result<ValueId> decisions(ImportContext& cx, ValueId x, const Trees& trees, Branch mode,
                          const std::vector<int64_t>& nodes) {
  const DType type = cx.dtype(x);
  const auto count = static_cast<int64_t>(nodes.size());
  Tables tables(cx, trees, nodes, {1, count});
  Ints features;
  for (const int64_t node : nodes) features.push_back(trees.nodes[static_cast<size_t>(node)].feature);
  const ValueId at = cx.add_constant(HostTensor::of_ints(DType::kI64, {count}, features));
  Compared of{TRY(cx.add(ops::Gather{GatherMode::kDefault, 1, 0}, {x, at})), ValueId::kNone, ValueId::kNone};
  (mode == Branch::kMember ? of.sets : of.splits) = mode == Branch::kMember ? tables.sets(type) : tables.splits(type);
  ValueId holds = TRY(condition(cx, mode, of));
  if (any_missing(trees)) holds = TRY(or_missing(cx, holds, of.values, tables.missing()));
  return cast(cx, holds, type);
}

/// Sums by matrix products.
Result<ValueId> sums_by_products(ImportContext& cx, ValueId x, const Trees& trees) {
  const DType type = cx.dtype(x);
  std::vector<Leaf> leaves;
  for (const int64_t root : trees.roots)
    for (Leaf& leaf : leaves_of(trees, root)) leaves.push_back(std::move(leaf));
  std::vector<std::vector<int64_t>> by_mode(kNumBranches);
  for (size_t i = 0; i < trees.nodes.size(); ++i)
    if (!trees.nodes[i].is_one_leaf())
      by_mode[static_cast<size_t>(trees.nodes[i].mode)].push_back(static_cast<int64_t>(i));
  std::vector<int64_t> column(trees.nodes.size(), 0);
  Values parts;
  int64_t num_decisions = 0;
  for (size_t mode = 0; mode < by_mode.size(); ++mode) {
    if (by_mode[mode].empty()) continue;
    for (const int64_t node : by_mode[mode]) column[static_cast<size_t>(node)] = num_decisions++;
    parts.push_back(TRY(decisions(cx, x, trees, static_cast<Branch>(mode), by_mode[mode])));
  }
  const auto num_leaves = static_cast<int64_t>(leaves.size());
  std::vector<double> paths(static_cast<size_t>(num_decisions * num_leaves), 0), ones(leaves.size(), 0),
      weights(static_cast<size_t>(num_leaves * trees.num_targets), 0);
  for (size_t i = 0; i < leaves.size(); ++i) {
    for (const auto& [node, holds] : leaves[i].path) {
      paths[static_cast<size_t>(column[static_cast<size_t>(node)] * num_leaves) + i] = holds ? 1 : -1;
      ones[i] += holds;
    }
    for (const auto& [target, weight] : trees.leaves[static_cast<size_t>(leaves[i].number)])
      weights[i * static_cast<size_t>(trees.num_targets) + static_cast<size_t>(target)] += weight;
  }
  const auto constant = [&](Extents extents, const std::vector<double>& elements) {
    return cx.add_constant(HostTensor::of(type, std::move(extents), elements));
  };
  const ValueId of_leaves = constant({num_leaves, trees.num_targets}, weights);
  if (parts.empty()) {  // trees of one leaf
    const ValueId all = TRY(reduce(cx, ReduceKind::kSum, of_leaves, {0}, true));
    return expand(cx, all, {cx.extent(x, 0), trees.num_targets});
  }
  const ValueId known = parts.size() == 1 ? parts[0] : TRY(cx.add(ops::Concatenation{1}, parts));
  const ValueId agreeing = TRY(matrix_multiply(cx, known, constant({num_decisions, num_leaves}, paths)));
  const ValueId is_reached = TRY(binary(cx, kEqual, agreeing, constant({1, num_leaves}, ones)));
  return matrix_multiply(cx, TRY(cast(cx, is_reached, type)), of_leaves);
}

/// Rows of x on their way down, all trees at once. A place is a node, or a leaf behind all nodes; what is at a leaf
/// stays there.
class Descent {
 public:
  Descent(ImportContext& cx, ValueId x, const Trees& trees)
      : cx_(cx), x_(x), num_nodes_(static_cast<int64_t>(trees.nodes.size())) {
    const auto num_leaves = static_cast<int64_t>(trees.leaves.size());
    std::vector<TreeNode> places = trees.nodes;  // of which leaves are nodes whose children they are themselves
    for (int64_t leaf = 0; leaf < num_leaves; ++leaf) {
      TreeNode& place = places.emplace_back();
      place.mode = trees.nodes[0].mode;
      place.when_true = place.when_false = {leaf, true};
    }
    std::vector<int64_t> all(places.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
    const Trees of_places{std::move(places), {}, {}, 1, Aggregate::kSum};
    Tables tables(cx, of_places, std::move(all), {num_nodes_ + num_leaves});
    const auto place_of = [this](const TreeNode::Child& child) {
      return static_cast<double>(child.is_leaf ? num_nodes_ + child.number : child.number);
    };
    features_ = tables.numbers(DType::kI32, [](const TreeNode& node) { return static_cast<double>(node.feature); });
    splits_ = tables.splits(cx.dtype(x));
    when_true_ = tables.numbers(DType::kI32, [&](const TreeNode& node) { return place_of(node.when_true); });
    when_false_ = tables.numbers(DType::kI32, [&](const TreeNode& node) { return place_of(node.when_false); });
    if (any_missing(trees)) missing_ = tables.missing();
    for (const TreeNode& node : trees.nodes) has_mode_[static_cast<size_t>(node.mode)] = true;
    if (has_mode_[static_cast<size_t>(Branch::kMember)]) sets_ = tables.sets(cx.dtype(x));
    if (std::ranges::count(has_mode_, true) > 1)
      modes_ = tables.numbers(DType::kI32, [](const TreeNode& node) { return static_cast<double>(node.mode); });
  }

  /// Moves rows at some places, i32 [rows, trees], a level down.
  Result<ValueId> step(ValueId at) {
    const ValueId feature = TRY(table(features_, at));
    Compared of{TRY(cx_.add(ops::Gather{GatherMode::kElement, 1, 0}, {x_, feature})), TRY(table(splits_, at)),
                sets_ == ValueId::kNone ? sets_ : TRY(table(sets_, at))};
    ValueId holds = TRY(holds_at(at, of));
    if (missing_ != ValueId::kNone) holds = TRY(or_missing(cx_, holds, of.values, TRY(table(missing_, at))));
    return select(cx_, holds, TRY(table(when_true_, at)), TRY(table(when_false_, at)));
  }
  /// The numbers of leaves at some places.
  Result<ValueId> leaves(ValueId at) { return binary(cx_, kSub, at, static_cast<double>(num_nodes_)); }

 private:
  Result<ValueId> table(ValueId of, ValueId at) { return cx_.add(ops::Gather{.axis = 0}, {of, at}); }

  Result<ValueId> holds_at(ValueId at, const Compared& of) {
    ValueId holds = ValueId::kNone;
    const ValueId modes = modes_ == ValueId::kNone ? modes_ : TRY(table(modes_, at));
    for (size_t mode = 0; mode < has_mode_.size(); ++mode) {
      if (!has_mode_[mode]) continue;
      ValueId of_mode = TRY(condition(cx_, static_cast<Branch>(mode), of));
      if (modes != ValueId::kNone) {
        const ValueId is_mode = TRY(binary(cx_, kEqual, modes, static_cast<double>(mode)));
        of_mode = TRY(binary(cx_, kAnd, is_mode, of_mode));
      }
      holds = holds == ValueId::kNone ? of_mode : TRY(binary(cx_, kOr, holds, of_mode));
    }
    return holds;
  }

  ImportContext& cx_;
  const ValueId x_;
  const int64_t num_nodes_;
  std::array<bool, kNumBranches> has_mode_{};
  ValueId features_ = ValueId::kNone, splits_ = ValueId::kNone, when_true_ = ValueId::kNone,
          when_false_ = ValueId::kNone, missing_ = ValueId::kNone, sets_ = ValueId::kNone, modes_ = ValueId::kNone;
};

/// The weights of leaves by targets; where a leaf has none, what changes no aggregate.
ValueId weight_table(ImportContext& cx, const Trees& trees, DType type, double neutral) {
  const auto num_leaves = static_cast<int64_t>(trees.leaves.size());
  const auto num_targets = static_cast<size_t>(trees.num_targets);
  std::vector<double> weights(trees.leaves.size() * num_targets, neutral);
  for (size_t leaf = 0; leaf < trees.leaves.size(); ++leaf)
    for (const auto& [target, weight] : trees.leaves[leaf]) {
      double& all = weights[leaf * num_targets + static_cast<size_t>(target)];
      switch (trees.aggregate) {
        case Aggregate::kMin: all = std::min(all, weight); break;
        case Aggregate::kMax: all = std::max(all, weight); break;
        default: all += weight;
      }
    }
  return cx.add_constant(HostTensor::of(type, {num_leaves, trees.num_targets}, weights));
}

/// Scores by a descent, of any aggregate but the division of kAverage.
Result<ValueId> scores_by_descent(ImportContext& cx, ValueId x, const Trees& trees, int depth) {
  const auto count = static_cast<int64_t>(trees.roots.size());
  Descent descent(cx, x, trees);
  const ValueId roots = cx.add_constant(HostTensor::of_ints(DType::kI32, {1, count}, trees.roots));
  ValueId at = TRY(expand(cx, roots, {cx.extent(x, 0), count}));
  for (int level = 0; level < depth; ++level) at = TRY(descent.step(at));
  const bool is_extreme = trees.aggregate == Aggregate::kMin || trees.aggregate == Aggregate::kMax;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double neutral = !is_extreme ? 0 : trees.aggregate == Aggregate::kMin ? kInfinity : -kInfinity;
  const ValueId table = weight_table(cx, trees, cx.dtype(x), neutral);
  const ValueId each = TRY(cx.add(ops::Gather{.axis = 0}, {table, TRY(descent.leaves(at))}));
  const ReduceKind kind = !is_extreme                          ? ReduceKind::kSum
                          : trees.aggregate == Aggregate::kMin ? ReduceKind::kMin
                                                               : ReduceKind::kMax;
  const ValueId y = TRY(reduce(cx, kind, each, {1}, false));
  if (!is_extreme) return y;
  const ValueId is_none = TRY(binary(cx, kEqual, y, neutral));
  return select(cx, is_none, scalar_like(cx, 0, y), y);
}

}  // namespace

Status check_indices(std::string_view what, const Ints& indices, size_t count) {
  for (const int64_t i : indices)
    TRY(require(i >= 0 && i < static_cast<int64_t>(count), what, " has ", i, ", which is outside [0, ", count, ")"));
  return {};
}

Result<ValueId> tree_scores(ImportContext& cx, ValueId x, const Trees& trees) {
  TRY(require(!trees.roots.empty() && !trees.leaves.empty(), "there is no tree"));
  TRY(require(trees.num_targets > 0 && trees.num_targets <= kMostTargets, "there are ", trees.num_targets,
              " targets; 1 to ", kMostTargets, " are supported"));
  size_t most = static_cast<size_t>(trees.num_targets);
  for (const TreeNode& node : trees.nodes) most = std::max(most, node.members.size());
  TRY(require(trees.leaves.size() + trees.nodes.size() <= kLargestTable / most, "there are ", trees.nodes.size(),
              " nodes, ", trees.leaves.size(), " leaves and ", most,
              " targets or members of a node; that is not in "
              "Kiln"));
  const auto num_features = cx.extent(x, 1).constant();
  for (const TreeNode& node : trees.nodes)
    TRY(require(node.feature >= 0 && node.feature < num_features.value_or(INT32_MAX), "nodes_featureids has ",
                node.feature, "; x is ", cx.type(x)));
  TRY(check_indices("tree_roots", trees.roots, trees.nodes.size()));
  const EnsembleSize size = TRY(measured(trees));
  const bool is_sum = trees.aggregate == Aggregate::kSum || trees.aggregate == Aggregate::kAverage;
  const ValueId y = is_sum && size.leaves <= kMostLeavesOfProducts ? TRY(sums_by_products(cx, x, trees))
                                                                   : TRY(scores_by_descent(cx, x, trees, size.depth));
  if (trees.aggregate != Aggregate::kAverage) return y;
  return binary(cx, kDiv, y, static_cast<double>(trees.roots.size()));
}

}  // namespace kiln::onnx
