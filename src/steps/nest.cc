#include "steps/nest.h"

#include <algorithm>

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Nest>();

namespace kiln::steps {
namespace {

Status check_tensors(std::span<const StepTensor> tensors, std::span<const DType> types, std::string_view what) {
  TRY(require(tensors.size() == types.size(), "a nest whose program has ", types.size(), ' ', what, "s has ",
              tensors.size()));
  for (size_t i = 0; i < types.size(); ++i)
    TRY(require(tensors[i].dtype == types[i], what, ' ', i, " of a nest is ", tensors[i].dtype, "; its program says ",
                types[i]));
  return {};
}

}  // namespace

Status Nest::check(const StepTypes& types) const {
  TRY(validate(program));
  TRY(check_tensors(types.inputs, program.inputs, "input"));
  return check_tensors(types.outputs, program.outputs, "output");
}

Status Nest::check(const StepTypes&, const StepShapes& shapes) const {
  const Extents& y = shapes.outputs[0];
  for (const Extents& output : shapes.outputs) TRY(require_extents(output, y, "a nest's output"));
  const auto fits = [](int64_t from, int64_t to) { return from == 1 || from == to; };
  for (const Extents& x : shapes.inputs)
    TRY(require(x.size() <= y.size() && std::equal(x.rbegin(), x.rend(), y.rbegin(), fits), "input ", x,
                " of a nest does not broadcast to ", y));
  return {};
}

}  // namespace kiln::steps
