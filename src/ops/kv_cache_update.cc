#include "ops/kv_cache_update.h"

#include "ops/define.h"
#include "ops/pointwise.h"

namespace kiln {
template const OpInfo& op_info<ops::KvCacheUpdate>();

namespace ops {

Status KvCacheUpdate::infer(InferContext& cx) const {
  const TensorType &cache = TRY(cx.input(0)), &update = TRY(cx.input(1)), &at = TRY(cx.input(2));
  TRY(cx.require(is_compute_float(cache.dtype) && cache.rank() == 4, "cache is ", cache,
                 "; f32, f16 or bf16 [batch, heads, most, size] is needed"));
  TRY(cx.require(update.dtype == cache.dtype && update.rank() == 4, "update is ", update, " and cache ", cache,
                 "; one type and four axes are needed"));
  TRY(cx.require(is_index(at.dtype) && at.rank() == 1, "writeIndices are ", at, "; i32 or i64 [batch] are needed"));
  for (const size_t axis : {0, 1, 3})
    TRY(cx.assume_equal(update.shape[axis], cache.shape[axis],
                        str("axis ", axis, " of update ", update, " and cache ", cache)));
  TRY(cx.assume_equal(at.shape[0], cache.shape[0], str("batches of writeIndices ", at, " and cache ", cache)));
  TRY(sym::assume(cx.assumptions(), {sym::Relation::kLessEqual, update.shape[2], cache.shape[2],
                                     str("length of update ", update, " within cache ", cache)}));
  return cx.set_output(0, cache, cache.shape);
}

Status KvCacheUpdate::reference(ReferenceContext& cx) const {
  const View cache = TRY(cx.input(0)), update = TRY(cx.input(1)), at = TRY(cx.input(2));
  const MutableView y = TRY(cx.output(0));
  const int64_t heads = cache.extents()[1], most = cache.extents()[2], size = cache.extents()[3];
  const int64_t length = update.extents()[2];
  for (int64_t i = 0; i < y.volume(); ++i) {
    const int64_t row = i / size, head = row / most, place = row % most - at.integer(head / heads);
    if (place >= 0 && place < length)
      y.copy_element(i, update, (head * length + place) * size + i % size);
    else
      y.copy_element(i, cache, i);
  }
  return {};
}

}  // namespace ops
}  // namespace kiln
