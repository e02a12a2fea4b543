#include "onnx/node_case.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "onnx/dtypes.h"
#include "onnx/reader.h"
#include "support/session.h"

namespace kiln::conformance {
namespace {

using onnx::ElementType;
using onnx::GraphDef;
using onnx::TypeKind;

/// The operators of a model, and the types that it takes, gives and casts to.
struct Needs {
  std::set<std::pair<std::string, std::string>> ops;  ///< domain, type
  std::set<std::string> types;                        ///< those that Kiln lacks
  bool other_types_in_network = false;
};

/// The types of the coverage table: all but STRING and complex numbers.
bool has_type(ElementType type) { return onnx::dtype_of(type) || onnx::carrier_of(type); }

/// Whether programs see the type as another one.
bool is_other_in_network(ElementType type) { return onnx::carrier_of(type) || type == ElementType::kDouble; }

void need_type(const onnx::TypeDef& type, Needs& needs) {
  if (type.kind != TypeKind::kTensor)
    needs.types.insert(type.kind == TypeKind::kSequence   ? "SEQUENCE"
                       : type.kind == TypeKind::kOptional ? "OPTIONAL"
                                                          : "MAP");
  else if (!has_type(type.element_type))
    needs.types.insert(str(type.element_type));
  else if (is_other_in_network(type.element_type))
    needs.other_types_in_network = true;
}

void need_graph(const GraphDef& graph, bool is_main, Needs& needs);

void need_node(const onnx::NodeDef& node, Needs& needs) {
  needs.ops.emplace(node.domain, node.op_type);
  for (const onnx::AttributeDef& attribute : node.attributes) {
    for (const auto& body : attribute.graphs) need_graph(*body, false, needs);
    const auto cast_to = static_cast<ElementType>(attribute.i);
    if (node.op_type == "Cast" && attribute.name == "to" && !has_type(cast_to)) needs.types.insert(str(cast_to));
  }
}

void need_graph(const GraphDef& graph, bool is_main, Needs& needs) {
  for (const onnx::NodeDef& node : graph.nodes) need_node(node, needs);
  if (!is_main) return;
  for (const auto* values : {&graph.inputs, &graph.outputs})
    for (const onnx::ValueInfo& value : *values) need_type(value.type, needs);
}

Needs needs_of(const onnx::Model& model) {
  Needs needs;
  need_graph(model.graph, true, needs);
  std::set<std::pair<std::string, std::string>> calls;
  for (const onnx::FunctionDef& function : model.functions) {
    for (const onnx::NodeDef& node : function.nodes) need_node(node, needs);
    calls.emplace(function.domain, function.name);
  }
  for (const auto& call : calls) needs.ops.erase(call);
  return needs;
}

/// Why the case may be left out; empty if it may not.
std::string absent_from_coverage(const Needs& needs, const HasOperator& has_operator) {
  std::string text;
  for (const auto& [domain, op] : needs.ops)
    if (!has_operator(domain, op))
      text += str(text.empty() ? "" : ", ", "operator ", domain, domain.empty() ? "" : ".", op);
  for (const std::string& type : needs.types) text += str(text.empty() ? "" : ", ", "type ", type);
  return text;
}

Tolerance tolerance_of(const std::string& folder) {
  Tolerance tolerance{1e-3, 1e-7};
  std::ifstream file(folder + "/data.json");
  const auto data = nlohmann::json::parse(file, nullptr, false);
  if (!data.is_object()) return tolerance;
  tolerance.rtol = data.value("rtol", tolerance.rtol);
  tolerance.atol = data.value("atol", tolerance.atol);
  return tolerance;
}

/// Data files follow the order of the graph's inputs or outputs, and do not always have their names.
template <class Names>
Status take_names(std::vector<Tensor>& tensors, const Names& names, std::string_view what) {
  TRY(require(tensors.size() == names.size(), "there are ", tensors.size(), " files of ", what, "s, the model has ",
              names.size()));
  for (size_t i = 0; i < tensors.size(); ++i) tensors[i].name = names[i];
  return {};
}

std::vector<std::string> names_of(const std::vector<onnx::ValueInfo>& values, const GraphDef& graph) {
  std::set<std::string_view> constants;
  for (const onnx::TensorDef& tensor : graph.initializers) constants.insert(tensor.name);
  std::vector<std::string> names;
  for (const onnx::ValueInfo& value : values)
    if (!constants.contains(value.name)) names.emplace_back(value.name);
  return names;
}

Status run_data_set(const std::string& folder, const std::string& set, const onnx::Model& model, const RunModel& run,
                    CaseResult& result) {
  auto inputs = TRY(read_tensor_files(set, "input_"));
  auto expected = TRY(read_tensor_files(set, "output_"));
  TRY(take_names(inputs, names_of(model.graph.inputs, model.graph), "input"));
  TRY(take_names(expected, names_of(model.graph.outputs, {}), "output"));
  for (auto* tensors : {&inputs, &expected})
    for (Tensor& tensor : *tensors) tensor = as_in_network(std::move(tensor));
  const ModelRun ran = TRY(run(folder + "/model.onnx", inputs));
  result.tactics = ran.tactics;
  for (const Tensor& tensor : expected) {
    const auto actual = std::find_if(ran.outputs.begin(), ran.outputs.end(),
                                     [&](const Tensor& output) { return output.name == tensor.name; });
    TRY(require(actual != ran.outputs.end(), "there is no output '", tensor.name, "'"));
    TRY(compare(*actual, tensor, tolerance_of(folder)));
  }
  return {};
}

Status run_data_sets(const std::string& folder, const onnx::Model& model, const RunModel& run, CaseResult& result) {
  int num_sets = 0;
  for (;; ++num_sets) {
    const std::string set = str(folder, "/test_data_set_", num_sets);
    if (!std::filesystem::exists(set)) break;
    TRY(run_data_set(folder, set, model, run, result));
  }
  return require(num_sets > 0, "there is no data set");
}

}  // namespace

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass: return "pass";
    case Outcome::kUnsupported: return "unsupported";
    case Outcome::kFail: return "fail";
  }
  return "?";
}

