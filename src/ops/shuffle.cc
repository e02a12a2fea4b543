#include "ops/shuffle.h"

#include <numeric>

#include "ops/define.h"
#include "ops/movement.h"
#include "ops/reshape.h"
#include "ops/transpose.h"

namespace kiln {
template const OpInfo& op_info<ops::Shuffle>();

namespace {
std::vector<int64_t> perm_or_identity(const std::vector<int64_t>& perm, size_t rank) {
  if (!perm.empty()) return perm;
  std::vector<int64_t> identity(rank);
  std::iota(identity.begin(), identity.end(), 0);
  return identity;
}
template <class T>
std::vector<T> permuted(const std::vector<T>& extents, const std::vector<int64_t>& perm) {
  std::vector<T> result;
  for (const int64_t axis : perm_or_identity(perm, extents.size()))
    result.push_back(extents[static_cast<size_t>(axis)]);
  return result;
}
/// Sources of the elements of y, of extents `to`.
Sources shuffle_sources(const ops::Shuffle& op, const Extents& from, const Extents& to) {
  const Sources first = transpose_sources(from, perm_or_identity(op.first_perm, from.size()));
  const std::vector<int64_t> perm = perm_or_identity(op.second_perm, to.size());
  Extents middle(to.size());
  for (size_t i = 0; i < to.size(); ++i) middle[static_cast<size_t>(perm[i])] = to[i];
  Sources sources = transpose_sources(middle, perm);
  for (int64_t& source : sources) source = first[static_cast<size_t>(source)];
  return sources;
}
}  // namespace

namespace ops {

Status Shuffle::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  if (!first_perm.empty())
    TRY(in_context(require_permutation(first_perm, x.rank()), [&] { return str("first transpose of ", x); }));
  TensorType middle(x.dtype, permuted(x.shape, first_perm));
  if (reshape || cx.has_input(1))
    middle.shape = TRY(reshaped(cx, middle, TRY(dims_of(cx, 1, dims, "shape")), zero_is_placeholder));
  if (!second_perm.empty())
    TRY(in_context(require_permutation(second_perm, middle.rank()),
                   [&] { return str("second transpose of ", middle); }));
  return set_moved_output(cx, 0, TensorType(x.dtype, permuted(middle.shape, second_perm)),
                          [&](const Extents& from, const Extents& to) { return shuffle_sources(*this, from, to); });
}

Status Shuffle::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  const MutableView y = TRY(cx.output(0));
  move_elements(x, y, shuffle_sources(*this, x.extents(), y.extents()));
  return {};
}

}  // namespace ops
}  // namespace kiln
