#include "query.h"

#include "cli/text.h"

namespace kiln::cli::trtexec {

QueryLane::QueryLane(nvinfer1::IExecutionContext& context, Bindings& bindings, const QueryOptions& options)
    : context_(context), bindings_(bindings), options_(options) {
  // If the device cannot copy and compute at once, a second query would only wait, and the wait would be measured.
  const int num_slots = options.overlap && copies_beside_computing() ? 2 : 1;
  for (int i = 0; i < num_slots; ++i) slots_.push_back(std::make_unique<Slot>(options.waiting));
}

std::string QueryLane::capture() {
  const auto enqueue = [&] { return context_.enqueueV3(compute_); };
  copy_inputs_now();
  require(enqueue(), "a query failed: the message above says why");  // whatever a first run does is done
  compute_.synchronize();
  return graph_.capture(compute_, enqueue);
}

void QueryLane::hold_until(const Event& event) {
  event.hold(in_);
  event.hold(compute_);
  event.hold(out_);
}

void QueryLane::start(const Clock& clock) {
  Slot& slot = *slots_[static_cast<size_t>(next_)];
  if (options_.transfers) {
    slot.in_start.record(in_);
    bindings_.copy_inputs(in_);
    slot.in_end.record(in_);
    slot.in_end.hold(compute_);
  }
  slot.start.record(compute_);
  slot.enqueue_start_ms = clock.ms();
  if (!graph_.empty())
    graph_.launch(compute_);
  else
    require(context_.enqueueV3(compute_), "a query failed: the message above says why");
  slot.enqueue_end_ms = clock.ms();
  slot.end.record(compute_);
  if (options_.transfers) {
    slot.end.hold(out_);
    slot.out_start.record(out_);
    bindings_.copy_outputs(out_);
    slot.out_end.record(out_);
  }
  next_ = (next_ + 1) % static_cast<int>(slots_.size());
  ++under_way_;
}

Trace QueryLane::finish(const Event& origin) {
  const int num_slots = static_cast<int>(slots_.size());
  const Slot& slot = *slots_[static_cast<size_t>((next_ + num_slots - under_way_) % num_slots)];
  (options_.transfers ? slot.out_end : slot.end).synchronize();
  --under_way_;
  Trace trace;
  trace.enqueue_start = slot.enqueue_start_ms;
  trace.enqueue_end = slot.enqueue_end_ms;
  // The ends are starts plus durations: a float of milliseconds since the origin is too coarse to subtract.
  trace.compute_start = slot.start.ms_since(origin);
  trace.compute_end = trace.compute_start + slot.end.ms_since(slot.start);
  trace.h2d_start = trace.h2d_end = trace.compute_start;
  trace.d2h_start = trace.d2h_end = trace.compute_end;
  if (options_.transfers) {
    trace.h2d_start = slot.in_start.ms_since(origin);
    trace.h2d_end = trace.h2d_start + slot.in_end.ms_since(slot.in_start);
    trace.d2h_start = slot.out_start.ms_since(origin);
    trace.d2h_end = trace.d2h_start + slot.out_end.ms_since(slot.out_start);
  }
  return trace;
}

void QueryLane::copy_inputs_now() {
  bindings_.copy_inputs(in_);
  in_.synchronize();
}

void QueryLane::copy_outputs_now() {
  bindings_.copy_outputs(out_);
  out_.synchronize();
  bindings_.settle_outputs(out_);
}

}  // namespace kiln::cli::trtexec
