#include "steps/convolution.h"

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Convolution>();

namespace kiln::steps {
namespace {

constexpr int64_t kMostJoined = int64_t{1} << 30;

/// x with the channels of `behind`.
Result<Extents> joined_extents(Extents x, const Extents& behind) {
  Extents alike = behind;
  if (alike.size() > 1 && x.size() > 1) alike[1] = x[1];
  TRY(require(alike == x && x.size() > 1 && behind[1] > 0 && behind[1] < kMostJoined && x[1] < kMostJoined,
              "a convolution cannot join ", behind, " to ", x, ": they may differ in channels only"));
  x[1] += behind[1];
  return x;
}

}  // namespace

Status Convolution::check() const {
  return require(groups >= 1 && groups < int64_t{1} << 31, "a convolution has ", groups,
                 " groups; 1 to 2^31 - 1 are possible");
}

Status Convolution::check(const StepTypes& types) const {
  TRY(window.check(types));
  TRY(epilogue.check(types, joined ? 1 : 0));
  const StepTensor &x = types.inputs[0], &behind = types.inputs.back();
  return require(!joined || (behind.present && behind.dtype == x.dtype && behind.rank == x.rank),
                 "a convolution that joins two inputs has no second one of ", x.dtype);
}

Status Convolution::check(const StepTypes&, const StepShapes& shapes) const {
  const Extents &w = shapes.inputs[1], &y = shapes.outputs[0];
  const Extents x = joined ? TRY(joined_extents(shapes.inputs[0], shapes.inputs.back())) : shapes.inputs[0];
  TRY(window.check(x, y));
  TRY(window.check_filter(w, groups, y[1], x[1]));
  return epilogue.check(shapes, y[1]);
}

}  // namespace kiln::steps
