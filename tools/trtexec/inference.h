/// Runs an engine again and again and records when what happened.
#pragma once

#include <memory>
#include <vector>

#include "NvInferRuntime.h"
#include "bindings.h"
#include "cli/statistics.h"
#include "options.h"

namespace kiln::cli::trtexec {

class Log;
class QueryLane;

/// A context for every stream, with its tensors.
class Runner {
 public:
  /// `profiler` may be null; it hears of the first context's layers.
  Runner(nvinfer1::ICudaEngine& engine, const Options& options, nvinfer1::IProfiler* profiler, Log& log);

  /// The traces of all queries by the time they began, warm-up included. Fails if a query does.
  std::vector<Trace> run();

  void set_profiler(nvinfer1::IProfiler* profiler);
  const nvinfer1::IExecutionContext& context() const { return *sessions_.front().context; }
  const std::vector<Tensor>& tensors() const { return sessions_.front().bindings->tensors(); }

 private:
  struct Session {
    std::unique_ptr<nvinfer1::IExecutionContext> context;
    std::unique_ptr<Bindings> bindings;
  };
  struct Start;
  std::vector<Trace> run_sessions(std::span<Session> sessions, const Start& start);
  void capture(QueryLane& lane);

  const Options& options_;
  Log& log_;
  std::vector<Session> sessions_;
};

}  // namespace kiln::cli::trtexec
