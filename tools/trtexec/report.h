/// The report that is printed and exported after a run.
#pragma once

#include <string>
#include <vector>

#include "bindings.h"
#include "cli/statistics.h"
#include "options.h"

namespace kiln::cli::trtexec {

class Log;

/// The averages, the summary and its warnings. Traces that began within the warm-up are left out.
void report_performance(const std::vector<Trace>& traces, const Options& options, Log& log);

/// --dumpOutput, --exportOutput and --dumpRawBindingsToFile.
void report_outputs(const std::vector<Tensor>& tensors, const ReportOptions& options, Log& log);

/// The file of a tensor's elements: "x.input.1.3.32.32.fp32.raw". What may not stand in a file's name becomes '_'.
std::string raw_file_name(const Tensor& tensor);

/// The measured traces as JSON with TensorRT's keys.
std::string times_json(std::span<const Trace> traces);

}  // namespace kiln::cli::trtexec
