#include "steps/pooling.h"

#include <algorithm>

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Pooling>();

namespace kiln::steps {

Status Pooling::check() const {
  constexpr int64_t kMostPad = int64_t{1} << 30;
  TRY(require(post_pads.size() == window.kernel.size(), "a pooling has ", post_pads.size(), " post pads for ",
              window.kernel.size(), " axes"));
  const auto counts = [](int64_t pad) { return pad > -kMostPad && pad < kMostPad; };
  return require(std::ranges::all_of(post_pads, counts), "a pooling has post pads ", post_pads,
                 "; they must be below 2^30");
}

Status Pooling::check(const StepTypes& types) const {
  TRY(element_bytes(types.inputs[0].dtype));
  return require_alike(types.outputs[0], types.inputs[0], "a pooling's output");
}

Status Pooling::check(const StepTypes&, const StepShapes& shapes) const {
  const Extents &x = shapes.inputs[0], &y = shapes.outputs[0];
  TRY(window.check(x, y));
  return require(y[1] == x[1], "a pooling of ", x, " cannot make ", y, ": the channels differ");
}

int64_t Pooling::pad_after(size_t axis, const Extents& x, const Extents& y, int64_t pad) const {
  if (!window.is_same()) return post_pads[axis];
  const int64_t last = (y[2 + axis] - 1) * window.strides[axis] - pad;
  return std::max<int64_t>(0, last + window.reach(axis) - x[2 + axis]);
}

}  // namespace kiln::steps