bool CaseResult::by_reference_alone() const {
  return !tactics.empty() && std::all_of(tactics.begin(), tactics.end(), is_reference);
}

Record to_record(const CaseResult& result) {
  const auto texts = [](const std::vector<std::string>& from) { return Datum::List(from.begin(), from.end()); };
  Record record;
  record.set("case", result.name).set("status", name_of(result.outcome)).set("reason", result.reason);
  record.set("ops", texts(result.ops)).set("tactics", texts(result.tactics));
  record.set("by_reference_alone", result.by_reference_alone());
  record.set("other_types_in_network", result.other_types_in_network);
  return record;
}

CaseResult run_node_case(const std::string& folder, const RunModel& run, const HasOperator& has_operator) {
  CaseResult result;
  result.name = std::filesystem::path(folder).filename().string();
  const auto model = onnx::read_model_file(folder + "/model.onnx");
  if (!model) {
    result.reason = model.error().message;
    return result;
  }
  const Needs needs = needs_of(**model);
  result.other_types_in_network = needs.other_types_in_network;
  for (const auto& [domain, op] : needs.ops) result.ops.push_back(domain.empty() ? op : str(domain, ".", op));
  const Status ran = run_data_sets(folder, **model, run, result);
  if (ran) {
    result.outcome = Outcome::kPass;
    return result;
  }
  const std::string absent = absent_from_coverage(needs, has_operator);
  result.outcome = absent.empty() ? Outcome::kFail : Outcome::kUnsupported;
  result.reason = absent.empty() ? ran.error().message : absent;
  return result;
}

}  // namespace kiln::conformance
