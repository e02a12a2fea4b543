#include "steps/normalization.h"

#include "steps/define.h"
#include "steps/quantized_result.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Normalization>();

namespace kiln::steps {

Status Normalization::check(const StepTypes& types) const {
  const StepTensor& x = types.inputs[0];
  TRY(require(is_kernel_float(x.dtype), "a normalisation of ", x.dtype, "; f32, f16 and bf16 are possible"));
  TRY(require(axes >= 1 && axes <= x.rank && (rows || x.rank >= 2), "a normalisation over ", axes,
              " axes does not fit a tensor of rank ", x.rank));
  TRY(require(groups >= 1 && groups < int64_t{1} << 31, "a normalisation has ", groups,
              " groups; 1 to 2^31 - 1 are possible"));
  TRY(require(rows || centered, "a normalisation of planes without their mean; it is possible of rows only"));
  const bool quantizes = is_quantized(types);
  const size_t needed = kInputs + (quantizes ? kResultOperands : 0);
  TRY(require(types.inputs.size() == needed, "a normalisation to ", types.outputs.back().dtype, " has ",
              types.inputs.size(), " inputs; ", needed, " are needed"));
  TRY(require(rows || !quantizes, "a normalisation of planes does not quantize its result"));
  const size_t floats = types.outputs.size() - (quantizes ? 1 : 0);
  TRY(require(floats == 1 || (quantizes && floats == 0), "a normalisation has ", types.outputs.size(), " outputs"));
  if (floats == 1) TRY(require_alike(types.outputs[0], x, "a normalisation's output"));
  return quantizes ? check_quantized_result(types, x) : Status();
}

Status Normalization::check(const StepTypes& types, const StepShapes& shapes) const {
  const Extents& x = shapes.inputs[0];
  for (const Extents& output : shapes.outputs) TRY(require_extents(output, x, "a normalisation's output"));
  if (is_quantized(types)) TRY(check_quantized_result(types, shapes));
  TRY(require(rows || x[1] % groups == 0, "the channels of ", x, " cannot be normalised in ", groups, " groups"));
  const int64_t count = rows ? volume(std::span(x).last(static_cast<size_t>(axes))) : x[1];
  for (const size_t i : {1, 2})
    if (types.inputs[i].present) TRY(require_count(shapes.inputs[i], count, "a coefficient of a normalisation"));
  return {};
}

}  // namespace kiln::steps
