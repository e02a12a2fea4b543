#include "built_case.h"

#include "ops/op.h"

namespace kiln {

Result<Built> build_case(const Case& c) {
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
    const bool host = (c.op.info().host_inputs >> i) & 1;
    if (c.inputs[i].constant || host) {
      inputs.push_back(built.graph.add_constant(built.all[i], str("c", i)));
    } else {
      inputs.push_back(built.graph.add_input(str("x", i), tensor_type(c.inputs[i].dtype, c.inputs[i].extents)));
      built.network_inputs.push_back(built.all[i]);
    }
  }
  const auto outputs = TRY(built.graph.add(c.op, inputs, c.name));
  for (size_t i = 0; i < outputs.size(); ++i) built.graph.mark_output(outputs[i], str("y", i));
  return built;
}

}  // namespace kiln
