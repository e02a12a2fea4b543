#include "steps/epilogue.h"

#include "steps/step_tensors.h"

namespace kiln::steps {

std::vector<EpilogueRead> Epilogue::reads() const {
  std::vector<EpilogueRead> reads{{bias, HookOperand::kChannel}, {residual, HookOperand::kWhole}};
  for (size_t i = 0; hook && i < hook->operands.size(); ++i)
    reads.push_back({hook->program.inputs[i + 1], hook->operands[i]});
  return reads;
}

Status Epilogue::check(const StepTypes& types, size_t behind, std::optional<DType> made) const {
  const std::vector<EpilogueRead> expected = reads();
  TRY(require(types.inputs.size() == kBias + expected.size() + behind, "a contraction whose epilogue reads ",
              expected.size(), " tensors has ", types.inputs.size(), " inputs"));
  for (size_t i = 0; i < expected.size(); ++i) {
    const StepTensor& input = types.inputs[kBias + i];
    TRY(require(input.present == expected[i].type.has_value() && (!input.present || input.dtype == *expected[i].type),
                "input ", kBias + i, " of a contraction is ", input.present ? str(input.dtype) : "absent",
                "; its epilogue reads ", expected[i].type ? str(*expected[i].type) : "none"));
    if (input.present && expected[i].reach == HookOperand::kWhole)
      TRY(require(input.format == types.outputs[0].format, "an epilogue's operand has format ", input.format,
                  ", its result format ", types.outputs[0].format));
  }
  const DType makes = made.value_or(types.outputs[0].dtype);
  TRY(require(!residual || *residual == makes, "a contraction's residual is ", residual.value_or(DType::kF32), " for ",
              makes));
  return require(!hook || hook->program.outputs[0] == makes, "a contraction makes ", makes,
                 "; its hook makes another type");
}

Status Epilogue::check(const StepShapes& shapes, int64_t channels) const {
  const std::vector<EpilogueRead> expected = reads();
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!expected[i].type) continue;
    const Extents& found = shapes.inputs[kBias + i];
    switch (expected[i].reach) {
      case HookOperand::kWhole: TRY(require_extents(found, shapes.outputs[0], "what an epilogue reads")); break;
      case HookOperand::kChannel: TRY(require_count(found, channels, "what an epilogue reads")); break;
      case HookOperand::kScalar: TRY(require_count(found, 1, "what an epilogue reads")); break;
    }
  }
  return {};
}

}  // namespace kiln::steps
