#include "ops/transpose.h"

#include "ops/define.h"
#include "ops/movement.h"

namespace kiln {
template const OpInfo& op_info<ops::Transpose>();

Status require_permutation(std::span<const int64_t> perm, int rank) {
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  bool sound = static_cast<int>(perm.size()) == rank;
  for (const int64_t axis : perm) {
    sound = sound && axis >= 0 && axis < rank && !seen[static_cast<size_t>(axis)];
    if (!sound) break;
    seen[static_cast<size_t>(axis)] = true;
  }
  return require(sound, "perm ", perm, " is not a permutation of ", rank, " axes");
}

std::vector<int64_t> axis_to_front(int rank, int axis) {
  std::vector<int64_t> perm{axis};
  for (int i = 0; i < rank; ++i)
    if (i != axis) perm.push_back(i);
  return perm;
}

std::vector<int64_t> front_to_axis(int rank, int axis) {
  std::vector<int64_t> perm;
  for (int i = 1; i < rank; ++i) perm.push_back(i);
  perm.insert(perm.begin() + axis, 0);
  return perm;
}

Sources transpose_sources(std::span<const int64_t> from, std::span<const int64_t> perm) {
  const Extents strides = row_major_strides(from);
  Extents to;
  for (const int64_t axis : perm) to.push_back(from[static_cast<size_t>(axis)]);
  Sources sources(static_cast<size_t>(volume(to)));
  for_each_index(to, [&](int64_t linear, std::span<const int64_t> index) {
    int64_t source = 0;
    for (size_t i = 0; i < perm.size(); ++i) source += index[i] * strides[static_cast<size_t>(perm[i])];
    sources[static_cast<size_t>(linear)] = source;
  });
  return sources;
}

namespace ops {

Status Transpose::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  TRY(in_context(require_permutation(perm, x.rank()), [&] { return str("x is ", x); }));
  kiln::Shape shape;
  for (const int64_t axis : perm) shape.push_back(x.shape[static_cast<size_t>(axis)]);
  return set_moved_output(cx, 0, TensorType(x.dtype, std::move(shape)),
                          [&](const Extents& from, const Extents&) { return transpose_sources(from, perm); });
}

Status Transpose::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  move_elements(x, TRY(cx.output(0)), transpose_sources(x.extents(), perm));
  return {};
}

}  // namespace ops
}  // namespace kiln
