/// The indices that a kernel met outside their axis. It reads and writes nothing for them, and tells of them behind its
/// run.
#pragma once

#include <cstdint>

#include "base/error.h"

namespace kiln::cpu {

struct OutsideIndices {
  int64_t count = 0;
  int64_t index = 0, least = 0, end = 0;  ///< the first of them, and [least, end) that it is outside of

  /// Adds an index that may count from the back of an axis of `extent`.
  void add(int64_t outside, int64_t extent) { add(outside, -extent, extent); }
  void add(int64_t outside, int64_t from, int64_t to) {
    if (count++ == 0) index = outside, least = from, end = to;
  }
  /// Adds those of a later part of the work.
  void add(const OutsideIndices& later) {
    const int64_t all = count + later.count;
    if (count == 0) *this = later;
    count = all;
  }
  /// Succeeds if there is none; else an error with the first one. `name` is what one of them is called.
  Status check(std::string_view name = "index") const {
    if (count == 0) [[likely]]
      return {};
    const std::string others = count == 1   ? ""
                               : count == 2 ? ", and so is 1 other"
                                            : str(", and so are ", count - 1, " others");
    return error(Code::kInvalidArgument, name, " ", index, " is outside [", least, ", ", end, ") of its axis", others);
  }
};

}  // namespace kiln::cpu
