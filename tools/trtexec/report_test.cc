#include "report.h"

#include <gtest/gtest.h>

#include "cli/expect_failure.h"
#include "log.h"

namespace kiln::cli::trtexec {
namespace {

Trace trace_at(double start_ms) {
  Trace trace;
  trace.enqueue_start = trace.h2d_start = start_ms;
  trace.enqueue_end = start_ms + 0.125;
  trace.h2d_end = trace.compute_start = start_ms + 0.25;
  trace.compute_end = trace.d2h_start = start_ms + 1.25;
  trace.d2h_end = start_ms + 1.75;
  return trace;
}

/// The text that a report prints on the standard output, without times and severities.
template <class F>
std::string printed(F report) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Log log;
  report(log);
  ::testing::internal::GetCapturedStderr();
  std::string text = ::testing::internal::GetCapturedStdout(), out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin), message = text.find("] ", text.find("] ", begin) + 2) + 2;
    out += text.substr(message, end + 1 - message);
    begin = end + 1;
  }
  return out;
}

TEST(Report, SummaryHasTensorRTsLabels) {
  Options options;
  options.inference.warmup_ms = 100;
  options.report.avg_runs = 2;
  options.report.percentiles = {99};
  const std::string text = printed([&](Log& log) {
    report_performance({trace_at(50), trace_at(100), trace_at(200), trace_at(300)}, options, log);
  });
  EXPECT_EQ(
      text,
      "Warmup completed 1 queries over 100 ms\n"
      "Timing trace has 3 queries over 0.20175 s\n"
      "\n"
      "=== Trace details ===\n"
      "Trace averages of 2 runs:\n"
      "Average on 2 runs - GPU latency: 1 ms - Host latency: 1.75 ms (enqueue 0.125 ms)\n"
      "\n"
      "=== Performance summary ===\n"
      "Throughput: 14.8699 qps\n"
      "Latency: min = 1.75 ms, max = 1.75 ms, mean = 1.75 ms, median = 1.75 ms, percentile(99%) = 1.75 ms\n"
      "Enqueue Time: min = 0.125 ms, max = 0.125 ms, mean = 0.125 ms, median = 0.125 ms, percentile(99%) = 0.125 ms\n"
      "H2D Latency: min = 0.25 ms, max = 0.25 ms, mean = 0.25 ms, median = 0.25 ms, percentile(99%) = 0.25 ms\n"
      "GPU Compute Time: min = 1 ms, max = 1 ms, mean = 1 ms, median = 1 ms, percentile(99%) = 1 ms\n"
      "D2H Latency: min = 0.5 ms, max = 0.5 ms, mean = 0.5 ms, median = 0.5 ms, percentile(99%) = 0.5 ms\n"
      "Total Host Walltime: 0.20175 s\n"
      "Total GPU Compute Time: 0.003 s\n"
      "Explanations of the performance metrics are printed in the verbose logs.\n"
      "\n");
}

TEST(Report, NothingMeasured) {
  Log log;
  EXPECT_EQ(failure_of([&] { report_performance({trace_at(50)}, {}, log); }),
            "nothing was measured: all 1 queries began within the warm-up");
}

TEST(Report, TimesHaveTensorRTsKeys) {
  const std::vector<Trace> traces{trace_at(1)};
  EXPECT_EQ(times_json(traces),
            "[\n  { \"startEnqMs\" : 1, \"endEnqMs\" : 1.125, \"startH2dMs\" : 1, \"endH2dMs\" : 1.25, "
            "\"startComputeMs\" : 1.25, \"endComputeMs\" : 2.25, \"startD2hMs\" : 2.25, \"endD2hMs\" : 2.75, "
            "\"h2dMs\" : 0.25, \"computeMs\" : 1, \"d2hMs\" : 0.5, \"latencyMs\" : 1.75 }\n]\n");
}

}  // namespace
}  // namespace kiln::cli::trtexec
