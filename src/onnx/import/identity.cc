#include "ops/identity.h"

#include "onnx/import/importers.h"

namespace kiln::onnx::importers {

Status identity(ImportContext& cx) {
  if (cx.is_sequence(0)) return cx.output(Sequence(TRY(cx.sequence(0)).get()));
  return cx.output(TRY(cx.add(ops::Identity{}, {TRY(cx.input(0))})));
}

}  // namespace kiln::onnx::importers
