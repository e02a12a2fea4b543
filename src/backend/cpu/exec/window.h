/// A step's sliding window: from its payload at load, its extents at bind.
#pragma once

#include "backend/cpu/kernels/window.h"
#include "base/record.h"
#include "tensor/extents.h"

namespace kiln::cpu {

/// The attributes a tactic wrote: kernel, strides, dilations, pads (one a spatial axis, 1 to 3 of them), and whether
/// the pads are what SAME rounding implies at bind.
struct WindowSpec {
  Extents kernel, strides, dilations, pads;
  bool same_upper = false, same_lower = false;

  static Result<WindowSpec> parse(const Record& payload);
  Record record() const;
  /// Whether these are extents of a step with this window, whose arithmetic then has room.
  Status check(const Extents& in, const Extents& out) const;
  /// `in` and `out` are logical extents [N, C, spatial...].
  Window bind(std::span<const int64_t> in, std::span<const int64_t> out) const;
};

}  // namespace kiln::cpu
