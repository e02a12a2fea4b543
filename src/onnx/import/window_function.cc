/// BlackmanWindow, HammingWindow, HannWindow: sums of cosines.
#include <array>
#include <numbers>

#include "onnx/dtypes.h"
#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {
namespace {

/// sum of coefficients[k] * cos(2 pi k n / period), n = 0 ... size - 1; a periodic window's period is its size, that of
/// a symmetric one is one less.
Status window(ImportContext& cx, const std::array<double, 3>& coefficients) {
  const auto type = static_cast<ElementType>(TRY(cx.node().get_int("output_datatype", 1)));
  const DType to = TRY(in_context(need_dtype(type), [] { return "output_datatype"; }));
  const SymbolicValues given = TRY(cx.values(TRY(cx.input(0)), "size"));
  TRY(require(given.size() == 1, "size has ", given.size(), " elements; one is needed"));
  const sym::Expr size = given[0];
  TRY(require(!size.is_const() || size.value() >= 0, "size is ", size));
  const bool is_periodic = TRY(cx.node().get_int("periodic", 1)) != 0;
  const sym::Expr period = sym::max(is_periodic ? size : size - 1, 1);
  const ValueId n = TRY(indices_along(cx, sym::max(size, 0), 0, 1, DType::kF32));
  const ValueId turns =
      TRY(binary(cx, ElementWiseKind::kDiv, n, TRY(cast(cx, TRY(scalar_value(cx, period)), DType::kF32))));
  ValueId y = ValueId::kNone;
  for (size_t k = 1; k < coefficients.size(); ++k) {
    if (coefficients[k] == 0) continue;
    const double angle = 2 * std::numbers::pi * static_cast<double>(k);
    const ValueId wave = TRY(unary(cx, UnaryKind::kCos, TRY(binary(cx, ElementWiseKind::kProd, turns, angle))));
    const ValueId part = TRY(binary(cx, ElementWiseKind::kProd, wave, coefficients[k]));
    y = y == ValueId::kNone ? part : TRY(binary(cx, ElementWiseKind::kSum, y, part));
  }
  return cx.output(TRY(cast(cx, TRY(binary(cx, ElementWiseKind::kSum, y, coefficients[0])), to)));
}

}  // namespace

Status blackman_window(ImportContext& cx) { return window(cx, {0.42, -0.5, 0.08}); }
Status hamming_window(ImportContext& cx) { return window(cx, {25.0 / 46, -21.0 / 46, 0}); }
Status hann_window(ImportContext& cx) { return window(cx, {0.5, -0.5, 0}); }

}  // namespace kiln::onnx::importers
