#include "ops/movement.h"

#include "ops/pointwise.h"
#include "sym/real.h"

namespace kiln {

void move_elements(const View& x, const MutableView& y, std::span<const int64_t> sources) {
  for (size_t k = 0; k < sources.size(); ++k)
    if (sources[k] >= 0) y.copy_element(static_cast<int64_t>(k), x, sources[k]);
}

bool carries_values(const TensorType& type) {
  if (!is_index(type.dtype) && type.dtype != DType::kBool && !is_compute_float(type.dtype)) return false;
  if (!type.is_static()) return false;
  const int64_t most = is_float(type.dtype) ? kMaxSymbolicValues : kMostFollowedValues;
  const auto count = checked_volume(*type.extents());  // an error where an extent is negative, which is told later
  return count && *count <= most;
}

std::optional<sym::Expr> stored_real(DType dtype, sym::Expr real) {
  switch (dtype) {
    case DType::kF32: return real;
    case DType::kF16: return sym::real_function(sym::RealFunction::kHalf, real);
    case DType::kBF16: return sym::real_function(sym::RealFunction::kBFloat, real);
    // Reals have the digits of FP32; only those that are kept as ratios are not rounded.
    case DType::kF64: return sym::ratio_of(real) ? std::optional(real) : std::nullopt;
    default: return std::nullopt;
  }
}

sym::Expr value_at(DType dtype, std::span<const sym::Expr> values, sym::Expr index) {
  return is_float(dtype) ? sym::real_element_at(values, index) : sym::element_at(values, index);
}

void give_values(TensorType& y, SymbolicValues values) {
  for (sym::Expr& value : values) {
    const auto stored = is_float(y.dtype) ? stored_real(y.dtype, value) : std::optional(value);
    if (!stored || !stored->is_valid()) return;
    value = *stored;
  }
  y.values = std::make_shared<const SymbolicValues>(std::move(values));
}

std::optional<SymbolicValues> small_values(InferContext& cx, int i) {
  if (!cx.has_values(i)) return std::nullopt;
  const auto type = cx.input(i);
  if (!type || !carries_values(*type)) return std::nullopt;
  auto values = cx.values(i);
  if (!values) return std::nullopt;
  return *std::move(values);
}

Status set_moved_output(InferContext& cx, int i, TensorType y,
                        const std::function<Sources(const Extents&, const Extents&)>& sources) {
  if (carries_values(y)) {
    if (const auto values = small_values(cx, i)) {
      const TensorType& x = TRY(cx.input(i));
      SymbolicValues moved;
      bool known = true;
      for (const int64_t source : sources(TRY(x.extents()), TRY(y.extents()))) {
        if (source < 0)
          known = false;
        else
          moved.push_back((*values)[static_cast<size_t>(source)]);
      }
      if (known) y.values = std::make_shared<const SymbolicValues>(std::move(moved));
    }
  }
  return cx.set_output(0, std::move(y));
}

Status set_view_output(InferContext& cx, int i, TensorType y) {
  return set_moved_output(cx, i, std::move(y), [](const Extents& from, const Extents&) {
    Sources sources(static_cast<size_t>(volume(from)));
    for (size_t k = 0; k < sources.size(); ++k) sources[k] = static_cast<int64_t>(k);
    return sources;
  });
}

std::optional<std::vector<int64_t>> constant_values(const TensorType& type) {
  if (!type.values) return std::nullopt;
  std::vector<int64_t> result;
  for (const sym::Expr& value : *type.values) {
    if (!value.is_const()) return std::nullopt;
    result.push_back(value.value());
  }
  return result;
}

Result<SymbolicValues> dims_of(InferContext& cx, int i, std::span<const int64_t> attribute, const char* what) {
  if (!cx.has_input(i)) return SymbolicValues(attribute.begin(), attribute.end());
  const TensorType& type = TRY(cx.input(i));
  TRY(cx.require(type.rank() == 1 && is_integer(type.dtype), what, " is ", type, "; a vector of integers is needed"));
  return in_context(cx.values(i), [&] { return std::string(what); });
}

Result<std::vector<int>> distinct_axes(std::span<const int64_t> axes, int rank) {
  std::vector<int> result;
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  for (const int64_t axis : axes) {
    const int from_front = TRY(normalize_axis(axis, rank));
    TRY(require(!seen[static_cast<size_t>(from_front)], "axis ", axis, " is given twice in ", axes));
    seen[static_cast<size_t>(from_front)] = true;
    result.push_back(from_front);
  }
  return result;
}

Result<std::vector<int>> axes_of(InferContext& cx, int i, std::span<const int64_t> attribute, int rank) {
  std::vector<int64_t> axes;
  for (const sym::Expr& axis : TRY(dims_of(cx, i, attribute, "axes"))) {
    TRY(cx.require(axis.is_const(), "axis ", axis, " must be a constant"));
    axes.push_back(axis.value());
  }
  return distinct_axes(axes, rank);
}

}  // namespace kiln
