/// Shared by the movement ops: index walks, and symbolic values that move with their elements.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "ops/infer_context.h"
#include "ops/op.h"
#include "tensor/view.h"

namespace kiln {

/// Calls f(linear, index) for every index of `extents` in row-major order; `index` is a span over the axes.
template <class F>
void for_each_index(std::span<const int64_t> extents, F f) {
  std::vector<int64_t> index(extents.size(), 0);
  const int64_t count = volume(extents);
  for (int64_t linear = 0; linear < count; ++linear) {
    f(linear, std::span<const int64_t>(index));
    for (size_t axis = extents.size(); axis-- > 0;) {
      if (++index[axis] < extents[axis]) break;
      index[axis] = 0;
    }
  }
}

/// For each element of an output, the linear index of the input element that it copies, or -1 where it is filled.
using Sources = std::vector<int64_t>;
/// y[k] = x[sources[k]]; elements that are filled stay as they are.
void move_elements(const View& x, const MutableView& y, std::span<const int64_t> sources);

/// Gives output 0 the type `y`; if both are small and static and input `i` has symbolic values, they move along as
/// `sources(input extents, output extents)` says. A negative source leaves the output's values unknown.
Status set_moved_output(InferContext& cx, int i, TensorType y,
                        const std::function<Sources(const Extents&, const Extents&)>& sources);
/// The same where elements keep their order.
Status set_view_output(InferContext& cx, int i, TensorType y);

/// The symbolic values of input `i`, if it is small and they are known.
std::optional<SymbolicValues> small_values(InferContext& cx, int i);
/// Whether a tensor of this type is small and static enough to carry symbolic values.
bool carries_values(const TensorType& type);
/// A real as a tensor of a float type holds it; nothing where that cannot be said.
std::optional<sym::Expr> stored_real(DType dtype, sym::Expr real);
/// The value of a tensor of a type at an index that is known at run time only.
sym::Expr value_at(DType dtype, std::span<const sym::Expr> values, sym::Expr index);
/// Gives y these values, as a tensor of its type holds them; none where one cannot be said.
void give_values(TensorType& y, SymbolicValues values);
/// Elements of a tensor that inference follows. The shapes of thousands of tensors, side by side, are as many; what is
/// longer is a table, and each op on it would cost as much as the table is long.
inline constexpr int64_t kMostFollowedValues = 1 << 13;

/// The values that a type carries, if all are constants.
std::optional<std::vector<int64_t>> constant_values(const TensorType& type);
/// The values of host input `i`, which must be a vector of integers called `what`; or, where it is absent, `attribute`.
Result<SymbolicValues> dims_of(InferContext& cx, int i, std::span<const int64_t> attribute, const char* what);
/// Axes from the front, each once; `rank` is that of the tensor they belong to.
Result<std::vector<int>> distinct_axes(std::span<const int64_t> axes, int rank);
/// The same for axes that are an attribute or a constant host input `i`.
Result<std::vector<int>> axes_of(InferContext& cx, int i, std::span<const int64_t> attribute, int rank);

}  // namespace kiln
