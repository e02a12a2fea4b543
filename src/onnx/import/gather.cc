#include "ops/gather.h"

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {
namespace {

Status gather_by(ImportContext& cx, ops::Gather op) {
  return cx.output(TRY(cx.add(op, {TRY(cx.input(0)), TRY(cx.input(1))})));
}

}  // namespace

Status gather(ImportContext& cx) {
  return gather_by(cx, {GatherMode::kDefault, static_cast<int>(TRY(cx.node().get_int("axis", 0))), 0});
}

Status gather_elements(ImportContext& cx) {
  return gather_by(cx, {GatherMode::kElement, static_cast<int>(TRY(cx.node().get_int("axis", 0))), 0});
}

Status gather_nd(ImportContext& cx) {
  return gather_by(cx, {GatherMode::kNd, 0, static_cast<int>(TRY(cx.node().get_int("batch_dims", 0)))});
}

}  // namespace kiln::onnx::importers
