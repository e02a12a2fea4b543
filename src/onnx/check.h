/// Checks of a model before it is imported, whatever its operators mean: names, order, versions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "onnx/model.h"

namespace kiln::onnx {

inline constexpr int64_t kOldestIr = 3, kNewestIr = 13;
inline constexpr int64_t kOldestOpset = 7, kNewestOpset = 24;  ///< of domain "", ONNX's own

struct ModelProblem {
  Code code = Code::kCorrupt;
  std::string message;
  int node = -1;  ///< index in the checked model's main graph, also of what is wrong in the node's bodies; -1: of none
};

/// All that is wrong with a model, not only the first.
struct CheckedModel {
  /// The model that was checked, its nodes sorted so that values are made before they are used, bodies included. It is
  /// the given model itself if that was sorted, and not sorted where `problems` has a cycle.
  std::shared_ptr<const Model> model;
  std::vector<ModelProblem> problems;
  std::vector<std::string> warnings;
};

/// For models whose functions have been inlined; a body sees the values of the graphs around it.
CheckedModel check_model(std::shared_ptr<const Model> model);

}  // namespace kiln::onnx
