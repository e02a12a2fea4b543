#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {

Status transpose(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  Ints perm = axes_between(0, cx.rank(x));
  if (cx.node().find("perm")) {
    perm = TRY(cx.node().get_ints("perm", {}));
  } else {
    for (size_t i = 0; i < perm.size() / 2; ++i) std::swap(perm[i], perm[perm.size() - 1 - i]);
  }
  TRY(require(static_cast<int>(perm.size()) == cx.rank(x), "perm is ", perm, "; x is ", cx.type(x)));
  return cx.output(TRY(transpose(cx, x, std::move(perm))));
}

}  // namespace kiln::onnx::importers
