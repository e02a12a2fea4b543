#include "ops/identity.h"

#include "onnx/import/importers.h"

namespace kiln::onnx::importers {

Status identity(ImportContext& cx) {
  if (const Sequence* sequence = cx.find_sequence(0)) return cx.output(Sequence(*sequence));
  return cx.output(TRY(cx.add(ops::Identity{}, {TRY(cx.input(0))})));
}

}  // namespace kiln::onnx::importers
