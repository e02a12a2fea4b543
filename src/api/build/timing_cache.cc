#include "api/build/timing_cache.h"

#include <cmath>
#include <cstring>

#include "api/base/convert.h"
#include "api/base/host_memory.h"
#include "api/base/network_handle.h"

namespace kiln::api {
namespace {

static_assert(sizeof(nv::TimingCacheKey) == sizeof(Hash128));
constexpr nv::TimingCacheValue kNoValue{nv::TimingCacheValue::kINVALID_TACTIC_HASH, 0};

Hash128 from_api(const nv::TimingCacheKey& key) {
  Hash128 hash;
  std::memcpy(&hash, key.data, sizeof hash);
  return hash;
}

}  // namespace

nv::IHostMemory* TimingCacheObject::serialize() const noexcept {
  return guard(reporter_, "ITimingCache::serialize", static_cast<nv::IHostMemory*>(nullptr),
               [&]() -> nv::IHostMemory* { return new HostMemory(cache_->serialize()); });
}

bool TimingCacheObject::combine(const nv::ITimingCache& inputCache, bool ignoreMismatch) noexcept {
  return guard(reporter_, "ITimingCache::combine", [&]() -> Status {
    const nv::ITimingCache* const other = address_of(inputCache);
    TRY(require(other != nullptr, "the cache is null"));
    TRY(require(other != this, "a cache cannot be combined with itself"));
    return cache_->merge(*static_cast<const TimingCacheObject*>(other)->cache_, ignoreMismatch);
  });
}

bool TimingCacheObject::reset() noexcept {
  return guard(reporter_, "ITimingCache::reset", [&] { cache_->clear(); });
}

int64_t TimingCacheObject::queryKeys(nv::TimingCacheKey* keyBuffer, int64_t capacity) const noexcept {
  return guard(reporter_, "ITimingCache::queryKeys", int64_t{-1}, [&]() -> Result<int64_t> {
    TRY(require(capacity >= 0, "capacity is ", capacity, "; it must not be negative"));
    const std::vector<Hash128> keys = cache_->keys();
    const auto count = static_cast<int64_t>(keys.size());
    for (int64_t i = 0; keyBuffer && i < count && i < capacity; ++i)
      std::memcpy(keyBuffer[i].data, &keys[static_cast<size_t>(i)], sizeof keyBuffer[i].data);
    return count;
  });
}

nv::TimingCacheValue TimingCacheObject::query(const nv::TimingCacheKey& key) const noexcept {
  return guard(reporter_, "ITimingCache::query", kNoValue, [&]() -> Result<nv::TimingCacheValue> {
    const nv::TimingCacheKey* const given = address_of(key);
    TRY(require(given != nullptr, "the key is null"));
    const Hash128 hash = from_api(*given);
    if (const auto assigned = cache_->find_assignment(hash))
      return nv::TimingCacheValue{assigned->tactic, static_cast<float>(assigned->time_us / 1000)};
    const auto time_us = cache_->find(hash);
    if (!time_us) return kNoValue;
    // A key is of one variant of one region: it is its own tactic.
    return nv::TimingCacheValue{hash.low, static_cast<float>(*time_us / 1000)};
  });
}

bool TimingCacheObject::update(const nv::TimingCacheKey& key, const nv::TimingCacheValue& value) noexcept {
  return guard(reporter_, "ITimingCache::update", [&]() -> Status {
    TRY(require(address_of(key) && address_of(value), "the key or the value is null"));
    const Hash128 hash = from_api(key);
    const bool is_assignment = cache_->find_assignment(hash).has_value();
    if (!is_assignment && !cache_->find(hash)) return error(Code::kNotFound, "the cache has no entry of that key");
    if (std::isnan(value.timingMSec)) {
      cache_->erase(hash);
      return {};
    }
    TRY(require(std::isfinite(value.timingMSec) && value.timingMSec >= 0, "timingMSec is ", value.timingMSec,
                "; it must be finite and not negative"));
    const double time_us = double{value.timingMSec} * 1000;
    if (is_assignment) {
      TRY(require(value.tacticHash != nv::TimingCacheValue::kINVALID_TACTIC_HASH,
                  "tacticHash is kINVALID_TACTIC_HASH"));
      cache_->assign(hash, {value.tacticHash, time_us});
    } else {
      TRY(require(value.tacticHash == hash.low, "tacticHash is ", value.tacticHash,
                  "; the key belongs to another tactic"));
      cache_->insert(hash, time_us);
    }
    return {};
  });
}

}  // namespace kiln::api
