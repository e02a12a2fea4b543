/// One of ONNX's node tests: a model of (mostly) one node, with inputs and the outputs that the specification gives.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/record.h"
#include "support/tensor_file.h"

namespace kiln::conformance {

/// The outcome of running a model.
struct ModelRun {
  std::vector<Tensor> outputs;  ///< by name
  std::vector<std::string> tactics;
};
/// `inputs` are all that the model has, under its names.
using RunModel = std::function<Result<ModelRun>(const std::string& onnx_path, const std::vector<Tensor>& inputs)>;
using HasOperator = std::function<bool(const std::string& domain, const std::string& op_type)>;

enum class Outcome : uint8_t { kPass, kUnsupported, kFail };
std::string_view name_of(Outcome outcome);

struct CaseResult {
  std::string name;
  Outcome outcome = Outcome::kFail;
  std::string reason;            ///< empty where it passed
  std::vector<std::string> ops;  ///< sorted, each once
  std::vector<std::string> tactics;
  bool other_types_in_network = false;  ///< an input or output has another type for programs than in the model
  bool by_reference_alone() const;      ///< steps ran, and none but the fallback's
};
Record to_record(const CaseResult& result);

/// Runs the case in `folder` and compares with ONNX's tolerances: rtol 1e-3 and atol 1e-7, or the case's own. A case
/// that does not pass is unsupported only if one of its operators or types is not in Kiln at all.
CaseResult run_node_case(const std::string& folder, const RunModel& run, const HasOperator& has_operator);

}  // namespace kiln::conformance
