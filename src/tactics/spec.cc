#include "tactics/spec.h"

#include "tactics/region.h"

namespace kiln {
namespace {

std::vector<StepTensor> describe(const ir::Graph& graph, std::span<const ir::ValueId> values,
                                 std::span<const Format> formats) {
  std::vector<StepTensor> tensors(values.size(), {.present = false});
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] != ir::ValueId::kNone)
      tensors[i] = {graph.type(values[i]).dtype, formats[i], graph.type(values[i]).rank()};
  return tensors;
}

}  // namespace

StepSpec spec_of(const ir::Graph& graph, const Region& region, const Variant& variant, const StepDraft& draft) {
  StepSpec spec{{describe(graph, region.inputs, variant.inputs), describe(graph, region.outputs, variant.outputs),
                 static_cast<int>(draft.params.size()), num_sizes(graph, region)},
                draft.step,
                draft.tuning};
  if (draft.binary) spec.binary = *draft.binary;
  return spec;
}

}  // namespace kiln
