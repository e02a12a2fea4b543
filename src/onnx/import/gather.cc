#include "ops/gather.h"

#include <algorithm>

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/scatter.h"

namespace kiln::onnx::importers {
namespace {

Status gather_by(ImportContext& cx, ops::Gather op) {
  return cx.output(TRY(cx.add(op, {TRY(cx.input(0)), TRY(cx.input(1))})));
}

Status scatter_by(ImportContext& cx, ops::Scatter op) {
  static constexpr std::string_view kReductions[] = {"none", "add", "mul", "max", "min"};
  const std::string_view name = TRY(cx.node().get_string("reduction", "none"));
  const auto* const found = std::ranges::find(kReductions, name);
  TRY(require(found != std::end(kReductions), "reduction is '", name, "'; it may be none, add, mul, max or min"));
  op.reduction = static_cast<ScatterReduction>(found - kReductions);
  return cx.output(TRY(cx.add(op, {TRY(cx.input(0)), TRY(cx.input(1)), TRY(cx.input(2))})));
}

}  // namespace

Status gather(ImportContext& cx) { return gather_by(cx, {GatherMode::kDefault, TRY(cx.int_attribute("axis", 0)), 0}); }

Status gather_elements(ImportContext& cx) {
  return gather_by(cx, {GatherMode::kElement, TRY(cx.int_attribute("axis", 0)), 0});
}

Status gather_nd(ImportContext& cx) {
  return gather_by(cx, {GatherMode::kNd, 0, TRY(cx.int_attribute("batch_dims", 0))});
}

Status scatter_elements(ImportContext& cx) {
  return scatter_by(cx, {ScatterMode::kElement, TRY(cx.int_attribute("axis", 0))});
}

Status scatter_nd(ImportContext& cx) { return scatter_by(cx, {.mode = ScatterMode::kNd}); }

}  // namespace kiln::onnx::importers
