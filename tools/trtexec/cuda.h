/// Owners of what the CUDA runtime gives out, and facts about the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

namespace kiln::cli::trtexec {

class Log;

/// Fails with the call's name and CUDA's text.
void check(cudaError_t status, const char* call);

class Stream {
 public:
  Stream();
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }
  void synchronize() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

 private:
  cudaStream_t stream_ = nullptr;
};

enum class Waiting { kSpin, kSleep };

class Event {
 public:
  explicit Event(Waiting waiting = Waiting::kSpin);
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(cudaStream_t stream) const { check(cudaEventRecord(event_, stream), "cudaEventRecord"); }
  void hold(cudaStream_t stream) const { check(cudaStreamWaitEvent(stream, event_, 0), "cudaStreamWaitEvent"); }
  void synchronize() const { check(cudaEventSynchronize(event_), "cudaEventSynchronize"); }
  double ms_since(const Event& earlier) const;

 private:
  cudaEvent_t event_ = nullptr;
};

/// Work of a stream that was recorded, to be launched again and again.
class Graph {
 public:
  Graph() = default;
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  /// Records what `work` queues on `stream`, which it must not wait for. Where that cannot be recorded the graph stays
  /// empty, and the result is why.
  template <class Work>
  std::string capture(cudaStream_t stream, Work work) {
    begin(stream);
    const bool queued = work();
    return end(stream, queued);
  }
  bool empty() const { return !exec_; }
  void launch(cudaStream_t stream) const { check(cudaGraphLaunch(exec_, stream), "cudaGraphLaunch"); }

 private:
  static void begin(cudaStream_t stream);
  std::string end(cudaStream_t stream, bool queued);

  cudaGraphExec_t exec_ = nullptr;
};

enum class Place {
  kHost,     ///< memory that the device copies from and to quickly
  kDevice,   ///< memory of the device
  kManaged,  ///< memory that host and device share
};

class Memory {
 public:
  Memory() = default;
  Memory(Place place, int64_t size_bytes);  ///< at least one byte, so that data() is never null
  ~Memory();
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  void* data() const { return data_; }
  int64_t size_bytes() const { return size_bytes_; }

 private:
  void* data_ = nullptr;
  int64_t size_bytes_ = 0;
  Place place_ = Place::kHost;
};

/// Makes the device current and prints what it is.
void select_device(int device, Log& log);

/// Whether the current device copies while it computes: a GPU does; the host, whose compute capability is 0, does not.
bool copies_beside_computing();

}  // namespace kiln::cli::trtexec
