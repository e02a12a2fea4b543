#include "ir/patch.h"

#include <algorithm>

#include "ops/constant.h"
#include "ops/dim_values.h"
#include "ops/fold.h"
#include "ops/infer_context.h"

namespace kiln::ir {

const TensorType& Patch::type(ValueId id) const {
  return is_new(id) ? added_[index(id) - static_cast<size_t>(first_new_)].type : graph_->type(id);
}

const ops::Constant* Patch::constant(ValueId id) const {
  if (!is_new(id)) return graph_->producer_as<ops::Constant>(id);
  return added_[index(id) - static_cast<size_t>(first_new_)].op.as<ops::Constant>();
}

Result<ValueId> Patch::add(Op op, std::vector<ValueId> inputs) {
  std::vector<InferInput> types;
  for (const ValueId input : inputs) {
    const ops::Constant* known = input == ValueId::kNone ? nullptr : constant(input);
    types.push_back(input == ValueId::kNone ? InferInput{} : InferInput{&type(input), known ? &known->value : nullptr});
  }
  std::vector<TensorType> outputs = TRY(infer_types(op, types, *graph_->shared_table()));
  CHECK(outputs.size() == 1);
  const auto id = static_cast<ValueId>(first_new_ + static_cast<int>(added_.size()));
  added_.push_back({std::move(op), std::move(inputs), std::move(outputs[0])});
  return id;
}

ValueId Patch::add_constant(ops::Constant constant) {
  const auto added = add(std::move(constant), {});
  CHECK(added.has_value());
  return *added;
}

ValueId Patch::add_reshaped(ValueId id, const Extents& extents) {
  const ops::Constant* known = constant(id);
  CHECK(known != nullptr);
  return known->value.extents() == extents ? id : add_constant(reshaped(*known, extents));
}

Result<ValueId> Patch::add_values(std::vector<sym::Expr> values) {
  const Extents extents{static_cast<int64_t>(values.size())};
  if (!std::ranges::all_of(values, [](const sym::Expr& e) { return e.is_const(); }))
    return add(ops::DimValues{std::move(values), DType::kI64, extents}, {});
  std::vector<int64_t> numbers;
  for (const sym::Expr& e : values) numbers.push_back(e.value());
  return add_constant(HostTensor::of_ints(DType::kI64, extents, numbers));
}

Status Patch::replace(ValueId old, ValueId by) {
  CHECK(!is_new(old));
  if (old != by) replaced_.push_back({old, by});
  return {};
}

Result<bool> Patch::applies() const {
  for (const auto& [old, by] : replaced_) {
    const TensorType &before = graph_->type(old), &after = type(by);
    bool differs = before.dtype != after.dtype || before.rank() != after.rank();
    for (int axis = 0; !differs && axis < before.rank(); ++axis)
      differs =
          sym::provably_different(before.shape[static_cast<size_t>(axis)], after.shape[static_cast<size_t>(axis)]);
    if (differs) return error(Code::kInternal, "a rewrite rule replaces ", before, " by ", after, ", a different type");
    if (!before.same_type(after) || (before.values && !after.values)) return false;
  }
  return true;
}

Result<std::vector<ValueId>> Patch::apply(Graph& graph, const Origin& origin) const {
  std::vector<ValueId> made;
  const auto in_graph = [&](ValueId id) {
    return id != ValueId::kNone && is_new(id) ? made[index(id) - static_cast<size_t>(first_new_)] : id;
  };
  for (const Added& added : added_) {
    std::vector<ValueId> inputs;
    for (const ValueId input : added.inputs) inputs.push_back(in_graph(input));
    made.push_back(TRY(graph.add_one(added.op, inputs, origin.name)));
    graph.set_provenance(graph.value(made.back()).producer, origin.provenance);
  }
  std::vector<ValueId> placed;
  for (const auto& [old, by] : replaced_) {
    const ValueId value = in_graph(by);
    std::string name = graph.value(old).name;
    graph.replace_uses(old, value);
    if (is_new(by) || graph.value(value).name.empty()) {
      graph.set_name(value, std::move(name));
      graph.set_name(old, std::string());
    }
    placed.push_back(value);
  }
  return placed;
}

}  // namespace kiln::ir
