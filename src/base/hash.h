/// 128-bit content hashes (XXH3).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kiln {

struct Hash128 {
  uint64_t low = 0, high = 0;
  auto operator<=>(const Hash128&) const = default;
};
void append(std::string& out, const Hash128& hash);  ///< 32 hexadecimal digits

Hash128 hash128(std::span<const std::byte> bytes);
Hash128 hash128(std::string_view text);
uint64_t hash64(std::span<const std::byte> bytes);
/// Order matters: combine(a, b) != combine(b, a).
Hash128 combine(const Hash128& a, const Hash128& b);

}  // namespace kiln
