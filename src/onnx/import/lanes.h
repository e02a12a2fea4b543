/// The axes that Softmax and its kin normalise together.
#pragma once

#include "onnx/import/compose.h"

namespace kiln::onnx {

/// x with the axes that are normalised together joined to one. Before version 13 these are all axes from attribute
/// `axis` on.
struct Lanes {
  ValueId x;
  int axis;
  bool reshaped;
};
/// Reads attribute `axis` as version `opset` of Softmax has it.
Result<Lanes> lanes_of(ImportContext& cx, ValueId x, int64_t opset);
/// y, which was computed along the lanes of x, with x's shape.
Result<ValueId> unflattened(ImportContext& cx, const Lanes& lanes, ValueId y, ValueId x);

}  // namespace kiln::onnx
