// Runs a network on its data sets, from the ONNX file and again from the saved plan in a new process.
//
//   run_network MODEL [--config noTF32|default|fp16|bf16] [--sets FOLDER] [--rel-to-max X] [--level N]
//   [--allow-reference]
//
// MODEL is a folder with model.onnx, test_data_set_0 ... and expected.json, or the name of one in KILN_MODELS_DIR.
// --sets takes data sets of another folder. --rel-to-max replaces the tolerance of expected.json: no difference above X
// times the largest expected output. Fails if an output differs, or if a step runs by the reference fallback.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "base/mapped_file.h"
#include "models/data_sets.h"
#include "models/detections.h"
#include "support/session.h"

namespace kiln::conformance {
namespace {

struct Arguments {
  std::string folder, config = "default", sets;
  std::optional<double> rel_to_max;
  int level = 3;
  bool allow_reference = false;
  std::string load;  ///< a saved plan; empty: build one
};

struct Judge {
  Tolerance tolerance;
  std::map<std::string, std::vector<int64_t>> top_class;
  std::optional<DetectionTolerance> detections;
};

/// "default" has TF32, which the collection's networks must bear within their FP32 tolerance.
Result<Judge> make_judge(const Arguments& arguments) {
  if (arguments.rel_to_max) return Judge{{0, 0, *arguments.rel_to_max}, {}, {}};
  const Expectations expected = TRY(read_expectations(arguments.folder + "/expected.json"));
  const bool half = arguments.config == "fp16" || arguments.config == "bf16" || !expected.tolerances.contains("fp32");
  const auto found = expected.tolerances.find(half ? "fp16" : "fp32");
  TRY(require(found != expected.tolerances.end(), arguments.folder, "/expected.json has no tolerance for ",
              arguments.config));
  const auto detections = expected.detections.find(found->first);
  return Judge{found->second, arguments.sets == arguments.folder ? expected.top_class : decltype(expected.top_class){},
               detections == expected.detections.end() ? std::optional<DetectionTolerance>() : detections->second};
}

Status check_outputs(const DataSet& set, const std::vector<Tensor>& outputs, const Judge& judge) {
  for (const Tensor& expected : set.outputs) {
    const auto actual =
        std::find_if(outputs.begin(), outputs.end(), [&](const Tensor& t) { return t.name == expected.name; });
    TRY(require(actual != outputs.end(), "there is no output '", expected.name, "'"));
    const Spread found = spread(*actual, expected);
    std::printf("  %s %s: largest difference %.3g, largest output %.3g\n", set.name.c_str(), expected.name.c_str(),
                found.max_difference, found.max_magnitude);
    Status close = compare(*actual, expected, judge.tolerance);
    if (close || !judge.detections) {
      TRY(std::move(close));
      continue;
    }
    std::printf("  judged by what is detected: %s\n", close.error().message.c_str());
    TRY(compare_detections(TRY(decode_grid_detections(*actual)), TRY(decode_grid_detections(expected)),
                           judge.detections->iou, judge.detections->score));
  }
  const auto classes = judge.top_class.find(set.name);
  if (classes == judge.top_class.end()) return {};
  const Tensor& scores =
      *std::find_if(outputs.begin(), outputs.end(), [&](const Tensor& t) { return t.name == set.outputs[0].name; });
  const int64_t top = top_class_of(scores);
  return require(std::ranges::find(classes->second, top) != classes->second.end(), "the top class is ", top,
                 " instead of ", classes->second[0]);
}

/// A line a tactic, with how many steps it runs.
Status report_tactics(Session& session, bool allow_reference) {
  std::map<std::string, int> counts;
  for (const std::string& tactic : TRY(session.tactics())) ++counts[tactic];
  std::string fallbacks;
  for (const auto& [tactic, count] : counts) {
    std::printf("  tactic %s: %d\n", tactic.c_str(), count);
    if (is_reference(tactic)) fallbacks += str(count, " steps ran by '", tactic, "'");
  }
  return require(fallbacks.empty() || allow_reference, fallbacks);
}

Status run_sets(std::span<const std::byte> plan, const std::vector<DataSet>& sets, const Arguments& arguments) {
  const Judge judge = TRY(make_judge(arguments));
  const auto session = TRY(Session::load(plan));
  for (const DataSet& set : sets) {
    const auto outputs = TRY(in_context(session->run(set.inputs), [&] { return set.name; }));
    TRY(in_context(check_outputs(set, outputs, judge), [&] { return set.name; }));
  }
  return arguments.load.empty() ? report_tactics(*session, arguments.allow_reference) : Status{};
}

/// This program again, as a new process, on the saved plan.
Status run_again(const std::vector<std::string>& command_line, const std::string& plan_path) {
  std::vector<std::string> texts = command_line;
  texts.insert(texts.end(), {"--load", plan_path});
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  std::fflush(stdout);
  pid_t child = 0;
  TRY(require(posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, pointers.data(), environ) == 0,
              "cannot start this program again"));
  int status = 0;
  waitpid(child, &status, 0);
  return require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the saved plan failed in a new process");
}

Status build_and_run(const Arguments& arguments, const std::vector<DataSet>& sets,
                     const std::vector<std::string>& command_line) {
  BuildOptions options;
  options.optimization_level = arguments.level;
  options.tf32 = arguments.config != "noTF32";
  options.fp16 = arguments.config == "fp16";
  options.bf16 = arguments.config == "bf16";
  options.examples = sets[0].inputs;
  options.extents = ranges_over(sets);
  const PlanBytes plan = TRY(build_plan(arguments.folder + "/model.onnx", options));
  std::printf("built: %zu bytes\n", plan.size());
  TRY(run_sets(plan, sets, arguments));
  const auto path = std::filesystem::temp_directory_path() / str("kiln_run_network_", getpid(), ".plan");
  {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(plan.data()), static_cast<std::streamsize>(plan.size()));
    TRY(require(file.flush().good(), "cannot write ", path.string()));
  }
  const Status again = run_again(command_line, path.string());
  std::filesystem::remove(path);
  return again;
}

