#include "passes/rest_of_loop.h"

#include <algorithm>

#include "passes/pass.h"
#include "passes/remove_dead.h"

namespace kiln::passes {
namespace {

using ir::ValueId;

bool has(const std::vector<size_t>& all, size_t one) { return std::ranges::count(all, one) > 0; }

/// Keeps the outputs that are not the part's, and what they need.
Status keep_outputs(ir::Graph& body, const PartOfLoop& part) {
  const std::vector<ir::Output> outputs = body.outputs();
  for (const ir::Output& output : outputs) body.unmark_output(output.value);
  for (size_t k = 0; k < outputs.size(); ++k)
    if (!has(part.outputs, k)) body.mark_output(outputs[k].value, outputs[k].name, outputs[k].tap);
  NullLog log;
  PassContext cx{log};
  return remove_dead(body, cx);
}

}  // namespace

Result<RestOfLoop> rest_of_loop(const ops::Loop& loop, const ir::Graph& from, const PartOfLoop& part) {
  TRY(require(loop.elements.empty() && loop.decided.empty() && !loop.tests, "shapes in its body depend on its runs"));
  RestOfLoop rest{.op = loop, .body = std::make_shared<ir::Graph>(from.clone())};
  ir::Graph& body = *rest.body;
  const std::vector<ValueId> inputs = body.inputs();
  const TensorType slice = {body.type(part.result).dtype, body.type(part.result).shape};
  body.replace_uses(part.result, body.add_input(body.value(part.result).name, slice));
  TRY(keep_outputs(body, part));
  for (size_t i = static_cast<size_t>(loop.first_captured()) - 1; i < inputs.size(); ++i) {  // behind the slice
    const TensorType type = body.type(inputs[i]);
    body.replace_uses(inputs[i], body.add_input(std::string(body.value(inputs[i]).name), type));
    body.remove_input(inputs[i]);
  }
  rest.op.stacks.clear();
  rest.op.scans.push_back(part.direction);
  for (size_t k = 0; k < static_cast<size_t>(loop.num_outputs()); ++k) {
    const auto carried = static_cast<size_t>(loop.carried);
    if (!has(part.outputs, k)) {
      if (k >= carried) rest.op.stacks.push_back(loop.stacks[k - carried]);
      continue;
    }
    if (k >= carried) continue;
    const ValueId state = inputs[1 + k];
    TRY(require(body.num_uses(state) == 0, "the rest of its body reads '", body.value(state).name, "'"));
    body.remove_input(state);
    --rest.op.carried;
  }
  return rest;
}

}  // namespace kiln::passes
