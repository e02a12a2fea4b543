/// Queries in flight on one context: copy in, compute, copy out, with an event at each end.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "NvInferRuntime.h"
#include "bindings.h"
#include "cli/statistics.h"
#include "clock.h"
#include "cuda.h"

namespace kiln::cli::trtexec {

struct QueryOptions {
  bool transfers;  ///< copy with every query
  bool overlap;    ///< let one query's copies run beside the other's computing
  Waiting waiting;
};

/// Starts queries and finishes them in the same order; at most num_slots() are under way.
class QueryLane {
 public:
  QueryLane(nvinfer1::IExecutionContext& context, Bindings& bindings, const QueryOptions& options);

  void hold_until(const Event& event);  ///< whatever comes next waits for it
  void start(const Clock& clock);       ///< only if not full()
  Trace finish(const Event& origin);    ///< waits for the oldest; only if not empty()
  bool full() const { return under_way_ == static_cast<int>(slots_.size()); }
  bool empty() const { return under_way_ == 0; }
  int under_way() const { return under_way_; }

  /// Runs a query and captures another, which `start` launches from here on; the reason where that cannot be, and
  /// `start` goes on as it did.
  std::string capture();

  void copy_inputs_now();
  void copy_outputs_now();

 private:
  struct Slot {
    explicit Slot(Waiting waiting)
        : in_start(waiting), in_end(waiting), start(waiting), end(waiting), out_start(waiting), out_end(waiting) {}
    Event in_start, in_end, start, end, out_start, out_end;
    double enqueue_start_ms = 0, enqueue_end_ms = 0;
  };

  nvinfer1::IExecutionContext& context_;
  Bindings& bindings_;
  QueryOptions options_;
  Stream in_, compute_, out_;
  std::vector<std::unique_ptr<Slot>> slots_;
  Graph graph_;
  int next_ = 0, under_way_ = 0;
};

}  // namespace kiln::cli::trtexec
