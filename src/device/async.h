/// Services beside streams of a device that works on its own: marks in their order, and work recorded once and
/// replayed.
#pragma once

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

}  // namespace kiln
