#include "ops/reference_context.h"

#include "ops/movement.h"

namespace kiln {

Result<View> ReferenceContext::input(int i) const {
  if (!has_input(i)) return error(Code::kInvalidArgument, "input ", i, " is missing");
  const ReferenceTensor& t = inputs_[static_cast<size_t>(i)];
  return View(t.dtype, t.extents, t.data);
}

Result<MutableView> ReferenceContext::output(int i) const {
  CHECK(i >= 0 && i < num_outputs());
  const ReferenceTensor& t = outputs_[static_cast<size_t>(i)];
  return MutableView(t.dtype, t.extents, t.data);
}

TensorType type_of(const HostTensor& tensor) {
  TensorType type = tensor_type(tensor.dtype(), tensor.extents());
  const bool countable = is_index(tensor.dtype()) || tensor.dtype() == DType::kBool;
  if (!countable || tensor.volume() > kMostFollowedValues) return type;
  SymbolicValues values;
  const View view(tensor);
  for (int64_t i = 0; i < view.volume(); ++i) values.emplace_back(view.integer(i));
  type.values = std::make_shared<const SymbolicValues>(std::move(values));
  return type;
}

Status compute_reference(const Op& op, ReferenceContext& cx) {
  bool is_empty = true;
  for (int i = 0; i < cx.num_outputs(); ++i) is_empty = is_empty && TRY(cx.output(i)).volume() == 0;
  return is_empty ? Status() : op.reference(cx);
}

Result<std::vector<HostTensor>> run_reference(const Op& op, std::span<const HostTensor* const> inputs) {
  sym::Table table;
  std::vector<TensorType> types(inputs.size());
  std::vector<InferInput> infer_inputs(inputs.size());
  std::vector<ReferenceTensor> sources(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    types[i] = type_of(*inputs[i]);
    infer_inputs[i] = {&types[i], inputs[i]};
    sources[i] = {inputs[i]->dtype(), inputs[i]->extents(), const_cast<std::byte*>(inputs[i]->bytes().data()), true};
  }
  const std::vector<TensorType> output_types = TRY(infer_types(op, infer_inputs, table));
  std::vector<HostTensor> results;
  std::vector<ReferenceTensor> targets;
  results.reserve(output_types.size());
  for (const TensorType& type : output_types) {
    HostTensor::Fresh fresh = TRY(HostTensor::make(type.dtype, TRY(type.extents())));
    results.push_back(std::move(fresh.tensor));
    targets.push_back({type.dtype, results.back().extents(), fresh.data.data(), true});
  }
  ReferenceContext context(sources, targets);
  TRY(compute_reference(op, context));
  return results;
}

Result<std::vector<HostTensor>> run_reference(const Op& op, std::span<const HostTensor> inputs) {
  std::vector<const HostTensor*> pointers;
  for (const HostTensor& input : inputs) pointers.push_back(&input);
  return run_reference(op, pointers);
}

}  // namespace kiln
