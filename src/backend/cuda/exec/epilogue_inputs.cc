#include "backend/cuda/exec/epilogue_inputs.h"

#include <algorithm>

namespace kiln::cuda {
namespace {

using steps::HookOperand;

constexpr std::string_view kNoType = "-";  // of an input that is absent

int64_t elements(HookOperand reach, const Extents& result, int64_t columns) {
  switch (reach) {
    case HookOperand::kScalar: return 1;
    case HookOperand::kChannel: return columns;
    case HookOperand::kWhole: break;
  }
  return volume(result);
}

}  // namespace

Record EpilogueInputs::record(const Epilogue& epilogue) {
  std::vector<int64_t> reaches;
  Datum::List types;
  for (const steps::EpilogueRead& read : epilogue.reads()) {
    types.push_back(std::string(read.type ? name_of(*read.type) : kNoType));
    reaches.push_back(static_cast<int64_t>(read.reach));
  }
  Record record;
  record.set("types", std::move(types)).set("reaches", std::move(reaches));
  return record;
}

Result<EpilogueInputs> EpilogueInputs::load(const StepSpec& spec, size_t behind) {
  const Record& record = TRY(spec.payload.get_record("epilogue"));
  const Datum::List& types = TRY(record.get_list("types"));
  const std::vector<int64_t> reaches = TRY(record.get_ints("reaches"));
  TRY(require(types.size() == reaches.size() && types.size() >= EpilogueArguments::kFixed &&
                  types.size() + behind <= EpilogueArguments::kMost &&
                  spec.inputs.size() == kFirstEpilogueInput + types.size() + behind,
              "a contraction whose epilogue reads ", types.size(), " tensors has ", spec.inputs.size(), " inputs"));
  EpilogueInputs inputs;
  for (size_t i = 0; i < types.size(); ++i) {
    const StepTensor& input = spec.inputs[kFirstEpilogueInput + i];
    const auto* type = std::get_if<std::string>(&types[i].variant());
    TRY(require(type && *type == (input.present ? name_of(input.dtype) : kNoType) && reaches[i] >= 0 &&
                    reaches[i] <= static_cast<int64_t>(HookOperand::kScalar),
                "input ", kFirstEpilogueInput + i, " of a contraction is ", input.dtype, "; its epilogue reads ",
                types[i]));
    inputs.reads_.push_back(
        {input.present ? std::optional(input.dtype) : std::nullopt, static_cast<HookOperand>(reaches[i])});
  }
  return inputs;
}

Status EpilogueInputs::check(const StepShapes& shapes, int64_t columns) const {
  for (size_t i = 0; i < reads_.size(); ++i)
    if (reads_[i].type)
      TRY(require_count(shapes.inputs[kFirstEpilogueInput + i], elements(reads_[i].reach, shapes.outputs[0], columns),
                        "what an epilogue reads"));
  return {};
}

}  // namespace kiln::cuda
