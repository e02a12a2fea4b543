/// Kiln's trtexec: builds a plan or loads one, runs it, reports. Uses the public API only.
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>

#include "NvInferPlugin.h"
#include "build.h"
#include "cli/files.h"
#include "cli/layer_profile.h"
#include "cuda.h"
#include "engine.h"
#include "flag_table.h"
#include "inference.h"
#include "log.h"
#include "output_files.h"
#include "plugins.h"
#include "report.h"

namespace kiln::cli::trtexec {
namespace {

void infer(nvinfer1::ICudaEngine& engine, const Options& options, Log& log) {
  const ReportOptions& report = options.report;
  const bool profile_at_once = report.wants_profile() && !options.inference.separate_profile_run;
  LayerProfile profile;
  Runner runner(engine, options, profile_at_once ? &profile : nullptr, log);
  report_layers(report, engine, &runner.context(), log);
  log.info("Starting inference");
  const std::vector<Trace> traces = runner.run();
  if (profile_at_once) {
    log.info(
        "Timing layers slows the network down, so that its time as a whole is not reported; --separateProfileRun "
        "measures it in a run of its own.");
  } else {
    report_performance(traces, options, log);
  }
  report_outputs(runner.tensors(), report, log);
  if (report.wants_profile() && !profile_at_once) {
    runner.set_profiler(&profile);
    runner.run();
  }
  if (report.profile)
    for (const std::string& line : profile.lines()) log.info(line);
  if (!report.export_profile.empty()) write_file(report.export_profile, profile.json(), "profile of --exportProfile");
}

/// Builds or loads. An engine is made only if something is to be done with it.
std::optional<LoadedEngine> prepare(const Options& options, Log& log) {
  if (!options.build.load.empty() && options.inference.time_deserialize) return {};
  if (!options.build.load.empty()) return load_engine(options.build.load, options, log);
  auto plan = build_plan(options, log);
  const ReportOptions& report = options.report;
  if (options.inference.time_deserialize) return {};
  if (options.build.skip_inference && !report.wants_layers() && !report.optimization_profile) return {};
  return plan ? load_engine(std::move(*plan), options, log) : load_engine(options.build.save, options, log);
}

void run(const Options& options, Log& log) {
  for (const std::string& line : describe(options)) log.info(line);
  for (const std::string& warning : options.warnings) log.warn(warning);
  log.set_verbose(options.report.verbose);
  check_output_files(options);
  select_device(options.device, log);
  log.info("");
  log.info("TensorRT version: ", NV_TENSORRT_MAJOR, ".", NV_TENSORRT_MINOR, ".", NV_TENSORRT_PATCH);
  log.info("Loading standard plugins");
  require(initLibNvInferPlugins(&log, ""), "the standard plugins did not load: the message above says why");
  load_static_plugins(options.plugins.statics, log);
  if (options.runtime.only_version) return report_plan_version(options.build.load, log);
  const std::optional<LoadedEngine> loaded = prepare(options, log);
  if (options.inference.time_deserialize && !options.build.skip_inference)
    return time_loading(options.build.load.empty() ? options.build.save : options.build.load, options, log);
  if (!options.build.skip_inference) return infer(*loaded->engine, options, log);
  if (loaded) report_layers(options.report, *loaded->engine, nullptr, log);
  log.info("Skipped inference phase since --skipInference is added.");
}

int trtexec(std::span<const char* const> command_line) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is an error to report
  Log log;
  const auto words = command_line.subspan(1);
  if (wants_help(words)) {
    std::fputs(help_text("trtexec builds a plan from an ONNX file, or loads one, runs it and reports its speed.\n\n"
                         "  trtexec --onnx=model.onnx --saveEngine=model.plan\n"
                         "  trtexec --loadEngine=model.plan --shapes=x:8x3x224x224 --exportTimes=times.json\n",
                         kFlagTable)
                   .c_str(),
               stdout);
    return 0;
  }
  log.report_state("RUNNING", command_line);
  try {
    run(parse_options(words), log);
    log.report_state("PASSED", command_line);
    return 0;
  } catch (const std::bad_alloc&) {
    log.error("out of memory");
  } catch (const std::exception& failure) {
    log.error(failure.what());
  }
  log.report_state("FAILED", command_line);
  return 1;
}

}  // namespace
}  // namespace kiln::cli::trtexec

int main(int argc, char** argv) { return kiln::cli::trtexec::trtexec({argv, static_cast<size_t>(argc)}); }
