#include "built_case.h"

#include <algorithm>

#include "ops/bit_cast.h"
#include "ops/op.h"

namespace kiln {

namespace {

/// Whether an extent is a symbol, by input and axis.
using Symbols = std::vector<std::vector<bool>>;

bool is_constant(const Case& c, size_t input) { return c.inputs[input].constant || c.op.info().reads_on_host(input); }

std::string name_of(size_t input) { return str("x", input); }

HostTensor bits_of_doubles(const HostTensor& tensor) {
  if (tensor.dtype() != DType::kF64) return tensor;
  return HostTensor(DType::kI64, tensor.extents(), tensor.bytes(), tensor.owner());
}

/// A network has no inputs and outputs of f64: theirs are the same bits as i64.
Result<ir::ValueId> add_input(Built& built, std::string name, TensorType type) {
  if (type.dtype != DType::kF64) return built.graph.add_input(std::move(name), std::move(type));
  type.dtype = DType::kI64;
  const ir::ValueId bits = built.graph.add_input(std::move(name), std::move(type));
  return built.graph.add_one(ops::BitCast{DType::kF64}, {bits});
}

Result<Built> build(const Case& c, const Symbols& symbols) {
  Built built;
  std::vector<ir::ValueId> inputs;
  built.all.resize(c.inputs.size());
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    if (c.inputs[i].absent) {
      inputs.push_back(ir::ValueId::kNone);
      built.by_input.push_back(nullptr);
      continue;
    }
    built.all[i] = fill_input(c, static_cast<int>(i));
    built.by_input.push_back(&built.all[i]);
    if (is_constant(c, i)) {
      inputs.push_back(built.graph.add_constant(built.all[i], str("c", i)));
      continue;
    }
    TensorType type = tensor_type(c.inputs[i].dtype, c.inputs[i].extents);
    for (size_t axis = 0; axis < type.shape.size(); ++axis)
      if (symbols[i][axis]) type.shape[axis] = built.graph.table().symbol(str(name_of(i), "_", axis));
    inputs.push_back(TRY(add_input(built, name_of(i), std::move(type))));
    built.network_inputs.push_back(bits_of_doubles(built.all[i]));
  }
  const auto outputs = TRY(built.graph.add(c.op, inputs, c.name));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const bool is_double = built.graph.type(outputs[i]).dtype == DType::kF64;
    const ir::ValueId y = is_double ? TRY(built.graph.add_one(ops::BitCast{DType::kI64}, {outputs[i]})) : outputs[i];
    built.graph.mark_output(y, str("y", i));
  }
  return built;
}

Symbols no_symbols(const Case& c) {
  Symbols symbols;
  for (const CaseInput& input : c.inputs) symbols.emplace_back(input.extents.size(), false);
  return symbols;
}

}  // namespace

Result<Built> build_case(const Case& c) { return build(c, no_symbols(c)); }

Result<DynamicCase> build_dynamic_case(const Case& c) {
  constexpr int64_t kMore = 3;  // than an extent of 1
  DynamicCase result;
  Symbols symbols = no_symbols(c);
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    if (c.inputs[i].absent || is_constant(c, i)) continue;
    const Extents& opt = c.inputs[i].extents;
    plan::InputRange range{opt, opt, opt};
    for (size_t axis = 0; axis < opt.size(); ++axis) {
      symbols[i][axis] = true;
      symbols[i][axis] = build(c, symbols).has_value();
      if (!symbols[i][axis]) continue;
      ++result.num_symbols;
      range.min[axis] = std::min<int64_t>(1, opt[axis]);
      range.max[axis] = std::max(kMore, opt[axis]);
    }
    result.profile.extents[name_of(i)] = std::move(range);
  }
  result.built = TRY(build(c, symbols));
  return result;
}

}  // namespace kiln
