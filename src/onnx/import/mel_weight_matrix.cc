#include <cmath>

#include "onnx/dtypes.h"
#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {
namespace {

Result<sym::Expr> count(ImportContext& cx, size_t input, std::string_view what) {
  const SymbolicValues given = TRY(cx.values(TRY(cx.input(input)), what));
  TRY(require(given.size() == 1, what, " has ", given.size(), " elements; one is needed"));
  TRY(require(!given[0].is_const() || given[0].value() > 0, what, " is ", given[0], "; it must be positive"));
  return given[0];
}

/// The bands' edges in bins of the spectrum, f64 [1, bands + 2]: equally far apart in mels, rounded down to bins.
Result<ValueId> band_edges(ImportContext& cx, sym::Expr num_bands, sym::Expr length, sym::Expr rate) {
  using enum ElementWiseKind;
  constexpr double kMels = 2595, kHertz = 700;  // mel = 2595 * log10(1 + hertz / 700)
  const auto mels = [&](size_t input) -> Result<ValueId> {
    const ValueId hertz = TRY(cast(cx, TRY(reshape(cx, TRY(cx.input(input)), {1, 1})), DType::kF64));
    const ValueId ratio = TRY(binary(cx, kSum, TRY(binary(cx, kDiv, hertz, kHertz)), 1));
    return binary(cx, kProd, TRY(unary(cx, UnaryKind::kLog, ratio)), kMels / std::log(10.0));
  };
  const auto number = [&](sym::Expr e) -> Result<ValueId> {
    return cast(cx, TRY(with_rank(cx, TRY(scalar_value(cx, e)), 2)), DType::kF64);
  };
  const ValueId low = TRY(mels(3)), high = TRY(mels(4));
  const ValueId step = TRY(binary(cx, kDiv, TRY(binary(cx, kSub, high, low)), TRY(number(num_bands + 2))));
  const ValueId index = TRY(cast(cx, TRY(indices_along(cx, num_bands + 2, 1, 2)), DType::kF64));
  const ValueId at = TRY(binary(cx, kSum, TRY(binary(cx, kProd, index, step)), low));
  const ValueId power = TRY(unary(cx, UnaryKind::kExp, TRY(binary(cx, kProd, at, std::log(10.0) / kMels))));
  const ValueId hertz = TRY(binary(cx, kProd, TRY(binary(cx, kSub, power, 1)), kHertz));
  const ValueId bins = TRY(binary(cx, kDiv, TRY(binary(cx, kProd, hertz, TRY(number(length + 1)))), TRY(number(rate))));
  return unary(cx, UnaryKind::kFloor, bins);
}

}  // namespace

/// Imports MelWeightMatrix: triangles over the bins of a spectrum, each from the center of the band before to that of
/// the band behind. The edges are computed in FP64, since they are rounded down.
Status mel_weight_matrix(ImportContext& cx) {
  using enum ElementWiseKind;
  const sym::Expr num_bands = TRY(count(cx, 0, "num_mel_bins")), length = TRY(count(cx, 1, "dft_length")),
                  rate = TRY(count(cx, 2, "sample_rate"));
  const auto type = static_cast<ElementType>(TRY(cx.node().get_int("output_datatype", 1)));
  const DType to = TRY(in_context(need_dtype(type), [] { return "output_datatype"; }));
  const ValueId edges = TRY(cast(cx, TRY(band_edges(cx, num_bands, length, rate)), DType::kF32));
  const auto edge = [&](int64_t first) { return slice(cx, edges, {{first}, {num_bands}, {1}, {1}}); };
  const ValueId low = TRY(edge(0)), center = TRY(edge(1)), high = TRY(edge(2));
  const ValueId bin = TRY(indices_along(cx, sym::floor_div(length, 2) + 1, 0, 2, DType::kF32));
  const auto no = [&](Result<ValueId> condition) -> Result<ValueId> {
    return unary(cx, UnaryKind::kNot, TRY(std::move(condition)));
  };
  const ValueId rise = TRY(binary(cx, kSub, center, low)), fall = TRY(binary(cx, kSub, high, center));
  const ValueId has_rise = TRY(binary(cx, kGreater, rise, 0)), has_fall = TRY(binary(cx, kGreater, fall, 0));
  const ValueId zero = scalar_like(cx, 0, bin), one = scalar_like(cx, 1, bin);
  // Up to the center; a band without a rise has its whole weight there.
  const ValueId slope_up = TRY(binary(cx, kDiv, TRY(binary(cx, kSub, bin, low)), TRY(select(cx, has_rise, rise, one))));
  const ValueId up = TRY(select(cx, has_rise, slope_up, one));
  const ValueId from_low = TRY(no(binary(cx, kLess, bin, low))), to_center = TRY(no(binary(cx, kGreater, bin, center)));
  ValueId y = TRY(select(cx, TRY(binary(cx, kAnd, from_low, to_center)), up, zero));
  // From the center on.
  const ValueId down = TRY(binary(cx, kDiv, TRY(binary(cx, kSub, high, bin)), TRY(select(cx, has_fall, fall, one))));
  const ValueId from_center = TRY(binary(cx, kAnd, TRY(no(binary(cx, kLess, bin, center))), has_fall));
  const ValueId falls = TRY(binary(cx, kAnd, from_center, TRY(binary(cx, kLess, bin, high))));
  y = TRY(select(cx, falls, down, y));
  return cx.output(TRY(cast(cx, y, to)));
}

}  // namespace kiln::onnx::importers
