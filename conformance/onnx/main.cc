// Runs ONNX's node tests and prints a line of JSON for each: {case, status, reason, ops, tactics, by_reference_alone}.
//
//   onnx_node_tests FOLDER [--gpu] [--level N] [--workers N] [--timeout SECONDS] [CASE...]
//
// FOLDER is the onnx package's backend/test/data/node. Cases are names of its folders; none: all. --gpu is
// KILN_DEVICE=cuda. Exits with 0 whatever the outcomes: report.py judges them.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "onnx/importer.h"
#include "onnx/node_case.h"
#include "plan/json.h"
#include "support/session.h"
#include "support/worker_pool.h"

namespace kiln::conformance {
namespace {

Result<ModelRun> run_model(const std::string& onnx_path, const std::vector<Tensor>& inputs, int level) {
  BuildOptions options;
  options.optimization_level = level;
  options.tf32 = false;
  options.examples = inputs;
  const PlanBytes plan = TRY(build_plan(onnx_path, options));
  const auto session = TRY(Session::load(plan));
  ModelRun result;
  result.tactics = TRY(session->tactics());
  result.outputs = TRY(session->run(inputs));
  return result;
}

/// Whether a case of the operator can pass. Numbers of chance agree with no file: of them conformance/robustness has
/// tests (RandomRuns).
bool has_operator(const std::string& domain, const std::string& op_type) {
  const bool is_random = op_type == "Bernoulli" || op_type.starts_with("Random");
  const bool is_known = domain.empty() ? parser_supports(op_type) : onnx::has_importer(domain, op_type);
  return is_known && !is_random;
}

std::vector<std::string> folders_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_directory() && std::filesystem::exists(entry.path() / "model.onnx"))
      names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

int run_all(const std::string& folder, std::vector<std::string> cases, int level, const PoolOptions& options) {
  if (cases.empty()) cases = folders_in(folder);
  const auto run_at_level = [&](const std::string& onnx_path, const std::vector<Tensor>& inputs) {
    return run_model(onnx_path, inputs, level);
  };
  const auto run = [&](const std::string& name) {
    return plan::to_json(to_record(run_node_case(folder + "/" + name, run_at_level, has_operator)));
  };
  const auto failed = [](const std::string& name, const std::string& reason) {
    CaseResult result;
    result.name = name;
    result.reason = reason;
    return plan::to_json(to_record(result));
  };
  const auto done = [](const std::string&, const std::string& text) {
    std::printf("%s\n", text.c_str());
    std::fflush(stdout);
  };
  run_in_workers(cases, options, run, failed, done);
  return 0;
}

}  // namespace
}  // namespace kiln::conformance

int main(int argc, char** argv) {
  kiln::conformance::PoolOptions options;
  std::string folder;
  std::vector<std::string> cases;
  int level = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--workers" && i + 1 < argc)
      options.num_workers = std::stoi(argv[++i]);
    else if (argument == "--timeout" && i + 1 < argc)
      options.timeout_s = std::stod(argv[++i]);
    else if (argument == "--level" && i + 1 < argc)
      level = std::stoi(argv[++i]);
    else if (argument == "--gpu")
      setenv("KILN_DEVICE", "cuda", 1);
    else if (folder.empty())
      folder = argument;
    else
      cases.push_back(argument);
  }
  if (folder.empty() || !std::filesystem::is_directory(folder)) {
    std::fprintf(stderr,
                 "usage: onnx_node_tests FOLDER [--gpu] [--level N] [--workers N] [--timeout SECONDS] [CASE...]\n");
    return 2;
  }
  return kiln::conformance::run_all(folder, cases, level, options);
}
