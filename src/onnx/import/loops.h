/// What importers of loops share: a body that is imported as often as it takes to find which carried extents change.
#pragma once

#include "ir/loop_draft.h"
#include "onnx/import/bodies.h"

namespace kiln::onnx {

/// A value that a body gives to its loop.
struct LoopResult {
  ValueId value;
  std::string name;
};

/// The body of a loop, and what ONNX calls its inputs.
struct LoopBody {
  const GraphDef& graph;
  std::vector<BodyInput> inputs;      ///< their types are in the draft; a constant is none of the draft's
  bool has_condition = false;         ///< the first output says whether there is another iteration
  MakeSequences make_sequences = {};  ///< those of its own
  /// Chooses what the body gives behind the condition; absent: all its outputs.
  std::function<Result<std::vector<LoopResult>>(ImportedBody&)> results = {};
  std::function<Status(const ir::LoopDraft&)> accepts = {};  ///< refuses a loop whose types have been found
};

/// A single boolean, where the import knows it.
std::optional<bool> known_flag(ImportContext& cx, ValueId value);
/// Adds a carried value to a draft.
void add_carried(ImportContext& cx, ir::LoopDraft& loop, LoopBody& body, std::string_view name, ValueId initial);
/// Adds the node when the body's types are those of every iteration. `inputs` are the op's but for captures.
Result<Values> add_loop(ImportContext& cx, ir::LoopDraft& loop, LoopBody& body, Values inputs,
                        const Captures& captures);

}  // namespace kiln::onnx
