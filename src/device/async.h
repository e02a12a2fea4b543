/// Services beside streams of a device that works on its own: marks in their order, and work recorded once and
/// replayed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.h"

namespace kiln {

class Stream;

/// A mark in a stream's order, for another stream or the host to wait for, and to be timed. Recorded any number of
/// times; what is asked is about the latest. None of these calls allocates.
class Event {
 public:
  virtual ~Event() = default;
  virtual Status record(Stream& stream) = 0;
  /// Makes work that `stream` gets from here on wait for the mark; the caller does not wait.
  virtual Status wait(Stream& stream) = 0;
  /// Returns when the mark is reached.
  virtual Status synchronize() = 0;
  /// The time from `start`'s mark to this one, both reached and of EventTiming::kOn.
  virtual Result<float> elapsed_ms(const Event& start) const = 0;
};

/// Launches that were recorded instead of being done, with their addresses.
class Recording {
 public:
  virtual ~Recording() = default;
  /// Queues all of it behind earlier work of `stream`. Allocates nothing after the first time.
  virtual Status launch(Stream& stream) = 0;
  /// Whether `replace` knows how to change a part: what was recorded between two calls of Stream::begin_part, from 0.
  virtual bool can_replace(size_t part) const {
    static_cast<void>(part);
    return false;
  }
  /// Replaces a part of a recording: from the next launch on it does what `work(argument, stream)` would launch now: as
  /// many launches, with other arguments. What was launched before stays as it was. A recording that this fails for is
  /// of no use any more.
  virtual Status replace(size_t part, Status (*work)(void* argument, Stream* stream), void* argument);
};

/// A copy that every iteration of a loop makes; its addresses move from one to the next. It overlaps no other copy.
struct IterationCopy {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  int64_t bytes = 0;
  int64_t to_step = 0, from_step = 0;  ///< in bytes, from iteration to iteration
};

/// A loop that the device runs by itself: the host records one iteration. Addresses are of the device's memory.
struct RecordedLoop {
  int64_t* turns;            ///< two: the number of the iteration, and that of all; kept by the device
  const std::byte* asked;    ///< how many iterations are asked for; null: `most`
  int asked_bytes;           ///< 4 or 8: of that integer
  int64_t most;              ///< iterations
  const std::byte* starts;   ///< a boolean: whether there are any; null: there are
  const std::byte* goes_on;  ///< a boolean that the body writes: whether another iteration follows; null: one does
  const std::byte* tested;   ///< a boolean that the test writes: whether this iteration runs; null: there is no test
  int at_once = 1;           ///< iterations between two looks at whether to stop: those behind the last one of the loop
                             ///< run their bodies for nothing, without copies
  std::span<const IterationCopy> before, behind;   ///< the body; the test is behind `before`
  Status (*body)(void* argument, Stream* stream);  ///< called with a stream that records; as is the test
  Status (*test)(void* argument, Stream* stream);
  void* argument;
};

/// One of two pieces of work, chosen by the device itself when their turn comes.
struct RecordedBranch {
  const std::byte* condition;                         ///< a boolean in the device's memory
  Status (*if_true)(void* argument, Stream* stream);  ///< called once, with a stream that records; as is the other
  Status (*if_false)(void* argument, Stream* stream);
  void* argument;
};

}  // namespace kiln
