#include "steps/squeeze_excite.h"

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::SqueezeExcite>();

namespace kiln::steps {

Status SqueezeExcite::check(const StepTypes& types) const {
  const StepTensor &x = types.inputs[0], &w = types.inputs[1];
  for (const NestProgram* program : {&hidden, &gate}) {
    TRY(validate(*program));
    TRY(require(program->inputs.size() == 1 && program->outputs.size() == 1 && is_float(program->inputs[0]) &&
                    is_float(program->outputs[0]),
                "a function in squeeze and excitation does not take and give one float"));
  }
  TRY(require(x.format.is_channels_last(), "squeeze and excitation has format ", x.format, "; channels must be last"));
  TRY(require_alike(types.outputs[0], x, "the output of squeeze and excitation"));
  for (size_t i = 1; i <= 4; ++i) {
    TRY(require_linear(types, i));
    TRY(require(!types.inputs[i].present || types.inputs[i].dtype == w.dtype, "squeeze and excitation has weights of ",
                w.dtype, " and of ", types.inputs[i].dtype, "; one type is needed"));
  }
  return {};
}

Status SqueezeExcite::check(const StepTypes&, const StepShapes& shapes) const {
  const Extents &x = shapes.inputs[0], &w1 = shapes.inputs[1];
  TRY(require_extents(shapes.outputs[0], x, "the output of squeeze and excitation"));
  return require(x.size() >= 3 && w1.size() >= 2 && w1[1] == x[1], "squeeze and excitation of ", x,
                 " does not take weights ", w1);
}

}  // namespace kiln::steps
