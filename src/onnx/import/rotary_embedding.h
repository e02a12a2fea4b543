/// Rotary embeddings of ONNX and of com.microsoft, which differ in the order of their inputs.
#pragma once

#include "onnx/import/compose.h"

namespace kiln::onnx {

/// The inputs of a rotary embedding. x has the axes [batch, heads, length, size].
struct Rotation {
  ValueId cosines, sines;
  ValueId positions = ValueId::kNone;  ///< rows of cosines and sines; none: these have an axis for batches
  bool interleaved = false;
  int dim = 0;  ///< channels that are turned; 0: all
};
/// How many channels are turned by cosines of [positions, half of them].
Result<int> turned_channels(ImportContext& cx, ValueId cosines);
Result<ValueId> rotate(ImportContext& cx, ValueId x, const Rotation& by);

}  // namespace kiln::onnx
