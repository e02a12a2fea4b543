#include "steps/if.h"

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::If>();

namespace kiln {

Status check_decided(std::span<const DecidedAxis> decided, const StepTypes& types) {
  TRY(require(std::ssize(decided) == types.num_sizes, decided.size(), " axes are decided, and the step has ",
              types.num_sizes, " sizes"));
  for (const DecidedAxis& axis : decided) {
    TRY(require(axis.output >= 0 && axis.output < std::ssize(types.outputs), "an axis of output ", axis.output, " of ",
                types.outputs.size(), " is decided"));
    const int rank = types.outputs[static_cast<size_t>(axis.output)].rank;
    TRY(require(axis.axis >= 0 && axis.axis < rank, "axis ", axis.axis, " of rank ", rank, " is decided"));
  }
  return {};
}

Status check_single(const StepTypes& types, size_t input, bool (*is)(DType), std::string_view what) {
  const StepTensor& x = types.inputs[input];
  return require(!x.present || (is(x.dtype) && x.rank <= 1), "the ", what, " is ", x.dtype, " of rank ", x.rank);
}

namespace steps {

Status If::check(const StepTypes& types) const {
  TRY(check_single(
      types, 0, [](DType t) { return t == DType::kBool; }, "condition"));
  return check_decided(decided, types);
}

}  // namespace steps
}  // namespace kiln
