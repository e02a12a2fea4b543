#include "tactics/timing_cache.h"

#include <cmath>
#include <cstring>

namespace kiln {
namespace {

constexpr uint32_t kMagic = 0x43544b4b;  // "KKTC"
constexpr uint32_t kVersion = 1;

struct Header {
  uint32_t magic, version;
  uint64_t device_bytes, entries;
  uint64_t checksum;  // of all that follows the header
};
struct Entry {
  uint64_t low, high;
  double time_us;
};

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
  const Header header{kMagic, kVersion, device_.size(), times_us_.size(), hash64(body)};
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
  if (header.magic != kMagic) return error(Code::kCorrupt, "timing cache: these bytes are not a timing cache of Kiln");
  if (header.version != kVersion)
    return error(Code::kVersion, "timing cache: version ", header.version, ", this Kiln reads ", kVersion);
  const std::span<const std::byte> body = bytes.subspan(sizeof header);
  if (header.device_bytes > body.size() || header.entries != (body.size() - header.device_bytes) / sizeof(Entry) ||
      (body.size() - header.device_bytes) % sizeof(Entry) != 0)
    return error(Code::kCorrupt, "timing cache: ", body.size(), " bytes do not hold ", header.entries, " entries");
  if (hash64(body) != header.checksum) return error(Code::kCorrupt, "timing cache: its checksum does not match");
  const std::string device(reinterpret_cast<const char*>(body.data()), header.device_bytes);
  if (device != device_identity)
    return error(Code::kVersion, "timing cache: made on '", device, "', this device is '", device_identity, "'");
  auto cache = std::make_unique<TimingCache>(device);
  for (uint64_t i = 0; i < header.entries; ++i) {
    Entry entry;
    std::memcpy(&entry, body.data() + header.device_bytes + i * sizeof entry, sizeof entry);
    // A time that is no number has no order, which sorting and searching rely on.
    if (!std::isfinite(entry.time_us) || entry.time_us < 0)
      return error(Code::kCorrupt, "timing cache: entry ", i, " is a time of ", entry.time_us, " us");
    cache->times_us_[{entry.low, entry.high}] = entry.time_us;
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

Status TimingCache::merge(const TimingCache& other, bool ignore_device_mismatch) {
  if (&other == this) return {};
  if (other.device_ != device_ && !ignore_device_mismatch)
    return error(Code::kVersion, "timing cache: made on '", other.device_, "', this one on '", device_, "'");
  const std::scoped_lock lock(mutex_, other.mutex_);
  for (const auto& [key, time_us] : other.times_us_) {
    const auto [at, inserted] = times_us_.emplace(key, time_us);
    if (!inserted && time_us < at->second) at->second = time_us;
  }
  return {};
}

void TimingCache::clear() {
  const std::lock_guard lock(mutex_);
  times_us_.clear();
}

std::vector<Hash128> TimingCache::keys() const {
  const std::lock_guard lock(mutex_);
  std::vector<Hash128> result;
  for (const auto& entry : times_us_) result.push_back(entry.first);
  return result;
}

}  // namespace kiln
