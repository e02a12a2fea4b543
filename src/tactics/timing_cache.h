/// Times by region and variant, kept between builds: a hint, never needed. And tactics that are assigned to ops, which
/// builds that ask for them obey.
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

  /// A tactic of an op, by its hash (assignments.h), and its time.
  struct Assignment {
    uint64_t tactic = 0;
    double time_us = 0;
    bool operator==(const Assignment&) const = default;
  };

  std::optional<double> find(const Hash128& key) const;
  void insert(const Hash128& key, double time_us);  ///< finite, not negative
  std::optional<Assignment> find_assignment(const Hash128& op) const;
  void assign(const Hash128& op, const Assignment& assignment);  ///< its time finite, not negative
  /// Whether there was an entry, a time or an assignment.
  bool erase(const Hash128& key);
  /// Adds the entries of `other`; where both have a key, `other`'s time wins only if it is smaller, its assignment
  /// never.
  Status merge(const TimingCache& other, bool ignore_device_mismatch);
  std::vector<std::byte> serialize() const;  ///< equal caches give equal bytes
  void clear();
  std::vector<Hash128> keys() const;  ///< of times, then of assignments
  const std::string& device_identity() const { return device_; }

 private:
  std::string device_;
  mutable std::mutex mutex_;
  std::map<Hash128, double> times_us_;
  std::map<Hash128, Assignment> assignments_;  ///< by op
};

}  // namespace kiln
