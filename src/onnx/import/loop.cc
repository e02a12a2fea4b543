// Loop and Scan: their bodies are imported as often as it takes to find which carried extents change.
#include "ops/loop.h"

#include <algorithm>
#include <utility>

#include "ir/loop_draft.h"
#include "onnx/import/bodies.h"
#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/squeeze.h"
#include "ops/transpose.h"
#include "ops/unsqueeze.h"
#include "tensor/view.h"

namespace kiln::onnx::importers {
namespace {

/// The body of a Loop or a Scan, and what ONNX calls its inputs.
struct LoopBody {
  const GraphDef& graph;
  std::vector<BodyInput> inputs;  ///< their types are in the draft; a constant is none of the draft's
  bool has_condition = false;     ///< the first output says whether there is another iteration
};

/// Imports the body with inputs of the draft's types.
Result<ImportedBody> import_body(ImportContext& cx, std::span<const TensorType> types, LoopBody& body,
                                 const Captures& captures) {
  for (size_t i = 0, next = 0; i < body.inputs.size(); ++i)
    if (!body.inputs[i].constant) body.inputs[i].type = types[next++];
  return cx.bodies().import(body.graph, body.inputs, captures);
}

/// Whether a body's condition is true whatever it computes.
bool is_always_true(ImportContext& cx, const ImportedBody& body) {
  ImportContext inside(cx.model(), cx.node(), cx.opset(), *body.graph, {}, cx.state());
  const auto known = inside.constant(body.outputs[0], "");
  return known && known->volume() == 1 && View(*known)[0] != 0;
}

/// Adds the node when the body's types are those of every iteration.
Result<Values> add_loop(ImportContext& cx, ir::LoopDraft& loop, LoopBody& body, Values inputs,
                        const Captures& captures) {
  bool is_first = true;
  std::vector<std::string> warnings;
  const auto make = [&](std::span<const TensorType> types) -> Result<ir::Bodies> {
    ImportedBody imported = TRY(in_context(import_body(cx, types, body, captures), [] { return "body"; }));
    if (std::exchange(is_first, false)) {  // whether the body ends the loop does not depend on the types that are found
      loop.op.tests = body.has_condition && !is_always_true(cx, imported);
      loop.is_exact = loop.trips && inputs[1] == ValueId::kNone && !loop.op.tests;
    }
    mark_outputs(imported, body.graph, body.has_condition && !loop.op.tests ? 1 : 0);
    warnings = std::move(imported.warnings);
    return ir::Bodies{std::move(imported.graph)};
  };
  const ir::Bodies bodies = TRY(ir::settle_bodies(cx.graph().table(), loop, cx.state().loops, &body.graph, make));
  cx.bodies().warn(warnings);
  inputs.insert(inputs.end(), captures.values.begin(), captures.values.end());
  return cx.add_all(loop.op, inputs, bodies, loop.sizes);
}

/// Adds a carried value to a draft.
void add_carried(ImportContext& cx, ir::LoopDraft& loop, LoopBody& body, std::string_view name, ValueId initial) {
  const TensorType& type = cx.type(initial);
  std::optional<sym::Expr> first;
  if (is_index(type.dtype) && sym::provably_equal(type.volume(), 1))
    if (const auto values = cx.values(initial, "")) first = (*values)[0];
  loop.first_elements.push_back(first);
  loop.names.emplace_back(name);
  loop.inputs.emplace_back(type.dtype, type.shape);
  body.inputs.push_back({name, {}, {}});
}

HostTensor bool_of(bool value) { return HostTensor::scalar(DType::kBool, value); }

}  // namespace

Status loop(ImportContext& cx) {
  const GraphDef& body = TRY(cx.node().need_graph("body"));
  const size_t num_carried = cx.num_inputs() > 2 ? cx.num_inputs() - 2 : 0;
  TRY(require(body.inputs.size() == num_carried + 2, "the body has ", body.inputs.size(), " inputs; ", num_carried + 2,
              " are needed for ", num_carried, " carried values"));
  TRY(require(body.outputs.size() > num_carried, "the body has ", body.outputs.size(), " outputs; ", num_carried + 1,
              " are needed at least"));
  TRY(require(cx.num_outputs() > 0 && cx.num_outputs() <= body.outputs.size() - 1, "the node has ", cx.num_outputs(),
              " outputs; its body gives ", body.outputs.size() - 1));
  ir::LoopDraft loop;
  loop.op.carried = static_cast<int>(num_carried);
  loop.op.stacks.assign(body.outputs.size() - 1 - num_carried, 1);
  loop.inputs.emplace_back(DType::kI64, Shape{});
  LoopBody inner{.graph = body, .inputs = {}, .has_condition = true};
  inner.inputs.push_back({body.inputs[0].name, {}, {}});
  inner.inputs.push_back({body.inputs[1].name, {}, bool_of(true)});  // or the body would not run
  Values inputs(2, ValueId::kNone);
  if (cx.has_input(0)) inputs[0] = TRY(single(cx, 0, "the trip count"));
  if (cx.has_input(1)) {
    inputs[1] = TRY(single(cx, 1, "the condition"));
    const auto known = cx.constant(inputs[1], "");
    if (known && View(*known)[0] != 0) inputs[1] = ValueId::kNone;
  }
  for (size_t c = 0; c < num_carried; ++c) {
    inputs.push_back(TRY(cx.input(2 + c)));
    add_carried(cx, loop, inner, body.inputs[2 + c].name, inputs.back());
  }
  if (inputs[0] != ValueId::kNone)
    if (const auto count = cx.values(inputs[0], "")) loop.trips = sym::max((*count)[0], 0);
  for (int i = 0; i <= loop.op.carried; ++i) follow_element(cx.graph().table(), loop, i);
  const GraphDef* const bodies[] = {&body};
  const Captures captures = TRY(cx.bodies().captures(bodies));
  const Values outputs = TRY(add_loop(cx, loop, inner, std::move(inputs), captures));
  for (size_t i = 0; i < cx.num_outputs(); ++i)
    if (cx.wants(i)) TRY(cx.output(i, outputs[i]));
  return {};
}

namespace {

Result<std::vector<int>> directions(ImportContext& cx, std::string_view attribute, size_t count) {
  const std::vector<int64_t> given = TRY(cx.node().get_ints(attribute, std::vector<int64_t>(count, 0)));
  TRY(require(given.size() == count, attribute, " has ", given.size(), " elements; ", count, " are needed"));
  std::vector<int> result;
  for (const int64_t reverse : given) {
    TRY(require(reverse == 0 || reverse == 1, attribute, " has ", reverse, "; 0 and 1 are directions"));
    result.push_back(reverse ? -1 : 1);
  }
  return result;
}

/// What a Scan reads and says, as opset 9 has it: without a batch.
struct ScanInputs {
  Values carried, scanned;  ///< the scanned ones along axis 0
  std::string_view directions;
};

Result<ScanInputs> scan_inputs(ImportContext& cx, size_t num_carried, size_t num_scanned) {
  const std::vector<int64_t> axes = TRY(cx.node().get_ints("scan_input_axes", std::vector<int64_t>(num_scanned, 0)));
  TRY(require(axes.size() == num_scanned, "scan_input_axes has ", axes.size(), " elements; ", num_scanned,
              " are needed"));
  ScanInputs result{.directions = "scan_input_directions"};
  for (size_t c = 0; c < num_carried; ++c) result.carried.push_back(TRY(cx.input(c)));
  for (size_t k = 0; k < num_scanned; ++k) {
    const ValueId x = TRY(cx.input(num_carried + k));
    const int rank = cx.rank(x);
    result.scanned.push_back(TRY(transpose(cx, x, axis_to_front(rank, TRY(cx.axis(axes[k], rank))))));
  }
  return result;
}

/// Opset 8: an input of lengths comes first, and all values have a batch in front.
Result<ScanInputs> scan_inputs_8(ImportContext& cx, size_t num_carried, size_t num_scanned) {
  if (cx.has_input(0)) return error(Code::kUnsupported, "sequence_lens of Scan of opset 8 is not supported");
  ScanInputs result{.directions = "directions"};
  for (size_t i = 0; i < num_carried + num_scanned; ++i) {
    const ValueId x = TRY(cx.input(1 + i));
    if (cx.rank(x) == 0 || !sym::provably_equal(cx.extent(x, 0), 1))
      return error(Code::kUnsupported, "Scan of opset 8 with a batch of other than 1 (input ", 1 + i, " is ",
                   cx.type(x), ") is not supported; convert the model to opset 9");
    (i < num_carried ? result.carried : result.scanned).push_back(TRY(cx.add(ops::Squeeze{{0}}, {x})));
  }
  return result;
}

}  // namespace

Status scan(ImportContext& cx) {
  const GraphDef& body = TRY(cx.node().need_graph("body"));
  const bool has_batch = cx.opset() < 9;
  const size_t num_inputs = cx.num_inputs() - (has_batch && cx.num_inputs() > 0 ? 1 : 0);
  const int64_t given = TRY(cx.node().need_int("num_scan_inputs"));
  TRY(require(given > 0 && given <= static_cast<int64_t>(num_inputs), "num_scan_inputs is ", given, "; the node has ",
              num_inputs, " inputs"));
  const auto num_scanned = static_cast<size_t>(given);
  const size_t num_carried = num_inputs - num_scanned;
  TRY(require(body.inputs.size() == num_inputs, "the body has ", body.inputs.size(), " inputs; the node has ",
              num_inputs));
  TRY(require(body.outputs.size() >= num_carried && body.outputs.size() == cx.num_outputs(), "the body has ",
              body.outputs.size(), " outputs; the node has ", cx.num_outputs(), " for ", num_carried,
              " carried values"));
  const size_t num_stacked = body.outputs.size() - num_carried;
  const ScanInputs values =
      TRY(has_batch ? scan_inputs_8(cx, num_carried, num_scanned) : scan_inputs(cx, num_carried, num_scanned));
  ir::LoopDraft loop;
  LoopBody inner{.graph = body, .inputs = {{}}};
  loop.op.carried = static_cast<int>(num_carried);
  loop.op.scans = TRY(directions(cx, values.directions, num_scanned));
  loop.op.stacks = TRY(directions(cx, "scan_output_directions", num_stacked));
  loop.inputs.emplace_back(DType::kI64, Shape{});
  Values inputs(2, ValueId::kNone);
  inputs.insert(inputs.end(), values.carried.begin(), values.carried.end());
  inputs.insert(inputs.end(), values.scanned.begin(), values.scanned.end());
  for (size_t c = 0; c < num_carried; ++c) add_carried(cx, loop, inner, body.inputs[c].name, values.carried[c]);
  for (size_t k = 0; k < num_scanned; ++k) {
    const TensorType& type = cx.type(values.scanned[k]);
    loop.inputs.emplace_back(type.dtype, Shape(type.shape.begin() + 1, type.shape.end()));
    inner.inputs.push_back({body.inputs[num_carried + k].name, {}, {}});
    if (!loop.trips) loop.trips = type.shape[0];
  }
  for (int i = 1; i <= loop.op.carried; ++i) follow_element(cx.graph().table(), loop, i);
  const GraphDef* const bodies[] = {&body};
  const Captures captures = TRY(cx.bodies().captures(bodies));
  const Values outputs = TRY(add_loop(cx, loop, inner, std::move(inputs), captures));
  const std::vector<int64_t> axes = TRY(cx.node().get_ints("scan_output_axes", std::vector<int64_t>(num_stacked, 0)));
  TRY(require(axes.size() == num_stacked, "scan_output_axes has ", axes.size(), " elements; ", num_stacked,
              " are needed"));
  for (size_t i = 0; i < cx.num_outputs(); ++i) {
    if (!cx.wants(i)) continue;
    ValueId y = outputs[i];
    const int rank = cx.rank(y);
    if (i >= num_carried) y = TRY(transpose(cx, y, front_to_axis(rank, TRY(cx.axis(axes[i - num_carried], rank)))));
    if (has_batch) y = TRY(cx.add(ops::Unsqueeze{{0}}, {y}));
    TRY(cx.output(i, y));
  }
  return {};
}

}  // namespace kiln::onnx::importers
