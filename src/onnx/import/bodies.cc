#include "onnx/import/bodies.h"

#include <algorithm>

namespace kiln::onnx {

Result<ValueId> single(ImportContext& cx, size_t input, std::string_view what) {
  const ValueId value = TRY(cx.input(input));
  TRY(require(!sym::provably_different(cx.type(value).volume(), 1), what, " is ", cx.type(value),
              "; one element is needed"));
  return value;
}

bool ranks_agree(const ImportedBody& a, const ImportedBody& b) {
  const auto is_single = [](const TensorType& type) { return sym::provably_equal(type.volume(), 1); };
  const auto agree = [&](ValueId of_a, ValueId of_b) {
    if (of_a == ValueId::kNone || of_b == ValueId::kNone) return of_a == of_b;  // a sequence
    const TensorType &x = a.graph->type(of_a), &y = b.graph->type(of_b);
    return x.rank() == y.rank() || (is_single(x) && is_single(y));
  };
  return std::ranges::equal(a.outputs.values, b.outputs.values, agree);
}

}  // namespace kiln::onnx