Status run(const Arguments& arguments, const std::vector<std::string>& command_line) {
  const auto sets = TRY(read_data_sets(arguments.sets));
  if (arguments.load.empty()) return build_and_run(arguments, sets, command_line);
  std::printf("from the saved plan:\n");
  const auto file = TRY(MappedFile::open(arguments.load));
  return run_sets(file->bytes(), sets, arguments);
}

std::optional<Arguments> parse(const std::vector<std::string>& words) {
  Arguments arguments;
  for (size_t i = 1; i < words.size(); ++i) {
    const bool has_value = i + 1 < words.size();
    if (words[i] == "--config" && has_value)
      arguments.config = words[++i];
    else if (words[i] == "--sets" && has_value)
      arguments.sets = words[++i];
    else if (words[i] == "--rel-to-max" && has_value)
      arguments.rel_to_max = std::stod(words[++i]);
    else if (words[i] == "--level" && has_value)
      arguments.level = std::stoi(words[++i]);
    else if (words[i] == "--load" && has_value)
      arguments.load = words[++i];
    else if (words[i] == "--allow-reference")
      arguments.allow_reference = true;
    else if (arguments.folder.empty() && !words[i].starts_with("--"))
      arguments.folder = words[i];
    else
      return {};
  }
  const bool known = arguments.config == "noTF32" || arguments.config == "default" || arguments.config == "fp16" ||
                     arguments.config == "bf16";
  return known && !arguments.folder.empty() ? std::optional(arguments) : std::nullopt;
}

}  // namespace
}  // namespace kiln::conformance

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  auto arguments = kiln::conformance::parse(words);
  if (!arguments) {
    std::fprintf(stderr,
                 "usage: run_network MODEL [--config noTF32|default|fp16|bf16] [--sets FOLDER] [--rel-to-max X] "
                 "[--level N] [--allow-reference]\n");
    return 2;
  }
  if (arguments->folder.find('/') == std::string::npos) {
    const char* collection = std::getenv("KILN_MODELS_DIR");
    if (!collection) {
      std::printf("SKIP: KILN_MODELS_DIR is not set\n");
      return 77;
    }
    arguments->folder = std::string(collection) + "/" + arguments->folder;
  }
  if (arguments->sets.empty()) arguments->sets = arguments->folder;
  const kiln::Status status = kiln::conformance::run(*arguments, words);
  if (status) return 0;
  std::printf("FAILED: %s\n", status.error().message.c_str());
  return 1;
}
