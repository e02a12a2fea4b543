#include "ops/reference_context.h"

#include <cstring>

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

Result<MutableView> ReferenceContext::output(int i, std::span<const int64_t> extents) const {
  const MutableView most = TRY(output(i));
  TRY(require(volume(extents) <= most.volume(), "output ", i, " would be ", extents, ", beyond ", most.extents()));
  return MutableView(most.dtype(), extents, most.data());
}

Result<HostTensor> ReferenceContext::input_tensor(int i) const {
  const View source = TRY(input(i));
  HostTensor::Fresh copy = TRY(HostTensor::make(source.dtype(), source.extents()));
  if (!copy.data.empty()) std::memcpy(copy.data.data(), source.data(), copy.data.size());
  return std::move(copy.tensor);
}

Result<Ref<BodyRuns>> ReferenceContext::bodies() const {
  if (!bodies_) return error(Code::kInvalidArgument, "the node has no bodies");
  return std::ref(*bodies_);
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
  bool is_empty = cx.num_sizes() == 0;
  for (int i = 0; i < cx.num_outputs(); ++i) is_empty = is_empty && TRY(cx.output(i)).volume() == 0;
  return is_empty ? Status() : op.reference(cx);
}

namespace {

/// The outputs of a run that has decided sizes: they begin the memory of the largest possible ones.
Result<std::vector<HostTensor>> cut_to_size(std::vector<HostTensor> results, std::span<const TensorType> types,
                                            std::span<const std::pair<sym::Expr, sym::Expr>> sizes) {
  for (size_t i = 0; i < results.size(); ++i) {
    Extents extents;
    for (const sym::Expr& extent : types[i].shape) extents.push_back(sym::substitute(extent, sizes).value());
    if (extents == results[i].extents()) continue;
    HostTensor::Fresh cut = TRY(HostTensor::make(types[i].dtype, extents));
    if (!cut.data.empty()) std::memcpy(cut.data.data(), results[i].bytes().data(), cut.data.size());
    results[i] = std::move(cut.tensor);
  }
  return results;
}

}  // namespace

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
  std::vector<DecidedSize> sizes;
  const std::vector<TensorType> output_types = TRY(infer_types(op, infer_inputs, table, nullptr, &sizes));
  std::vector<HostTensor> results;
  std::vector<ReferenceTensor> targets;
  results.reserve(output_types.size());
  for (const TensorType& type : output_types) {
    HostTensor::Fresh fresh =
        TRY(HostTensor::make(type.dtype, sizes.empty() ? TRY(type.extents()) : type.max_extents()));
    results.push_back(std::move(fresh.tensor));
    targets.push_back({type.dtype, results.back().extents(), fresh.data.data(), true});
  }
  std::vector<int64_t> decided(sizes.size(), 0);
  ReferenceContext context(sources, targets, nullptr, decided);
  TRY(compute_reference(op, context));
  std::vector<std::pair<sym::Expr, sym::Expr>> values;
  for (size_t k = 0; k < sizes.size(); ++k) values.emplace_back(sizes[k].symbol, decided[k]);
  return sizes.empty() ? std::move(results) : cut_to_size(std::move(results), output_types, values);
}

Result<std::vector<HostTensor>> run_reference(const Op& op, std::span<const HostTensor> inputs) {
  std::vector<const HostTensor*> pointers;
  for (const HostTensor& input : inputs) pointers.push_back(&input);
  return run_reference(op, pointers);
}

}  // namespace kiln
