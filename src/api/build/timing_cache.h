/// ITimingCache over a timing cache that configurations share.
#pragma once

#include <NvInfer.h>

#include <memory>

#include "api/base/guard.h"
#include "tactics/timing_cache.h"

namespace kiln::api {

namespace nv = nvinfer1;

class TimingCacheObject final : public nv::ITimingCache, public nv::apiv::VTimingCache {
 public:
  TimingCacheObject(std::shared_ptr<TimingCache> cache, const Reporter& reporter)
      : cache_(std::move(cache)), reporter_(reporter) {
    mImpl = this;
  }
  const std::shared_ptr<TimingCache>& cache() const { return cache_; }

  // VTimingCache.
  nv::IHostMemory* serialize() const noexcept override;
  bool combine(const nv::ITimingCache& inputCache, bool ignoreMismatch) noexcept override;
  bool reset() noexcept override;
  int64_t queryKeys(nv::TimingCacheKey* keyBuffer, int64_t capacity) const noexcept override;
  nv::TimingCacheValue query(const nv::TimingCacheKey& key) const noexcept override;
  bool update(const nv::TimingCacheKey& key, const nv::TimingCacheValue& value) noexcept override;

 private:
  std::shared_ptr<TimingCache> cache_;
  Reporter reporter_;
};

}  // namespace kiln::api
