#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kiln {

void append(std::string& out, const Hash128& hash) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const uint64_t half : {hash.high, hash.low})
    for (int shift = 60; shift >= 0; shift -= 4) out += kDigits[(half >> shift) & 15];
}

Hash128 hash128(std::span<const std::byte> bytes) {
  const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  return {h.low64, h.high64};
}
Hash128 hash128(std::string_view text) { return hash128(std::as_bytes(std::span(text))); }
uint64_t hash64(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

Hash128 combine(const Hash128& a, const Hash128& b) {
  const uint64_t words[4] = {a.low, a.high, b.low, b.high};
  return hash128(std::as_bytes(std::span(words)));
}

}  // namespace kiln
