// Runs a network on its data sets, from the ONNX file and again from the saved plan in a new process.
//
//   run_network MODEL [--config noTF32|default|fp16|bf16] [--sets FOLDER] [--rel-to-max X] [--level N]
//   [--allow-reference] [--gpu] [--sequence FRAMES RESULTS]
//
// MODEL is a folder with model.onnx, test_data_set_0 ... and expected.json, or the name of one in KILN_MODELS_DIR.
// --sets takes data sets of another folder. --rel-to-max replaces the tolerance of expected.json: no difference above X
// times the largest expected output. --gpu runs on the GPU, and is skipped where there is none. --sequence runs a
// network that keeps a state step by step instead (sequence.h), on files that are named from its folder. Fails if an
// output differs, if a run does not repeat the bits of the one before, in this process or the new one, or if a step
// runs by the reference fallback.
#include <cuda_runtime_api.h>
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

#include "base/hash.h"
#include "base/mapped_file.h"
#include "models/data_sets.h"
#include "models/detections.h"
#include "models/sequence.h"
#include "support/session.h"

namespace kiln::conformance {
namespace {

struct Arguments {
  std::string folder, config = "default", sets;
  std::optional<double> rel_to_max;
  int level = 3;
  bool allow_reference = false, gpu = false;
  std::string load;             ///< a saved plan; empty: build one
  std::string frames, results;  ///< a sequence's; empty: the data sets
  std::string digest;           ///< of all outputs, as the process that saved the plan computed them
};

struct Judge {
  Tolerance tolerance;
  std::map<std::string, std::vector<int64_t>> top_class;
  std::optional<DetectionTolerance> detections;
};

/// A box beside the expected one may be selected in its place; scores are as those of the network without the
/// selection.
constexpr DetectionTolerance kSelectedInHalf{.iou = 0.9, .score = 0.02};

/// "default" allows TF32. On the CPU that is Winograd, which the collection's networks must bear within their FP32
/// tolerance; on a GPU operands are rounded to FP16's digits, and have its tolerance.
Result<Judge> make_judge(const Arguments& arguments, const std::vector<DataSet>& sets) {
  if (arguments.rel_to_max) return Judge{{0, 0, *arguments.rel_to_max}, {}, {}};
  const Expectations expected = TRY(read_expectations(arguments.folder + "/expected.json"));
  const bool half = arguments.config == "fp16" || arguments.config == "bf16" ||
                    (arguments.config == "default" && arguments.gpu) || !expected.tolerances.contains("fp32");
  const bool quantized = expected.tolerances.contains("int8");
  const auto found = expected.tolerances.find(quantized ? "int8" : half ? "fp16" : "fp32");
  if (half && found == expected.tolerances.end() && is_selection(sets[0].outputs))
    return Judge{{}, {}, kSelectedInHalf};
  TRY(require(found != expected.tolerances.end(), arguments.folder, "/expected.json has no tolerance for ",
              arguments.config));
  const auto detections = expected.detections.find(found->first);
  return Judge{found->second, arguments.sets == arguments.folder ? expected.top_class : decltype(expected.top_class){},
               detections == expected.detections.end() ? std::optional<DetectionTolerance>() : detections->second};
}

/// As sets: boxes of equal scores may come in any order.
Status check_selection(const DataSet& set, const std::vector<Tensor>& outputs, const Judge& judge) {
  const auto found = TRY(decode_selection(outputs)), wanted = TRY(decode_selection(set.outputs));
  std::printf("  %s: %zu boxes selected, %zu expected\n", set.name.c_str(), found.size(), wanted.size());
  if (judge.detections) return compare_detections(found, wanted, judge.detections->iou, judge.detections->score);
  const auto actual = TRY(sorted_selection(outputs)), expected = TRY(sorted_selection(set.outputs));
  for (size_t i = 0; i < expected.size(); ++i) TRY(compare(actual[i], expected[i], judge.tolerance));
  return {};
}

Status check_outputs(const DataSet& set, const std::vector<Tensor>& outputs, const Judge& judge) {
  if (is_selection(set.outputs)) return check_selection(set, outputs, judge);
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

Hash128 hash_of(const std::vector<Tensor>& tensors) {
  Hash128 hash;
  for (const Tensor& tensor : tensors) hash = combine(hash, hash128(std::span<const std::byte>(tensor.bytes)));
  return hash;
}

/// The outputs, after several runs that have to give the same bits: from the second on a GPU replays a recording.
Result<std::vector<Tensor>> run_repeatedly(Session& session, const DataSet& set) {
  constexpr int kRuns = 4;
  auto outputs = TRY(session.run(set.inputs));
  const Hash128 first = hash_of(outputs);
  for (int i = 1; i < kRuns; ++i)
    TRY(require(hash_of(TRY(session.run(set.inputs))) == first, "run ", i, " gives other bits than the first"));
  return outputs;
}

/// Returns the digest of all outputs.
Result<std::string> run_sets(std::span<const std::byte> plan, const std::vector<DataSet>& sets,
                             const Arguments& arguments) {
  const Judge judge = TRY(make_judge(arguments, sets));
  const auto session = TRY(Session::load(plan));
  Hash128 digest;
  for (const DataSet& set : sets) {
    const auto outputs = TRY(in_context(run_repeatedly(*session, set), [&] { return set.name; }));
    TRY(in_context(check_outputs(set, outputs, judge), [&] { return set.name; }));
    digest = combine(digest, hash_of(outputs));
  }
  if (arguments.load.empty()) TRY(report_tactics(*session, arguments.allow_reference));
  return str(digest);
}

/// This program again, as a new process, on the saved plan.
Status run_again(const std::vector<std::string>& command_line, const std::string& plan_path,
                 const std::string& digest) {
  std::vector<std::string> texts = command_line;
  texts.insert(texts.end(), {"--load", plan_path, "--digest", digest});
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

Result<PlanBytes> build(const Arguments& arguments, const std::vector<DataSet>& sets) {
  BuildOptions options;
  options.optimization_level = arguments.level;
  options.tf32 = arguments.config != "noTF32";
  options.fp16 = arguments.config == "fp16";
  options.bf16 = arguments.config == "bf16";
  options.examples = sets[0].inputs;
  options.extents = ranges_over(sets);
  options.values = values_over(sets);
  PlanBytes plan = TRY(build_plan(arguments.folder + "/model.onnx", options));
  std::printf("built: %zu bytes\n", plan.size());
  return plan;
}

/// A whole sequence adds up what its steps are off by; in half precision it is judged as one step is.
Status run_frames(const Arguments& arguments, const std::vector<DataSet>& sets) {
  constexpr double kOverSequence = 1e-3;
  const auto path = [&](const std::string& name) { return arguments.folder + "/" + name; };
  const Sequence sequence = TRY(read_sequence(path(arguments.frames), path(arguments.results)));
  const PlanBytes plan = TRY(build(arguments, {sets[0]}));
  const auto session = TRY(Session::load(plan));
  const double one_step = TRY(make_judge(arguments, sets)).tolerance.atol;
  return run_sequence(*session, sets[0], sequence, std::max(kOverSequence, one_step));
}

Status build_and_run(const Arguments& arguments, const std::vector<DataSet>& sets,
                     const std::vector<std::string>& command_line) {
  const PlanBytes plan = TRY(build(arguments, sets));
  const std::string digest = TRY(run_sets(plan, sets, arguments));
  const auto path = std::filesystem::temp_directory_path() / str("kiln_run_network_", getpid(), ".plan");
  {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(plan.data()), static_cast<std::streamsize>(plan.size()));
    TRY(require(file.flush().good(), "cannot write ", path.string()));
  }
  const Status again = run_again(command_line, path.string(), digest);
  std::filesystem::remove(path);
  return again;
}

Status run(const Arguments& arguments, const std::vector<std::string>& command_line) {
  const auto sets = TRY(read_data_sets(arguments.sets));
  if (!arguments.frames.empty()) return run_frames(arguments, sets);
  if (arguments.load.empty()) return build_and_run(arguments, sets, command_line);
  std::printf("from the saved plan:\n");
  const auto file = TRY(MappedFile::open(arguments.load));
  const std::string digest = TRY(run_sets(file->bytes(), sets, arguments));
  return require(digest == arguments.digest, "the saved plan gives other bits in a new process");
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
    else if (words[i] == "--gpu")
      arguments.gpu = true;
    else if (words[i] == "--sequence" && i + 2 < words.size())
      arguments.frames = words[i + 1], arguments.results = words[i + 2], i += 2;
    else if (words[i] == "--digest" && has_value)
      arguments.digest = words[++i];
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

/// Why there is no GPU to run on; empty where there is one.
std::string absent_gpu() {
  int count = 0, version = 0;
  const cudaError_t found = cudaGetDeviceCount(&count);
  if (found != cudaSuccess) return cudaGetErrorString(found);
  if (cudaDriverGetVersion(&version) != cudaSuccess || version == 0) return "there is no NVIDIA driver";
  return count > 0 ? "" : "the driver sees no GPU";
}

/// Whether to run; says why not.
bool can_run(Arguments& arguments) {
  if (arguments.gpu) {
    const std::string absent = absent_gpu();
    if (!absent.empty()) {
      std::printf("SKIP: no GPU: %s\n", absent.c_str());
      return false;
    }
    setenv("KILN_DEVICE", "cuda", 1);
  }
  if (arguments.folder.find('/') == std::string::npos) {
    const char* collection = std::getenv("KILN_MODELS_DIR");
    if (!collection) {
      std::printf("SKIP: KILN_MODELS_DIR is not set\n");
      return false;
    }
    arguments.folder = std::string(collection) + "/" + arguments.folder;
  }
  if (arguments.sets.empty()) arguments.sets = arguments.folder;
  return true;
}

}  // namespace
}  // namespace kiln::conformance

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  auto arguments = kiln::conformance::parse(words);
  if (!arguments) {
    std::fprintf(stderr,
                 "usage: run_network MODEL [--config noTF32|default|fp16|bf16] [--sets FOLDER] [--rel-to-max X] "
                 "[--level N] [--allow-reference] [--gpu] [--sequence FRAMES RESULTS]\n");
    return 2;
  }
  if (!kiln::conformance::can_run(*arguments)) return 77;
  const kiln::Status status = kiln::conformance::run(*arguments, words);
  if (status) return 0;
  std::printf("FAILED: %s\n", status.error().message.c_str());
  return 1;
}
