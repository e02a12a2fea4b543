// Runs the networks that random_networks.py made, each with all its data sets in one engine, and prints a line of JSON
// for each: {case, status, reason, tactics}.
//
//   run_networks FOLDER [--config noTF32|default|fp16|bf16|best] [--level N] [--gpu] [--launch-only]
//   [--formats] [--workers N] [--timeout SECONDS] [CASE...]
//
// A case is a folder with model.onnx, test_data_set_0 ... and bounds.json: the largest difference of each output in
// "single" precision (noTF32), "half" (what rounds operands) and "bf16", null where there is none to judge. Every set
// runs several times, between others of other shapes, and has to give the same bits. --launch-only compares nothing:
// for a stand-in of a driver, whose kernels do nothing. --formats gives inputs and outputs of rank 4 and 5 formats that
// the case's name decides.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/hash.h"
#include "base/record.h"
#include "models/data_sets.h"
#include "plan/json.h"
#include "support/session.h"
#include "support/worker_pool.h"

namespace kiln::conformance {
namespace {

struct Arguments {
  std::string folder, config = "noTF32";
  int level = 0;
  bool launch_only = false, formats = false;
  std::vector<std::string> cases;
  PoolOptions pool{.batch_size = 100};
};

BuildOptions build_options(const Arguments& arguments, const std::vector<DataSet>& sets) {
  BuildOptions options;
  options.optimization_level = arguments.level;
  options.tf32 = arguments.config != "noTF32";
  options.fp16 = arguments.config == "fp16" || arguments.config == "best";
  options.bf16 = arguments.config == "bf16" || arguments.config == "best";
  options.examples = sets[0].inputs;
  options.extents = ranges_over(sets);
  options.values = values_over(sets);
  return options;
}

/// The bound of each output; nothing for one that is not judged.
Result<std::map<std::string, std::optional<double>>> read_bounds(const std::string& path,
                                                                 const std::string& precision) {
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  TRY(require(json.is_object(), path, " is no JSON object"));
  std::map<std::string, std::optional<double>> bounds;
  for (const auto& [name, bound] : json.items()) {
    TRY(require(bound.contains(precision), path, " has no ", precision, " of output '", name, "'"));
    const auto& value = bound[precision];
    bounds[name] = value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
  }
  return bounds;
}

Status check(const std::vector<Tensor>& outputs, const DataSet& set,
             const std::map<std::string, std::optional<double>>& bounds) {
  for (const Tensor& expected : set.outputs) {
    const auto actual =
        std::find_if(outputs.begin(), outputs.end(), [&](const Tensor& t) { return t.name == expected.name; });
    TRY(require(actual != outputs.end(), "there is no output '", expected.name, "'"));
    const auto bound = bounds.find(expected.name);
    TRY(require(bound != bounds.end(), "there is no bound of output '", expected.name, "'"));
    if (bound->second)
      TRY(compare(*actual, expected, {.atol = *bound->second, .levels = std::floor(*bound->second)}));
    else
      TRY(require(actual->type == expected.type && actual->dims == expected.dims, "output '", expected.name, "' is ",
                  *actual, " instead of ", expected));
  }
  return {};
}

bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Tensor& x, const Tensor& y) { return x.dims == y.dims && x.bytes == y.bytes; });
}

/// Every set thrice in a row, so that a GPU replays a recording, and once more behind the others.
Status run_sets(Session& session, const std::vector<DataSet>& sets, const Arguments& arguments,
                const std::map<std::string, std::optional<double>>& bounds) {
  std::vector<std::vector<Tensor>> first;
  for (int round = 0; round < 2; ++round)
    for (size_t i = 0; i < sets.size(); ++i)
      for (int run = 0; run < (round == 0 ? 3 : 1); ++run) {
        auto outputs = TRY(in_context(session.run(sets[i].inputs), [&] { return sets[i].name; }));
        if (arguments.launch_only) continue;
        if (first.size() == i) {
          TRY(in_context(check(outputs, sets[i], bounds), [&] { return sets[i].name; }));
          first.push_back(std::move(outputs));
          continue;
        }
        TRY(require(same_bits(outputs, first[i]), sets[i].name, ": run ", run, round ? " behind the others" : "",
                    " gives other bits than the first"));
      }
  return {};
}

