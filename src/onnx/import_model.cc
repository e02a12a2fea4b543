#include <algorithm>

#include "onnx/check.h"
#include "onnx/inline_functions.h"
#include "onnx/node_origins.h"
#include "onnx/node_outcomes.h"

namespace kiln::onnx {

namespace {

Status first_problem(const ImportReport& report) {
  if (report.errors.empty()) return {};
  return error(report.errors[0].code, report.errors[0].message);
}

/// Gives inputs whose names outputs have, too, names of their own, as TensorRT's parser does: a program binds tensors
/// by name.
void rename_inputs_that_are_outputs(ir::Graph& graph, ImportReport& report) {
  const auto is_taken = [&](std::string_view name) {
    return std::ranges::any_of(graph.outputs(), [&](const auto& output) { return output.name == name; });
  };
  const auto is_input = [&](std::string_view name) {
    return std::ranges::any_of(graph.inputs(), [&](ir::ValueId input) { return graph.value(input).name == name; });
  };
  for (const ir::ValueId input : graph.inputs()) {
    const std::string given = graph.value(input).name;
    if (!is_taken(given)) continue;
    std::string name = "__" + given;
    while (is_taken(name) || is_input(name)) name = "__" + name;
    report.warnings.push_back(
        str("input '", given, "' is an output of the model, too; the network's input is called '", name, "'"));
    graph.set_name(input, std::move(name));
  }
}

}  // namespace

Result<std::shared_ptr<const Model>> prepare_model(std::shared_ptr<const Model> model, ImportReport& report) {
  auto flat = inline_functions(std::move(model));
  if (!flat) {
    report.errors.push_back({flat.error().code, flat.error().message, -1, {}, {}, {}});
    return std::unexpected(std::move(flat).error());
  }
  CheckedModel checked = check_model(*std::move(flat));
  for (std::string& warning : checked.warnings) report.warnings.push_back(std::move(warning));
  for (ModelProblem& problem : checked.problems)
    report.errors.push_back(problem_of(checked.model->graph, problem.node, {problem.code, std::move(problem.message)}));
  // Kiln knows the meaning of nodes for the versions that it reads; then they may have problems of their own.
  const auto version = checked.model->opset("");
  if (version && (*version < kOldestOpset || *version > kNewestOpset)) TRY(first_problem(report));
  return std::move(checked.model);
}

Status import_model(std::shared_ptr<const Model> model, ir::Graph& graph, const ImportOptions& options,
                    ImportReport& report) {
  const size_t known = report.errors.size();
  const auto checked = TRY(prepare_model(model, report));
  import_checked(*checked, graph, options, report, nullptr);
  if (const auto found = std::span(report.errors).subspan(known); !found.empty())
    renumber_as_given(node_origins(model->graph, checked->graph), found);
  TRY(first_problem(report));
  rename_inputs_that_are_outputs(graph, report);
  return {};
}

}  // namespace kiln::onnx
