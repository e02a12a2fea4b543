#include "passes/deterministic.h"

#include "ops/fill.h"

namespace kiln::passes {

bool is_deterministic(const Op& op) {
  const auto* fill = op.as<ops::Fill>();
  return !op.has(Trait::kNondeterministic) || (fill && fill->operation == FillOperation::kLinspace);
}

}  // namespace kiln::passes
