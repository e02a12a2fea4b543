#include "ir/symbolic_values.h"

namespace kiln::ir {

void give_symbolic_values(Graph& graph, ValueId input) {
  TensorType type = graph.type(input);
  if (!is_index(type.dtype) || type.rank() > 1 || type.values) return;
  const auto count = type.volume().constant();
  if (!count || *count > kMaxSymbolicValues) return;
  SymbolicValues values;
  for (int64_t i = 0; i < *count; ++i)
    values.push_back(graph.table().fresh(str(graph.value(input).name, '[', i, ']'), sym::kAnyValue));
  type.values = std::make_shared<const SymbolicValues>(std::move(values));
  graph.set_input_type(input, std::move(type));
}

}  // namespace kiln::ir
