#include "tactics/timing_cache.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace kiln {
namespace {

constexpr uint32_t kMagic = 0x43544b4b;  // "KKTC"
constexpr uint32_t kVersion = 2;
constexpr uint32_t kLastConceivable = 0xffff;  // version: four letters are more

struct Header {
  uint32_t magic, version;
  uint64_t device_bytes, entries, assignments;
  uint64_t checksum;  // of all that follows the header
};
struct Entry {
  uint64_t low, high;
  double time_us;
};
struct AssignmentEntry {
  uint64_t low, high, tactic;
  double time_us;
};

/// A time that is no number has no order, which sorting and searching rely on.
Status check_time(double time_us, std::string_view entry, uint64_t index) {
  if (std::isfinite(time_us) && time_us >= 0) return {};
  return error(Code::kCorrupt, "timing cache: ", entry, " ", index, " is a time of ", time_us, " us");
}

template <class T>
void put(std::vector<std::byte>& out, const T* data, size_t count) {
  const size_t before = out.size();
  out.resize(before + count * sizeof(T));
  if (count > 0) std::memcpy(out.data() + before, data, count * sizeof(T));
}

}  // namespace

std::vector<std::byte> TimingCache::serialize() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::byte> body;
  put(body, device_.data(), device_.size());
  for (const auto& [key, time_us] : times_us_) {
    const Entry entry{key.low, key.high, time_us};
    put(body, &entry, 1);
  }
  for (const auto& [key, assigned] : assignments_) {
    const AssignmentEntry entry{key.low, key.high, assigned.tactic, assigned.time_us};
    put(body, &entry, 1);
  }
  const Header header{kMagic, kVersion, device_.size(), times_us_.size(), assignments_.size(), hash64(body)};
  std::vector<std::byte> out;
  put(out, &header, 1);
  put(out, body.data(), body.size());
  return out;
}

Result<std::unique_ptr<TimingCache>> TimingCache::parse(std::span<const std::byte> bytes,
                                                        const std::string& device_identity) {
  Header header;
  if (bytes.size() < sizeof header)
    return error(Code::kCorrupt, "timing cache: ", bytes.size(), " bytes are too few for a header");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != kMagic || header.version > kLastConceivable)
    return error(Code::kCorrupt, "timing cache: these bytes are not a timing cache of Kiln");
  if (header.version != kVersion)
    return error(Code::kVersion, "timing cache: version ", header.version, ", this Kiln reads ", kVersion);
  const std::span<const std::byte> body = bytes.subspan(sizeof header);
  const uint64_t list_bytes = body.size() - std::min<uint64_t>(header.device_bytes, body.size());
  const bool fits = header.device_bytes <= body.size() && header.entries <= list_bytes / sizeof(Entry) &&
                    header.assignments <= list_bytes / sizeof(AssignmentEntry) &&
                    header.entries * sizeof(Entry) + header.assignments * sizeof(AssignmentEntry) == list_bytes;
  if (!fits)
    return error(Code::kCorrupt, "timing cache: ", body.size(), " bytes do not hold ", header.entries, " entries and ",
                 header.assignments, " assignments");
  if (hash64(body) != header.checksum) return error(Code::kCorrupt, "timing cache: its checksum does not match");
  const std::string device(reinterpret_cast<const char*>(body.data()), header.device_bytes);
  if (device != device_identity)
    return error(Code::kVersion, "timing cache: made on '", device, "', this device is '", device_identity, "'");
  auto cache = std::make_unique<TimingCache>(device);
  for (uint64_t i = 0; i < header.entries; ++i) {
    Entry entry;
    std::memcpy(&entry, body.data() + header.device_bytes + i * sizeof entry, sizeof entry);
    TRY(check_time(entry.time_us, "entry", i));
    cache->times_us_[{entry.low, entry.high}] = entry.time_us;
  }
  const std::byte* const assignments = body.data() + header.device_bytes + header.entries * sizeof(Entry);
  for (uint64_t i = 0; i < header.assignments; ++i) {
    AssignmentEntry entry;
    std::memcpy(&entry, assignments + i * sizeof entry, sizeof entry);
    TRY(check_time(entry.time_us, "assignment", i));
    cache->assignments_[{entry.low, entry.high}] = {entry.tactic, entry.time_us};
  }
  return cache;
}

std::optional<double> TimingCache::find(const Hash128& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = times_us_.find(key);
  return found == times_us_.end() ? std::nullopt : std::optional(found->second);
}

void TimingCache::insert(const Hash128& key, double time_us) {
  const std::lock_guard lock(mutex_);
  times_us_[key] = time_us;
}

std::optional<TimingCache::Assignment> TimingCache::find_assignment(const Hash128& op) const {
  const std::lock_guard lock(mutex_);
  const auto found = assignments_.find(op);
  return found == assignments_.end() ? std::nullopt : std::optional(found->second);
}

void TimingCache::assign(const Hash128& op, const Assignment& assignment) {
  const std::lock_guard lock(mutex_);
  assignments_[op] = assignment;
}

bool TimingCache::erase(const Hash128& key) {
  const std::lock_guard lock(mutex_);
  return times_us_.erase(key) + assignments_.erase(key) > 0;
}

Status TimingCache::merge(const TimingCache& other, bool ignore_device_mismatch) {
  if (&other == this) return {};
  if (other.device_ != device_ && !ignore_device_mismatch)
    return error(Code::kVersion, "timing cache: made on '", other.device_, "', this one on '", device_, "'");
  const std::scoped_lock lock(mutex_, other.mutex_);
  for (const auto& [key, time_us] : other.times_us_) {
    const auto [at, inserted] = times_us_.emplace(key, time_us);
    if (!inserted && time_us < at->second) at->second = time_us;
  }
  assignments_.insert(other.assignments_.begin(), other.assignments_.end());
  return {};
}

void TimingCache::clear() {
  const std::lock_guard lock(mutex_);
  times_us_.clear();
  assignments_.clear();
}

std::vector<Hash128> TimingCache::keys() const {
  const std::lock_guard lock(mutex_);
  std::vector<Hash128> result;
  for (const auto& entry : times_us_) result.push_back(entry.first);
  for (const auto& entry : assignments_) result.push_back(entry.first);
  return result;
}

}  // namespace kiln
