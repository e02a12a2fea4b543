#include "ops/scale.h"

#include <cmath>

#include "ops/define.h"
#include "ops/pointwise.h"

namespace kiln {
template const OpInfo& op_info<ops::Scale>();

namespace ops {

std::span<const std::string_view> enum_names(ScaleMode) {
  static constexpr std::string_view kNames[] = {"uniform", "channel", "elementwise"};
  return kNames;
}

namespace {
constexpr std::string_view kInputNames[] = {"x", "shift", "scale", "power"};
}

Status Scale::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  TRY(cx.require(is_compute_float(x.dtype), "x is ", x, "; Scale takes f32, f16 or bf16"));
  sym::Expr count = 1;
  if (mode != ScaleMode::kUniform) {
    const auto first = static_cast<size_t>(TRY(cx.axis(channel_axis, x)));
    const std::span<const sym::Expr> extents(x.shape);
    count = mode == ScaleMode::kChannel ? extents[first] : sym::product(extents.subspan(first));
  }
  for (int i = 1; i < cx.num_inputs(); ++i) {
    if (!cx.has_input(i)) continue;
    const TensorType& coefficients = TRY(cx.input(i));
    const std::string_view what = kInputNames[i];
    TRY(cx.require(is_compute_float(coefficients.dtype), what, " is ", coefficients, "; Scale takes floats"));
    TRY(cx.assume_equal(coefficients.volume(), count,
                        str("elements of ", what, " ", coefficients, " for Scale ", mode, " of x ", x)));
  }
  return cx.set_output(0, TensorType(x.dtype, x.shape));
}

Status Scale::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  const MutableView y = TRY(cx.output(0));
  int64_t count = 1, inner = 1;  // coefficient of element i: (i / inner) % count
  if (mode != ScaleMode::kUniform) {
    const auto first = static_cast<size_t>(TRY(cx.axis(channel_axis, x.rank())));
    const std::span<const int64_t> extents(x.extents());
    count = mode == ScaleMode::kChannel ? extents[first] : volume(extents.subspan(first));
    if (mode == ScaleMode::kChannel) inner = volume(extents.subspan(first + 1));
  }
  const auto coefficients = [&](int input, double absent) -> Result<std::vector<double>> {
    std::vector<double> values(static_cast<size_t>(count), absent);
    if (!cx.has_input(input)) return values;
    const View given = TRY(cx.input(input));
    for (size_t i = 0; i < values.size(); ++i) values[i] = given[static_cast<int64_t>(i)];
    return values;
  };
  const std::vector<double> shift = TRY(coefficients(1, 0)), scale = TRY(coefficients(2, 1)),
                            power = TRY(coefficients(3, 1));
  for (int64_t i = 0; i < x.volume(); ++i) {
    const auto k = static_cast<size_t>(i / inner % count);
    const double scaled = x[i] * scale[k] + shift[k];
    y.set(i, power[k] == 1 ? scaled : std::pow(scaled, power[k]));
  }
  return {};
}

}  // namespace ops
}  // namespace kiln
