#include "backend/cuda/device/graph_clock.h"

#include <algorithm>

#include "backend/cuda/device/memset_nodes.h"

namespace kiln::cuda {

Result<std::unique_ptr<Measurement>> GraphClock::create(CudaDevice& device, TimedWork work, void* argument,
                                                        double limit_us) {
  const CurrentContext current(device);
  const Driver& driver = device.driver();
  auto stream = TRY(CudaStream::create(device));
  std::unique_ptr<GraphClock> clock(new GraphClock(device, std::move(stream), work, argument, limit_us));
  TRY(driver.check(driver.event_create(&clock->start_, 0), "creating an event"));
  TRY(driver.check(driver.event_create(&clock->end_, 0), "creating an event"));
  const double once_us = TRY(clock->between_events_us(&GraphClock::run_once));
  constexpr double kTurnUs = 100;
  constexpr int kMostCopies = 20;
  clock->copies_ = static_cast<int>(std::clamp(kTurnUs / std::max(once_us, 1.0), 1.0, double{kMostCopies}));
  if (!clock->capture()) clock->copies_ = 1;
  return clock;
}

GraphClock::~GraphClock() {
  const CurrentContext current(device_);
  const Driver& driver = device_.driver();
  if (graph_) driver.graph_exec_destroy(graph_);
  if (start_) driver.event_destroy(start_);
  if (end_) driver.event_destroy(end_);
}

Status GraphClock::run_once() { return work_(argument_, stream_.get()); }

Status GraphClock::launch_graph() {
  return device_.driver().check(device_.driver().graph_launch(graph_, stream_->handle()), "launching a graph");
}

/// Whether all copies became one graph. A capture that fails leaves the stream as it was.
bool GraphClock::capture() {
  const Driver& driver = device_.driver();
  const OutsideCaptures outside(driver);
  if (driver.stream_begin_capture(stream_->handle(), kCaptureThreadLocal) != 0) return false;
  stream_->set_recorded(true);
  bool recorded = true;
  for (int i = 0; i < copies_ && recorded; ++i) recorded = run_once().has_value();
  stream_->set_recorded(false);
  GraphHandle graph = nullptr;
  recorded &= driver.stream_end_capture(stream_->handle(), &graph) == 0 && graph;
  if (recorded) replace_memset_nodes(device_, graph);  // as in the recordings that will run the chosen candidate
  if (recorded) recorded = driver.graph_instantiate_with_flags(&graph_, graph, 0) == 0;
  if (!recorded) graph_ = nullptr;
  if (graph) driver.graph_destroy(graph);
  return recorded;
}

Result<double> GraphClock::between_events_us(Status (GraphClock::*work)()) {
  const Driver& driver = device_.driver();
  TRY(driver.check(driver.event_record_with_flags(start_, stream_->handle(), 0), "recording an event"));
  TRY((this->*work)());
  TRY(driver.check(driver.event_record_with_flags(end_, stream_->handle(), 0), "recording an event"));
  TRY(stream_->synchronize_within(limit_us_));
  float ms = 0;
  TRY(driver.check(driver.event_elapsed_time(&ms, start_, end_), "reading a time"));
  return ms * 1e3;
}

Result<double> GraphClock::turn_us() {
  const CurrentContext current(device_);
  return TRY(between_events_us(graph_ ? &GraphClock::launch_graph : &GraphClock::run_once)) / copies_;
}

}  // namespace kiln::cuda
