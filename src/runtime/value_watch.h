/// Shows values of a run to an observer.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/engine.h"
#include "runtime/growing_memory.h"
#include "runtime/size_store.h"
#include "runtime/value_observer.h"

namespace kiln::runtime {

/// A step that has run.
struct RanStep {
  const plan::Block& block;
  size_t step;
  void* const* outputs;              ///< as the run was given them
  std::span<const int64_t> symbols;  ///< that it is bound for
  const SizeStore& sizes;            ///< of the block
  const GrowingMemory& growing;      ///< of the block
};

/// What an observer wants of an engine's runs. Used by the thread that runs its context.
class ValueWatch {
 public:
  explicit ValueWatch(const Engine& engine) : engine_(engine) {}

  /// Asks the observer what it wants. Null: nothing.
  void set_observer(ValueObserver* observer);
  /// Whether it wants anything.
  bool is_on() const { return !wanted_.empty() || !beginnings_.empty(); }
  /// Begins a run, whose work is queued on `stream`.
  void begin(Stream& stream) { stream_ = &stream; }

  Status block_begins(const plan::Block& block, std::span<const void* const> inputs, std::span<const int64_t> symbols);
  /// Waits for a step of which something is wanted, and shows it.
  Status step_ran(const RanStep& ran);

 private:
  Status show(const RanStep& ran, int output, std::span<const int64_t> symbols);

  const Engine& engine_;
  ValueObserver* observer_ = nullptr;
  Stream* stream_ = nullptr;
  std::unordered_map<const plan::Step*, std::vector<int>> wanted_;  ///< outputs
  std::unordered_set<const plan::Block*> beginnings_;
};

}  // namespace kiln::runtime
