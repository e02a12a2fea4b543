#include "steps/nest.h"

#include <algorithm>

#include "steps/define.h"
#include "steps/view_bounds.h"

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

std::optional<NestView> Nest::view_of(size_t input, size_t rank, std::span<const int64_t> params) const {
  const auto found = std::ranges::find(views, static_cast<int64_t>(input));
  if (found == views.end()) return std::nullopt;
  const auto of_view = params.subspan(static_cast<size_t>(found - views.begin()) * (rank + 1), rank + 1);
  return NestView{of_view[0], of_view.subspan(1)};
}

Status Nest::check(const StepTypes& types) const {
  TRY(validate(program));
  for (size_t i = 0; i < views.size(); ++i)
    TRY(require(views[i] >= 0 && views[i] < std::ssize(types.inputs) && (i == 0 || views[i] > views[i - 1]), "view ", i,
                " of a nest is input ", views[i], "; ascending ones of ", types.inputs.size(), " are possible"));
  const size_t params = types.outputs.empty() ? 0 : views.size() * (static_cast<size_t>(types.outputs[0].rank) + 1);
  TRY(require(static_cast<size_t>(types.num_params) == params, "a nest with ", views.size(), " views has ",
              types.num_params, " parameters; it takes ", params));
  TRY(check_tensors(types.inputs, program.inputs, "input"));
  return check_tensors(types.outputs, program.outputs, "output");
}

Status Nest::check(const StepTypes& types, const StepShapes& shapes) const {
  const Extents& y = shapes.outputs[0];
  for (const Extents& output : shapes.outputs) TRY(require_extents(output, y, "a nest's output"));
  const auto fits = [](int64_t from, int64_t to) { return from == 1 || from == to; };
  for (size_t i = 0; i < shapes.inputs.size(); ++i) {
    const Extents& x = shapes.inputs[i];
    if (const auto view = view_of(i, y.size(), shapes.params)) {
      TRY(require(types.inputs[i].format.is_linear(), "a view of a nest is ", types.inputs[i].format,
                  "; it has to be row-major"));
      TRY(check_view_bounds(view->offset, view->strides, y, x, "a view of a nest"));
      continue;
    }
    TRY(require(x.size() <= y.size() && std::equal(x.rbegin(), x.rend(), y.rbegin(), fits), "input ", x,
                " of a nest does not broadcast to ", y));
  }
  return {};
}

}  // namespace kiln::steps
