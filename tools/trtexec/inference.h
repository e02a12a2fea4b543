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
    Memory memory;  ///< of the context, where it has none of its own
    std::unique_ptr<nvinfer1::IExecutionContext> context;
    std::unique_ptr<Bindings> bindings;
  };
  struct Start;
  Session make_session(nvinfer1::ICudaEngine& engine, int stream);
  void give_memory(const nvinfer1::ICudaEngine& engine, Session& session);
  std::vector<Trace> run_sessions(std::span<Session> sessions, const Start& start);
  void capture(QueryLane& lane);
  void write_debug_tensors(const nvinfer1::ICudaEngine& engine);

  const Options& options_;
  Log& log_;
  std::vector<Session> sessions_;
};

}  // namespace kiln::cli::trtexec
