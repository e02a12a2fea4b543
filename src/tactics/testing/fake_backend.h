/// A backend without kernels, whose times come from a table: what covers are chosen from can be known completely.
#pragma once

#include "steps/copy.h"
#include "tactics/timer.h"

namespace kiln::testing {

/// Allocates nothing and runs nothing.
class FakeDevice final : public Device {
 public:
  DeviceKind kind() const override { return DeviceKind::kCpu; }
  std::string identity() const override { return "fake"; }
  int64_t total_memory_bytes() const override { return 0; }
  Result<Buffer> allocate(int64_t) override { return refuse(); }
  Result<std::unique_ptr<Stream>> create_stream() override { return refuse(); }
  Status copy_to_host(void*, const void*, int64_t, Stream&) override { return refuse(); }
  Status copy_from_host(void*, const void*, int64_t, Stream&) override { return refuse(); }
  Result<Ref<Executor>> executor(std::string_view) override { return refuse(); }

 private:
  static std::unexpected<Error> refuse() { return error(Code::kDevice, "the fake device does nothing"); }
};

/// Three tactics: "heavy" runs an op that is not pointwise, with up to three pointwise ops behind it; "pair" runs two
/// heavy ops with a pointwise one between them; "nest" runs any pointwise ops.
class FakeBackend final : public Backend {
 public:
  explicit FakeBackend(uint64_t seed = 0);
  FakeBackend(const FakeBackend&) = delete;
  std::string_view name() const override { return "fake"; }
  Device& device() override { return device_; }
  std::span<const Tactic* const> tactics(const OpInfo& op) const override;
  std::span<const Tactic* const> tactics() const { return all_; }
  Status lower(ir::Graph&, const Numerics&) const override { return {}; }
  const Tactic& fallback() const override;
  StepDraft reformat(const TensorType&, const Format&, const Format&) const override {
    return {.executor = "fake", .step = steps::Copy{}};
  }
  double reformat_estimate_us(const TensorType&, const Format&, const Format&) const override { return 10; }

  /// 100 us a heavy op and 12 a pointwise one, less 8 for each that is fused, times 0.6 to 1.5 by the seed.
  double time_us(const ir::Graph& graph, const Region& region, std::string_view tactic, std::string_view variant) const;

  /// Tactics' estimates are 0.5 to 1.9 of the time, or 0.
  bool estimates = true;
  /// A variant of this name fails when it is timed ("*": all do), one of that name when it is compiled.
  std::string fails_to_run, fails_to_compile;
  std::string slow_tactic;  ///< takes a hundred times what the table says
  std::string unknown_op;   ///< no tactic is for it
  /// Whether a fourth tactic, "showing", runs a heavy op that several nodes read together with a pointwise one of them.
  bool shows = false;

 private:
  FakeDevice device_;
  uint64_t seed_;
  std::vector<std::unique_ptr<Tactic>> tactics_;
  std::vector<const Tactic*> all_, of_heavy_, of_pointwise_, of_pointwise_shown_;
};

/// The table's times; counts and names what was asked for.
class FakeTiming final : public Timing {
 public:
  explicit FakeTiming(const FakeBackend& backend) : backend_(backend) {}
  Status time(const TacticContext& cx, std::span<const Trial> trials) override;
  std::vector<std::string> timed;  ///< "heavy: Softmax Activation"

 private:
  const FakeBackend& backend_;
};

/// The ops of a region, in order: "Softmax Activation".
std::string ops_of(const ir::Graph& graph, const Region& region);

}  // namespace kiln::testing
