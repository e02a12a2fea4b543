/// A function of bytes by its 256 values.
#pragma once

#include <cstdint>

namespace kiln::cpu {

inline constexpr int64_t kBytes = 256;

/// to[i] = table[from[i]]; `to` may be `from`. `table` has kBytes.
void look_up(const uint8_t* table, const uint8_t* from, int64_t count, uint8_t* to);

}  // namespace kiln::cpu
