#include "ir/symbolic_values.h"

#include "sym/real.h"

namespace kiln::ir {

namespace {
void give_values(Graph& graph, ValueId input) {
  TensorType type = graph.type(input);
  if (type.rank() > 1 || type.values) return;
  const auto count = type.volume().constant();
  if (!count || *count > kMaxSymbolicValues) return;
  SymbolicValues values;
  for (int64_t i = 0; i < *count; ++i) {
    const sym::Expr element = graph.table().fresh(str(graph.value(input).name, '[', i, ']'), sym::kAnyValue);
    values.push_back(is_float(type.dtype) ? sym::real(element) : element);
  }
  type.values = std::make_shared<const SymbolicValues>(std::move(values));
  graph.set_input_type(input, std::move(type));
}
}  // namespace

void give_symbolic_values(Graph& graph, ValueId input) {
  if (is_index(graph.type(input).dtype)) give_values(graph, input);
}

void give_whole_values(Graph& graph, ValueId input) {
  if (is_float(graph.type(input).dtype)) give_values(graph, input);
}

}  // namespace kiln::ir
