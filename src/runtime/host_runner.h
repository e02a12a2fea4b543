/// Runs on a host: queued on a stream, and done by whoever works that off.
#pragma once

#include <array>
#include <atomic>
#include <mutex>

#include "runtime/runner.h"

namespace kiln::runtime {

/// One binding at a time, so that every queued run uses it.
class HostRunner final : public Runner {
 public:
  explicit HostRunner(const RunSettings& settings) : settings_(settings) {}

  size_t most_bindings() const override { return 1; }
  std::byte* weight(const HostTensor& value) const override { return const_cast<std::byte*>(value.bytes().data()); }
  Result<std::byte*> viewed_weight(const HostTensor& value) override { return weight(value); }
  Result<std::optional<std::byte*>> shape_input(std::span<const std::byte>, Buffer&) override { return std::nullopt; }
  BodyObserver* body_observer() const override { return settings_.body_observer(); }
  ValueWatch* watch() const override { return settings_.watch; }
  Status prepare(Binding& binding) override;
  void retire(std::unique_ptr<Binding> binding) override;
  void retire(Buffer) override {}
  void forget(const Binding&, size_t) override {}

  /// Where as many runs are queued as may be, waits for the oldest. What is captured is a run of its own, shared by
  /// captures of the same addresses; it needs the runner until its end, and fails once its binding is gone.
  Status enqueue(const Run& run, Stream& stream) override;
  Status run_segment(Binding& binding, size_t segment, Stream& stream) override;
  bool latest_was_captured() const override { return latest_was_captured_; }
  Status wait_idle() override;
  Status forget_runs() override { return wait_idle(); }
  /// Times of a captured run are there only once it is done. Fails where the latest run was not timed, has not begun,
  /// or failed.
  Result<std::vector<float>> times_ms() const override;
  Status set_aux_streams(std::vector<std::unique_ptr<Stream>>) override { return {}; }

 private:
  /// One queued run, with the addresses of its enqueue.
  struct Invocation {
    HostRunner* runner = nullptr;
    uint64_t binding = 0;  ///< that it is for
    Stream* stream = nullptr;
    StepPointers at;
    std::vector<float> times_ms;
    bool timed = false;
    std::atomic<bool> has_times{false};  ///< of its latest run, which is done and did not fail
    std::mutex running;                  ///< held while it runs: graphs run it without `in_flight`
    std::atomic<bool> in_flight{false};
  };
  Status capture(const Run& run, Stream& stream);
  void fill(Invocation& invocation, const Binding& binding);
  static void run(void* invocation);
  bool is_current(const Invocation& invocation);
  void run_steps(Invocation& invocation);
  Status run_step(size_t s, void** at, std::byte* workspace, float* time_ms);
  void fault(Stream& stream, Error error) const;

  const RunSettings& settings_;
  Binding* binding_ = nullptr;  ///< null: none is prepared
  std::array<Invocation, 4> invocations_;
  size_t next_ = 0;
  std::vector<std::unique_ptr<Invocation>> captured_;  ///< what graphs run
  Invocation* latest_ = nullptr;                       ///< null: none, or its binding is gone
  bool latest_was_captured_ = false;
};

}  // namespace kiln::runtime
