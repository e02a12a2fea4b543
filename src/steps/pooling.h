#pragma once

#include "ops/pooling.h"
#include "steps/step.h"
#include "steps/window.h"

namespace kiln::steps {

/// Maximum or average of a sliding window, as ops::Pooling has it.
struct Pooling {
  static constexpr std::string_view name = "pooling";
  static constexpr StepTensors tensors{.present = 1, .least_inputs = 1, .most_inputs = 1, .outputs = 1};

  ops::PoolingKind kind = ops::PoolingKind::kMax;
  Window window;
  Extents post_pads{0};  ///< one a spatial axis; unless the window's pads follow from SAME rounding
  bool excludes_padding = true;
  double blend = 0;

  static void reflect(auto& self, auto f) {
    f("kind", self.kind), f("window", self.window), f("post_pads", self.post_pads);
    f("excludes_padding", self.excludes_padding), f("blend", self.blend);
  }
  Status check() const;
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;

  /// Padding behind spatial axis `axis`, `pad` elements of which stand before it: SAME pads until every window has what
  /// it reads.
  int64_t pad_after(size_t axis, const Extents& x, const Extents& y, int64_t pad) const;
};

}  // namespace kiln::steps
