#include "passes/reshape_to.h"

#include <algorithm>

#include "ops/reshape.h"

namespace kiln::passes {

Result<ir::ValueId> reshape_to(ir::Patch& patch, ir::ValueId x, const Shape& shape) {
  const Shape& from = patch.type(x).shape;
  if (from == shape) return x;
  ops::Reshape reshape{.dims = {}, .zero_is_placeholder = false};
  for (const sym::Expr& extent : shape) reshape.dims.push_back(extent.constant().value_or(-1));
  const auto wildcards = std::ranges::count(reshape.dims, -1);
  const bool empty = std::ranges::count(reshape.dims, 0) > 0;  // what -1 stands for could then be any number
  sym::Expr have = patch.type(x).volume(), want = 1;
  for (const int64_t dim : reshape.dims) want *= dim == -1 ? 1 : dim;
  const auto wildcard = std::ranges::find(reshape.dims, -1) - reshape.dims.begin();
  if (wildcards == 0 ||
      (wildcards == 1 && !empty && sym::floor_div(have, want) == shape[static_cast<size_t>(wildcard)]))
    return patch.add(std::move(reshape), {x});
  reshape.dims.clear();
  return patch.add(std::move(reshape), {x, TRY(patch.add_values(shape))});
}

}  // namespace kiln::passes
