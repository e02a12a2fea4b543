/// Axes that a node is given as constants, or only at run time by a shape input.
#pragma once

#include <optional>

#include "onnx/import/compose.h"

namespace kiln::onnx {

/// Axes of a tensor of `rank` axes. Where they are constants, `known` has them from the front.
struct Axes {
  std::optional<std::vector<int>> known;
  SymbolicValues given;  ///< as many as there are; negative ones count from the back
  int rank = 0;

  /// 1 if axis `i` is among them, else 0.
  sym::Expr contains(int i) const;
  /// The entry of `values`, which has one an axis given, that belongs to axis `i`; `otherwise` if it is not given.
  sym::Expr pick(const SymbolicValues& values, int i, sym::Expr otherwise) const;
};

/// Axes from input `input` where the operator's version is at least `since`, else from attribute `axes`; absent:
/// nullopt.
Result<std::optional<Axes>> axes_of(ImportContext& cx, size_t input, int64_t since, int rank);
Result<Axes> make_axes(SymbolicValues given, int rank);

}  // namespace kiln::onnx
