/// Recordings of a context's runs, or of one segment of them: when one is made, and which one a run replays.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/launch.h"
#include "runtime/runner.h"

namespace kiln::runtime {

/// Addresses that come again are recorded, a few sets of them. Where they never do, one recording is given those of
/// each run: only the steps that read or write what is the program's are told anew. Where shapes never come again
/// either, one recording goes from binding to binding, and all of its steps are told.
class Replays {
 public:
  Replays(Device& device, const RunSettings& settings) : device_(device), settings_(settings) {}

  /// The recording of the last run, where that was of this version and replayed; else null.
  Recording* again(uint64_t version) {
    if (!last_ || last_version_ != version) return nullptr;
    last_->last_run = ++num_runs_;
    return last_->recording.get();
  }
  /// The recording for this run; null: it is to be launched step by step. `record(argument, stream)` launches all of
  /// it, for a recording.
  Recording* find(const Launch& launch, TimedWork record, void* argument);
  void forget(uint64_t binding);
  void clear();

 private:
  struct Replay {
    uint64_t binding;              ///< 0: none's
    std::vector<void*> addresses;  ///< by patch
    uint64_t last_run;             ///< that it did
    bool travels;                  ///< to each new binding
    std::unique_ptr<Recording> recording;
  };
  /// Counts a binding's runs whose addresses were not recorded.
  struct Misses {
    uint64_t binding = 0;
    bool has_run = false;
    bool refused = false;  ///< with these shapes, a step waits for the device: nothing can be recorded
    bool fixed = false;    ///< recordings keep their addresses
    struct Seen {
      uint64_t hash = 0;
      int times = 0;
    };
    std::array<Seen, 8> latest;  ///< sets of addresses
    size_t next = 0;
    int times_seen(const Launch& launch);  ///< with this time
  };
  Misses& misses_of(uint64_t binding);
  Replay* find_for_new_addresses(const Launch& launch, TimedWork record, void* argument);
  Replay* find_for_new_binding(const Launch& launch, Misses& misses, TimedWork record, void* argument);
  Replay* record(const Launch& launch, Misses& misses, TimedWork work, void* argument);
  void refuse(const Launch& launch, Misses& misses, const Error& why);
  bool is_refused(const Launch& launch) const;
  bool make_room();
  Replay* oldest(const uint64_t* binding);
  void erase(Replay& replay);
  Replay* readdress(Replay& replay, const Launch& launch, Misses& misses);
  static bool can_rebind(const Replay& replay, const Launch& launch);
  static bool rebind(Replay& replay, const Launch& launch);

  Device& device_;
  const RunSettings& settings_;
  bool has_told_ = false;  ///< why nothing is recorded
  uint64_t num_runs_ = 0, last_version_ = 0;
  int num_bindings_ = 0;      ///< so far
  int num_failed_moves_ = 0;  ///< in a row: other bindings launch other kernels
  Replay* last_ = nullptr;    ///< for runs of that version
  std::vector<Replay> replays_;
  std::vector<Misses> misses_;
  std::vector<const plan::Step*> refused_;  ///< first steps of launches that cannot be recorded, whatever their shapes
};

}  // namespace kiln::runtime
