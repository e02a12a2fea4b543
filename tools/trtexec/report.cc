#include "report.h"

#include <algorithm>

#include "cli/files.h"
#include "cli/json.h"
#include "cli/new_file.h"
#include "dims.h"
#include "log.h"
#include "values.h"

namespace kiln::cli::trtexec {
namespace {

constexpr int64_t kValuesAtOnce = 1 << 16;  // of an output that is written

void print_averages(std::span<const Trace> traces, int64_t runs, Log& log) {
  constexpr int64_t kLines = 200;  // at the beginning and at the end
  log.info("");
  log.info("=== Trace details ===");
  log.info("Trace averages of ", runs, " runs:");
  const int64_t num_lines = static_cast<int64_t>(traces.size()) / runs;
  for (int64_t line = 0; line < num_lines; ++line) {
    if (line == kLines && num_lines > 2 * kLines) {
      log.info("... Omitting ", num_lines - 2 * kLines, " lines");
      line = num_lines - kLines;
    }
    double compute = 0, latency = 0, enqueue = 0;
    for (const Trace& trace : traces.subspan(static_cast<size_t>(line * runs), static_cast<size_t>(runs))) {
      compute += trace.compute();
      latency += trace.latency();
      enqueue += trace.enqueue();
    }
    const auto count = static_cast<double>(runs);
    log.info("Average on ", runs, " runs - GPU latency: ", compute / count, " ms - Host latency: ", latency / count,
             " ms (enqueue ", enqueue / count, " ms)");
  }
}

std::string summary_text(const Summary& summary, std::span<const double> percentiles) {
  std::string text = str("min = ", summary.min, " ms, max = ", summary.max, " ms, mean = ", summary.mean,
                         " ms, median = ", summary.median, " ms");
  for (size_t i = 0; i < percentiles.size(); ++i)
    text += str(", percentile(", percentiles[i], "%) = ", summary.percentiles[i], " ms");
  return text;
}

struct Summaries {
  Summary latency, enqueue, h2d, compute, d2h;
};

Summaries summaries_of(std::span<const Trace> traces, std::span<const double> percentiles) {
  const auto of = [&](double (Trace::*figure)() const) {
    std::vector<double> figures;
    for (const Trace& trace : traces) figures.push_back((trace.*figure)());
    return summarize(std::move(figures), percentiles);
  };
  return {of(&Trace::latency), of(&Trace::enqueue), of(&Trace::h2d), of(&Trace::compute), of(&Trace::d2h)};
}

void print_warnings(const Summaries& found, const InferenceOptions& options, Log& log) {
  constexpr double kEnqueueShare = 0.8, kUnsteadyPercent = 2.5;
  if (found.enqueue.median > kEnqueueShare * found.compute.median)
    log.warn(
        "* The host takes about as long to enqueue a query as the device to compute it: throughput may be bound by "
        "Enqueue Time.");
  if (options.transfers && found.h2d.median >= found.compute.median)
    log.warn("* Copying inputs takes longer than computing; --noDataTransfers leaves it out.");
  if (options.transfers && found.d2h.median >= found.compute.median)
    log.warn("* Copying outputs takes longer than computing; --noDataTransfers leaves it out.");
  if (found.compute.variation > kUnsteadyPercent)
    log.warn("* GPU compute time is unstable, with coefficient of variance = ", found.compute.variation,
             "%. --useSpinWait, a fixed clock rate or a quieter machine may help.");
  if (options.streams > 1)
    log.warn(
        "* Several inference streams share the device: judge by Throughput; a query's latency includes the others'.");
}

void print_explanations(Log& log) {
  log.verbose("");
  log.verbose("=== Explanations of the performance metrics ===");
  log.verbose("Total Host Walltime: from the start of the first measured query to the end of the last, by the host.");
  log.verbose("GPU Compute Time: how long the device computes one query (the processor, where there is no GPU).");
  log.verbose("Total GPU Compute Time: the same over all queries; far below the walltime, the device stood idle.");
  log.verbose("Throughput: queries divided by Total Host Walltime.");
  log.verbose("Enqueue Time: how long the host takes to hand one query over.");
  log.verbose("H2D Latency: how long the inputs of one query take from the host to the device.");
  log.verbose("D2H Latency: how long the outputs of one query take from the device to the host.");
  log.verbose("Latency: H2D Latency, GPU Compute Time and D2H Latency of one query added up.");
}

void export_outputs(const std::vector<Tensor>& tensors, const std::string& path) {
  NewFile file(path, "outputs of --exportOutput");
  file.write("[\n");
  const char* separator = "  ";
  for (const Tensor& tensor : tensors) {
    if (tensor.is_input) continue;
    file.write(str(separator, "{ \"name\" : ", json_string(tensor.name), "\n  , \"dimensions\" : \"",
                   shape_text(tensor.shape), "\"\n  , \"values\" : [ "));
    const int64_t count = stored_count(tensor);
    for (int64_t first = 0; first < count; first += kValuesAtOnce) {
      std::string values = first ? ", " : "";
      append_values(values, tensor.host.data(), tensor.type, first, std::min(count, first + kValuesAtOnce), ", ",
                    Notation::kJson);
      file.write(values);
    }
    file.write(" ]\n  }\n");
    separator = ", ";
  }
  file.write("]\n");
  file.commit();
}

void write_raw(const std::vector<Tensor>& tensors, Log& log) {
  log.info("Dumping I/O Bindings to RAW Files:");
  for (const Tensor& tensor : tensors) {
    const std::string path = raw_file_name(tensor);
    log.info("Writing file for ", tensor.is_input ? "input" : "output", " binding ", tensor.name, " (with datatype ",
             type_name(tensor.type), " and dimensions ", shape_text(tensor.shape), ") to ", path);
    const int64_t bytes = size_bytes(tensor.type, stored_count(tensor));
    write_file(path, {static_cast<const char*>(tensor.host.data()), static_cast<size_t>(bytes)}, "raw elements");
  }
}

}  // namespace

void report_performance(const std::vector<Trace>& traces, const Options& options, Log& log) {
  const double warmup_ms = options.inference.warmup_ms;
  const auto warm = std::ranges::find_if(traces, [&](const Trace& t) { return t.compute_start >= warmup_ms; });
  const std::span<const Trace> measured(warm, traces.end());
  require(!measured.empty(), "nothing was measured: all ", traces.size(), " queries began within the warm-up");
  const double wall_ms = std::ranges::max(measured, {}, &Trace::d2h_end).d2h_end - measured.front().h2d_start;
  log.info("Warmup completed ", warm - traces.begin(), " queries over ", warmup_ms, " ms");
  log.info("Timing trace has ", measured.size(), " queries over ", wall_ms / 1e3, " s");
  print_averages(measured, options.report.avg_runs, log);

  const std::vector<double>& percentiles = options.report.percentiles;
  const Summaries found = summaries_of(measured, percentiles);
  log.info("");
  log.info("=== Performance summary ===");
  log.info("Throughput: ", 1e3 * static_cast<double>(measured.size()) / wall_ms, " qps");
  log.info("Latency: ", summary_text(found.latency, percentiles));
  log.info("Enqueue Time: ", summary_text(found.enqueue, percentiles));
  log.info("H2D Latency: ", summary_text(found.h2d, percentiles));
  log.info("GPU Compute Time: ", summary_text(found.compute, percentiles));
  log.info("D2H Latency: ", summary_text(found.d2h, percentiles));
  log.info("Total Host Walltime: ", wall_ms / 1e3, " s");
  log.info("Total GPU Compute Time: ", found.compute.mean * static_cast<double>(measured.size()) / 1e3, " s");
  print_warnings(found, options.inference, log);
  log.info("Explanations of the performance metrics are printed in the verbose logs.");
  print_explanations(log);
  log.info("");
  if (!options.report.export_times.empty())
    write_file(options.report.export_times, times_json(measured), "times of --exportTimes");
}

void report_outputs(const std::vector<Tensor>& tensors, const ReportOptions& options, Log& log) {
  if (options.output) {
    log.info("Output Tensors:");
    for (const Tensor& tensor : tensors) {
      if (tensor.is_input) continue;
      std::string values;
      append_values(values, tensor.host.data(), tensor.type, 0, stored_count(tensor), " ");
      log.info(tensor.name, ": (", shape_text(tensor.shape), ")");
      log.info(values);
    }
  }
  if (!options.export_output.empty()) export_outputs(tensors, options.export_output);
  if (options.raw_bindings) write_raw(tensors, log);
}

std::string raw_file_name(const Tensor& tensor) {
  std::string extents;
  for (const int64_t extent : tensor.shape) extents += str(extents.empty() ? "" : ".", extent);
  std::string name =
      str(tensor.name, tensor.is_input ? ".input." : ".output.", extents, ".", type_name(tensor.type), ".raw");
  std::ranges::replace_if(
      name, [](unsigned char c) { return !std::isalnum(c) && c != '.' && c != '_' && c != '-'; }, '_');
  return name;
}

std::string times_json(std::span<const Trace> traces) {
  std::string text = "[\n";
  const char* separator = "  ";
  for (const Trace& trace : traces) {
    const std::pair<const char*, double> all[] = {
        {"startEnqMs", trace.enqueue_start},
        {"endEnqMs", trace.enqueue_end},
        {"startH2dMs", trace.h2d_start},
        {"endH2dMs", trace.h2d_end},
        {"startComputeMs", trace.compute_start},
        {"endComputeMs", trace.compute_end},
        {"startD2hMs", trace.d2h_start},
        {"endD2hMs", trace.d2h_end},
        {"h2dMs", trace.h2d()},
        {"computeMs", trace.compute()},
        {"d2hMs", trace.d2h()},
        {"latencyMs", trace.latency()},
    };
    text += str(separator, "{ ");
    const char* comma = "";
    for (const auto& [key, ms] : all) {
      text += str(comma, json_string(key), " : ", json_number(static_cast<float>(ms)));
      comma = ", ";
    }
    text += " }\n";
    separator = ", ";
  }
  return text + "]\n";
}

}  // namespace kiln::cli::trtexec
