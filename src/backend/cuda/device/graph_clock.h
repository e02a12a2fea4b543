/// Times work on a GPU by replaying a graph of copies of it.
#pragma once

#include <memory>

#include "backend/cuda/device/cuda_device.h"
#include "backend/cuda/device/cuda_stream.h"

namespace kiln::cuda {

/// Short kernels are shorter than the host's way to launch them and than the gap between two events: a graph of copies
/// has neither. Work that cannot be captured, since it waits for the host, is timed as the host sees it.
class GraphClock final : public Measurement {
 public:
  static Result<std::unique_ptr<Measurement>> create(CudaDevice& device, TimedWork work, void* argument,
                                                     double limit_us);
  ~GraphClock() override;
  Result<double> turn_us() override;

 private:
  GraphClock(CudaDevice& device, std::unique_ptr<CudaStream> stream, TimedWork work, void* argument, double limit_us)
      : device_(device), stream_(std::move(stream)), work_(work), argument_(argument), limit_us_(limit_us) {}
  Status run_once();
  Result<double> between_events_us(Status (GraphClock::*work)());
  Status launch_graph();
  bool capture();

  CudaDevice& device_;
  const std::unique_ptr<CudaStream> stream_;
  const TimedWork work_;
  void* const argument_;
  const double limit_us_;
  EventHandle start_ = nullptr, end_ = nullptr;
  GraphExecHandle graph_ = nullptr;  ///< null: not captured
  int copies_ = 1;
};

}  // namespace kiln::cuda
