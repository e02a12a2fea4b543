#include "steps/attention.h"

#include "steps/attention_layout.h"
#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Attention>();

namespace kiln::steps {

Status Attention::check(const StepTypes& types) const {
  const DType q = types.inputs[0].dtype;
  TRY(require(is_kernel_float(q), "attention of ", q, "; f32, f16 and bf16 are possible"));
  const auto is_there = [&](size_t i) { return i < types.inputs.size() && types.inputs[i].present; };
  TRY(require(types.inputs.size() == 4 || (is_there(4) && is_there(5)), "attention has ", types.inputs.size(),
              " inputs; it takes 4, or 6 that are there but for the mask"));
  return require_one_type(types);
}

Status Attention::check(const StepTypes& types, const StepShapes& shapes) const {
  const size_t params = types.inputs.size() == 6 ? AttentionLayout::kNumJoinedParams : AttentionLayout::kNumParams;
  TRY(require(shapes.params.size() == params, "an attention step has ", shapes.params.size(), " parameters; it takes ",
              params));
  const AttentionLayout layout = AttentionLayout::of(shapes.params);
  TRY(require((types.inputs.size() == 6) == (layout.first_keys >= 0), "attention has ", types.inputs.size(),
              " inputs, and ", layout.first_keys, " keys in the first of two tensors"));
  std::array<int64_t, 7> volumes{};
  for (size_t i = 0; i < 4; ++i) volumes[i] = types.inputs[i].present ? volume(shapes.inputs[i]) : -1;
  volumes[4] = volume(shapes.outputs[0]);
  for (size_t i = 4; i < shapes.inputs.size(); ++i) volumes[i + 1] = volume(shapes.inputs[i]);
  return layout.check(volumes);
}

}  // namespace kiln::steps
