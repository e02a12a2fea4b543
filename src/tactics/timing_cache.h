/// Times by region and variant, kept between builds. A hint, never needed.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/hash.h"

namespace kiln {

/// Safe from several threads.
class TimingCache {
 public:
  explicit TimingCache(std::string device_identity) : device_(std::move(device_identity)) {}
  /// Reads what `serialize` wrote. Fails on damage, another version or another device; the caller goes on with an
  /// empty cache and a warning.
  static Result<std::unique_ptr<TimingCache>> parse(std::span<const std::byte> bytes,
                                                    const std::string& device_identity);

  std::optional<double> find(const Hash128& key) const;
  void insert(const Hash128& key, double time_us);  ///< finite, not negative
  /// Adds the entries of `other`; where both have a key, `other`'s time wins only if it is smaller.
  Status merge(const TimingCache& other, bool ignore_device_mismatch);
  std::vector<std::byte> serialize() const;  ///< equal caches give equal bytes
  void clear();
  std::vector<Hash128> keys() const;
  const std::string& device_identity() const { return device_; }

 private:
  std::string device_;
  mutable std::mutex mutex_;
  std::map<Hash128, double> times_us_;
};

}  // namespace kiln
