/// New keys or values written into a cache.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y is the cache, but y[b, :, at[b] + s, :] = update[b, :, s, :]. Rows outside of the cache are left out.
///   in   cache   f32, f16 or bf16 [batch, heads, most, size]
///        update  cache's type [batch, heads, length, size], length <= most
///        at      i32 or i64 [batch]
///   out  y       cache's type and shape; it may be the cache's memory
struct KvCacheUpdate {
  static constexpr std::string_view name = "KvCacheUpdate";
  static constexpr Trait traits = Trait::kDecomposed;
  static constexpr int min_inputs = 3, max_inputs = 3;
  static void reflect(auto&, auto) {}
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
