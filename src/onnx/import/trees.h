/// Decision trees of ai.onnx.ml, in whichever form a node gives them, and what their leaves add up to.
#pragma once

#include <utility>

#include "onnx/import/compose.h"

namespace kiln::onnx {

/// The condition of a node, of x's feature and the node's split. In the order of TreeEnsemble's numbers.
enum class Branch : uint8_t { kLeq, kLt, kGte, kGt, kEq, kNeq, kMember };
inline constexpr int64_t kNumBranches = 7;

/// What is made of a target's weights in the leaves that are reached. In the order of TreeEnsemble's numbers.
enum class Aggregate : uint8_t { kAverage, kSum, kMin, kMax };
inline constexpr int64_t kNumAggregates = 4;

struct TreeNode {
  struct Child {
    int64_t number = 0;  ///< of a leaf or a node
    bool is_leaf = true;
  };
  int64_t feature = 0;
  double split = 0;
  Branch mode = Branch::kLeq;
  bool missing_is_true = false;  ///< NaN fulfils the condition
  std::vector<double> members;   ///< of kMember: the condition is that one of them equals the feature
  Child when_true, when_false;   ///< one leaf twice is a tree of that leaf

  bool is_one_leaf() const { return when_true.is_leaf && when_false.is_leaf && when_true.number == when_false.number; }
};

struct Trees {
  std::vector<TreeNode> nodes;
  std::vector<std::vector<std::pair<int64_t, double>>> leaves;  ///< targets and their weights
  std::vector<int64_t> roots;                                   ///< a node each
  int64_t num_targets = 1;
  Aggregate aggregate = Aggregate::kSum;
};

/// The scores of x's rows, [rows, targets]; x is floats, [rows, features]. Fails where a node is met
/// twice, or in no tree.
Result<ValueId> tree_scores(ImportContext& cx, ValueId x, const Trees& trees);

/// Fails where an index is outside [0, count).
Status check_indices(std::string_view what, const Ints& indices, size_t count);

}  // namespace kiln::onnx
