#include "ops/fold.h"

#include "ops/fast_fold.h"
#include "ops/infer_context.h"
#include "ops/reference_context.h"
#include "ops/reshape.h"

namespace kiln {

Result<std::vector<TensorType>> result_types(const Op& op, std::span<const HostTensor* const> inputs) {
  sym::Table table;
  std::vector<TensorType> types(inputs.size());
  std::vector<InferInput> known(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    types[i] = type_of(*inputs[i]);
    known[i] = {&types[i], inputs[i]};
  }
  return infer_types(op, known, table);
}

ops::Constant source_constant(std::string name, HostTensor value) {
  OriginRef origin = is_float(value.dtype()) && !name.empty() ? source_origin(std::move(name), value) : nullptr;
  return {std::move(value), std::move(origin)};
}

Result<std::vector<HostTensor>> compute(const Op& op, std::span<const HostTensor* const> inputs) {
  if (op.num_outputs() == 1)
    if (auto fast = TRY(fast_fold(op, inputs, TRY(result_types(op, inputs))[0]))) return std::vector{std::move(*fast)};
  return run_reference(op, inputs);
}

Result<std::vector<ops::Constant>> fold(const Op& op, std::span<const ops::Constant* const> inputs) {
  std::vector<const HostTensor*> tensors;
  std::vector<Origin::Input> origins;
  for (const ops::Constant* input : inputs) {
    tensors.push_back(input ? &input->value : nullptr);
    const bool is_plain = input && !input->origin;
    origins.push_back({input ? input->origin : nullptr, is_plain ? input->value : HostTensor(), input != nullptr});
  }
  std::vector<ops::Constant> results;
  for (HostTensor& value : TRY(compute(op, tensors))) {
    OriginRef origin = derived_origin(op, static_cast<int>(results.size()), origins, value);
    results.push_back({std::move(value), std::move(origin)});
  }
  return results;
}

Result<ops::Constant> fold_one(const Op& op, std::initializer_list<const ops::Constant*> inputs) {
  return std::move(TRY(fold(op, std::span(inputs.begin(), inputs.size())))[0]);
}

ops::Constant reshaped(const ops::Constant& constant, const Extents& extents) {
  if (constant.value.extents() == extents) return constant;
  HostTensor value = constant.value.reshaped(extents);
  OriginRef origin = derived_origin(ops::Reshape{.dims = extents, .zero_is_placeholder = false}, 0,
                                    {{constant.origin, constant.origin ? HostTensor() : constant.value}}, value);
  return {std::move(value), std::move(origin)};
}

}  // namespace kiln
