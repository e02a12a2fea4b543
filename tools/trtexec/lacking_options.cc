#include "lacking_options.h"

#include <algorithm>

#include "cli/shapes.h"
#include "io_formats.h"

namespace kiln::cli::trtexec {
namespace {

/// A flag that means something only beside another one.
struct Needs {
  std::string_view flag, other;
};
constexpr Needs kNeeds[] = {{"--dumpKernelText", "--safe"},
                            {"--remoteAutoTuningConfig", "--safe"},
                            {"--cpuOnly", "--safe"},
                            {"--cpuOnly", "--remoteAutoTuningConfig"},
                            {"--safetyPlugins", "--safe"},
                            {"--allowWeightStreaming", "--stronglyTyped"},
                            {"--weightStreamingBudget", "--allowWeightStreaming"},
                            {"--dumpRefit", "--refit"},
                            {"--timeRefit", "--refit"},
                            {"--refitFromOnnx", "--refit"},
                            {"--getPlanVersionOnly", "--loadEngine"}};

/// -2 (none), -1 (automatic), a size, or a part: "20%".
void check_streaming_budget(const Arguments& arguments) {
  constexpr std::string_view kFlag = "--weightStreamingBudget";
  const std::string budget = arguments.text(kFlag);
  if (budget.empty() || budget == "-1" || budget == "-2") return;
  if (budget.ends_with('%')) {
    const double percent = parse_number(std::string_view(budget).substr(0, budget.size() - 1), kFlag);
    require(percent >= 0 && percent <= 100, kFlag, ": ", budget, " is outside [0%, 100%]");
    return;
  }
  require(parse_size(budget, 'B', kFlag) >= 0, kFlag, ": ", budget, " is neither -2, -1, a size nor a part in percent");
}

void check_debug_tensors(const Arguments& arguments) {
  require(!arguments.has("--saveDebugTensors") || arguments.has("--markDebug") || arguments.has("--loadEngine"),
          "--saveDebugTensors needs --markDebug, or --loadEngine");
  constexpr std::string_view kFormats[] = {"summary", "numpy", "string", "raw"};
  for (const std::string& format : split(arguments.text("--saveAllDebugTensors"), ','))
    require(std::ranges::find(kFormats, format) != std::end(kFormats), "--saveAllDebugTensors: '", format,
            "' is none of summary, numpy, string and raw");
  require(!arguments.has("--saveAllDebugTensors") || arguments.has("--markDebug") ||
              arguments.has("--markUnfusedTensorsAsDebugTensors") || arguments.has("--loadEngine"),
          "--saveAllDebugTensors needs --markDebug or --markUnfusedTensorsAsDebugTensors, or --loadEngine");
}

/// "ssh://user[:password]@host[:port]?remote_exec_path=...&remote_lib_path=..."
void check_remote(const Arguments& arguments) {
  constexpr std::string_view kFlag = "--remoteAutoTuningConfig";
  const std::string url = arguments.text(kFlag);
  if (url.empty()) return;
  const size_t scheme = url.find("://"), at = url.find('@');
  require(scheme != url.npos && scheme > 0 && at != url.npos && at > scheme + 3 && at + 1 < url.size(), kFlag,
          ": the value is not of the form PROTOCOL://USER[:PASSWORD]@HOST[:PORT]?NAME=VALUE&...");
}

/// "lib.so[namespace::plugin,...]"
void check_safety_plugins(const Arguments& arguments) {
  for (const std::string& argument : arguments.all("--safetyPlugins")) {
    const size_t open = argument.find('[');
    require(open != argument.npos && open > 0 && argument.ends_with(']') && argument.size() > open + 2,
            "--safetyPlugins: '", argument, "' is not LIBRARY[NAMESPACE::PLUGIN,...]");
  }
}

/// Whether a DLA's loadable may have an input or an output of these: one format alone, FP16 or INT8.
bool is_of_dla(const IoFormat& format, bool is_input) {
  using nvinfer1::DataType;
  using nvinfer1::TensorFormat;
  const auto is = [&](TensorFormat one) { return format.formats == 1U << static_cast<uint32_t>(one); };
  if (format.type != DataType::kHALF && format.type != DataType::kINT8) return false;
  if (is(TensorFormat::kDLA_LINEAR)) return true;
  if (is_input && (is(TensorFormat::kCHW4) || is(TensorFormat::kDLA_HWC4))) return true;
  return is(format.type == DataType::kHALF ? TensorFormat::kCHW16 : TensorFormat::kCHW32);
}

/// Formats of inputs and outputs have to be a DLA's, and nothing may run elsewhere.
void check_standalone(const Arguments& arguments) {
  if (!arguments.has("--buildDLAStandalone")) return;
  require(!arguments.has("--allowGPUFallback"), "--buildDLAStandalone and --allowGPUFallback exclude each other");
  for (const std::string_view flag : {kInputFormats, kOutputFormats}) {
    const std::string list = arguments.text(flag);
    require(!list.empty(), "--buildDLAStandalone needs ", flag);
    for (const IoFormat& format : parse_io_formats(list, flag))
      require(
          is_of_dla(format, flag == kInputFormats), flag, ": '", list,
          "' has what is none of a DLA's: fp16 or int8 in dla_linear, dla_hwc4 or chw4 (inputs), fp16 in chw16, int8 "
          "in chw32");
  }
}

}  // namespace

void refuse_lacking_flags(const Arguments& arguments) {
  for (const Needs& needs : kNeeds)
    require(!arguments.has(needs.flag) || arguments.has(needs.other), needs.flag, " needs ", needs.other);
  check_streaming_budget(arguments);
  check_debug_tensors(arguments);
  check_remote(arguments);
  check_safety_plugins(arguments);
  check_standalone(arguments);
  const std::string runtime = arguments.text("--useRuntime", "full");
  require(runtime == "full" || runtime == "lean" || runtime == "dispatch", "--useRuntime: '", runtime,
          "' must be full, lean or dispatch");
  require(runtime == "full" || arguments.has("--loadEngine"), "--useRuntime=", runtime, " needs --loadEngine");
  require(runtime == "full", "--useRuntime=", runtime, " is not in Kiln yet: there is the full runtime only");
  arguments.refuse_lacking();
}

}  // namespace kiln::cli::trtexec