Status run_case(const std::string& folder, const Arguments& arguments, std::vector<std::string>& tactics) {
  const auto sets = TRY(read_data_sets(folder));
  const bool is_half = arguments.config == "default" || arguments.config == "fp16";
  const auto bounds = TRY(read_bounds(folder + "/bounds.json", arguments.config == "noTF32" ? "single"
                                                               : is_half                    ? "half"
                                                                                            : "bf16"));
  BuildOptions options = build_options(arguments, sets);
  if (arguments.formats) options.formats_seed = hash128(std::filesystem::path(folder).filename().string()).low;
  const PlanBytes plan = TRY(build_plan(folder + "/model.onnx", options));
  const auto session = TRY(Session::load(plan));
  tactics = TRY(session->tactics());
  return run_sets(*session, sets, arguments, bounds);
}

std::string to_line(const std::string& name, const Status& status, const std::vector<std::string>& tactics) {
  Record record;
  record.set("case", name).set("status", status ? "pass" : "fail");
  record.set("reason", status ? "" : status.error().message)
      .set("tactics", Datum::List(tactics.begin(), tactics.end()));
  return plan::to_json(record);
}

std::vector<std::string> folders_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (std::filesystem::exists(entry.path() / "model.onnx")) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// Whether all passed.
bool run_all(const Arguments& arguments) {
  bool fine = true;
  const auto run = [&](const std::string& name) {
    std::vector<std::string> tactics;
    const Status status = run_case(arguments.folder + "/" + name, arguments, tactics);
    return to_line(name, status, tactics);
  };
  const auto failed = [](const std::string& name, const std::string& reason) {
    return to_line(name, error(Code::kInternal, reason), {});
  };
  const auto done = [&](const std::string&, const std::string& text) {
    fine = fine && text.find("\"pass\"") != std::string::npos;
    std::printf("%s\n", text.c_str());
    std::fflush(stdout);
  };
  run_in_workers(arguments.cases.empty() ? folders_in(arguments.folder) : arguments.cases, arguments.pool, run, failed,
                 done);
  return fine;
}

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--config" && has_value)
      arguments.config = argv[++i];
    else if (word == "--level" && has_value)
      arguments.level = std::stoi(argv[++i]);
    else if (word == "--workers" && has_value)
      arguments.pool.num_workers = std::stoi(argv[++i]);
    else if (word == "--timeout" && has_value)
      arguments.pool.timeout_s = std::stod(argv[++i]);
    else if (word == "--gpu")
      setenv("KILN_DEVICE", "cuda", 1);
    else if (word == "--launch-only")
      arguments.launch_only = true;
    else if (word == "--formats")
      arguments.formats = true;
    else if (word.starts_with("--"))
      return {};
    else if (arguments.folder.empty())
      arguments.folder = word;
    else
      arguments.cases.push_back(word);
  }
  constexpr std::string_view kConfigs[] = {"noTF32", "default", "fp16", "bf16", "best"};
  const bool known = std::find(std::begin(kConfigs), std::end(kConfigs), arguments.config) != std::end(kConfigs);
  return known && std::filesystem::is_directory(arguments.folder) ? std::optional(arguments) : std::nullopt;
}

}  // namespace
}  // namespace kiln::conformance

int main(int argc, char** argv) {
  const auto arguments = kiln::conformance::parse(argc, argv);
  if (!arguments) {
    std::fprintf(stderr,
                 "usage: run_networks FOLDER [--config noTF32|default|fp16|bf16|best] [--level N] [--gpu] "
                 "[--launch-only] [--formats] [--workers N] [--timeout SECONDS] [CASE...]\n");
    return 2;
  }
  return kiln::conformance::run_all(*arguments) ? 0 : 1;
}
