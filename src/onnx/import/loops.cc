#include "onnx/import/loops.h"

#include <algorithm>
#include <utility>

#include "ir/loop_trips.h"
#include "ops/identity.h"
#include "tensor/view.h"

namespace kiln::onnx {
namespace {

/// Imports the body with inputs of the draft's types.
Result<ImportedBody> import_body(ImportContext& cx, std::span<const TensorType> types, LoopBody& body,
                                 const Captures& captures) {
  for (size_t i = 0, next = 0; i < body.inputs.size(); ++i)
    if (body.inputs[i].varies()) body.inputs[i].type = types[next++];
  std::vector<sym::Expr>& iterations = cx.state().iterations;
  const size_t num_around = iterations.size();
  if (!types.empty() && types[0].values) sym::collect_symbols((*types[0].values)[0], iterations);
  auto imported = cx.bodies().import(body.graph, body.inputs, captures, body.make_sequences);
  iterations.resize(num_around);
  return imported;
}

/// Whether a body's condition is true whatever it computes.
bool is_always_true(ImportContext& cx, const ImportedBody& body) {
  ImportContext inside(cx.model(), cx.def(), cx.opset(), *body.graph, {}, cx.state());
  return known_flag(inside, body.outputs.values[0]).value_or(false);
}

/// Inputs of the body that an iteration may find changed: all but captures, and carried values that come back as they
/// were.
Values varying_inputs(const ir::LoopDraft& loop, const ir::Graph& body, std::span<const LoopResult> results) {
  Values varying;
  for (size_t i = 0; i < loop.inputs.size(); ++i) {
    const ValueId input = body.inputs()[i];
    ValueId result = i > 0 && i <= static_cast<size_t>(loop.op.carried) ? results[i - 1].value : ValueId::kNone;
    while (result != ValueId::kNone && body.producer_as<ops::Identity>(result))
      result = body.node(body.value(result).producer).inputs[0];
    if (result != input) varying.push_back(input);
  }
  return varying;
}

/// Fails for a loop without a count whose condition no iteration changes. One that does not begin is none of these.
Status check_ends(ImportContext& cx, const ir::LoopDraft& loop, std::span<const ValueId> inputs,
                  const ImportedBody& body, std::span<const LoopResult> results) {
  if (!loop.op.tests || !loop.op.scans.empty()) return {};
  const bool has_count = inputs[0] != ValueId::kNone;
  if (has_count &&
      !(loop.trips && loop.trips->is_const() && ops::is_endless(loop.trips->value(), cx.type(inputs[0]).dtype)))
    return {};
  if (inputs[1] != ValueId::kNone)
    if (const auto begins = cx.values(inputs[1], ""); begins && (*begins)[0].constant() == 0) return {};
  const Values varying = varying_inputs(loop, *body.graph, results);
  std::vector<sym::Expr> changing;
  for (const ir::ChangingExtent& extent : loop.changing) changing.push_back(extent.symbol);
  for (const auto& [input, element] : loop.elements)
    if (std::ranges::find(varying, body.graph->inputs()[static_cast<size_t>(input)]) != varying.end())
      changing.push_back(element.symbol);
  const ValueId condition = body.outputs.values[0];
  return require(!ir::is_same_in_each_iteration(*body.graph, condition, varying, changing),
                 "nothing ends the loop: it has ", has_count ? str("a count of ", loop.trips->value()) : "no count",
                 ", and its condition is the same in each iteration");
}

/// What the body gives behind the condition.
Result<std::vector<LoopResult>> results_of(const LoopBody& body, ImportedBody& imported) {
  if (body.results) return body.results(imported);
  std::vector<LoopResult> results;
  for (size_t i = body.has_condition ? 1 : 0; i < imported.outputs.values.size(); ++i) {
    const std::string_view name = body.graph.outputs[i].name;
    TRY(require(imported.outputs.values[i] != ValueId::kNone, "output '", name,
                "' is a sequence or an optional; a tensor is needed"));
    results.push_back({imported.outputs.values[i], std::string(name)});
  }
  return results;
}

}  // namespace

Result<Values> add_loop(ImportContext& cx, ir::LoopDraft& loop, LoopBody& body, Values inputs,
                        const Captures& captures) {
  std::vector<std::string> warnings;
  Status ends;
  const auto make = [&](std::span<const TensorType> types) -> Result<ir::Bodies> {
    const auto where = [] { return "body"; };
    ImportedBody imported = TRY(in_context(import_body(cx, types, body, captures), where));
    const std::vector<LoopResult> results = TRY(in_context(results_of(body, imported), where));
    const ValueId condition = body.has_condition ? imported.outputs.values[0] : ValueId::kNone;
    TRY(in_context(require(!body.has_condition || condition != ValueId::kNone, "the condition is a sequence"), where));
    // A condition that is made of extents looks constant until these are found to change.
    loop.op.tests |= body.has_condition && !is_always_true(cx, imported);
    loop.is_exact = loop.trips && inputs[1] == ValueId::kNone && !loop.op.tests;
    ends = check_ends(cx, loop, inputs, imported, results);
    if (loop.op.tests) imported.graph->mark_output(condition, std::string(body.graph.outputs[0].name));
    for (const LoopResult& result : results) imported.graph->mark_output(result.value, result.name);
    warnings = std::move(imported.outputs.warnings);
    return ir::Bodies{std::move(imported.graph)};
  };
  const ir::Bodies bodies = TRY(ir::settle_bodies(cx.graph().table(), loop, cx.state().loops, &body.graph, make));
  TRY(std::move(ends));
  if (body.accepts) TRY(body.accepts(loop));
  cx.bodies().warn(warnings);
  if (loop.op.num_outputs() == 0) return Values{};  // it carries sequences alone, and leaves them as they are
  inputs.insert(inputs.end(), captures.values.begin(), captures.values.end());
  return cx.add_all(loop.op, inputs, bodies, loop.sizes);
}

std::optional<bool> known_flag(ImportContext& cx, ValueId value) {
  const auto known = cx.constant(value, "");
  if (!known || known->volume() != 1) return std::nullopt;
  return View(*known)[0] != 0;
}

void add_carried(ImportContext& cx, ir::LoopDraft& loop, LoopBody& body, std::string_view name, ValueId initial) {
  const TensorType& type = cx.type(initial);
  std::optional<sym::Expr> first;
  if (is_index(type.dtype) && sym::provably_equal(type.volume(), 1))
    if (const auto values = cx.values(initial, "")) first = (*values)[0];
  loop.first_elements.push_back(first);
  loop.names.emplace_back(name);
  loop.inputs.emplace_back(type.dtype, type.shape);
  body.inputs.push_back({.name = name, .type = {}, .constant = {}});
}

}  // namespace kiln::onnx
