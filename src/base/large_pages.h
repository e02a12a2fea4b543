/// Memory in pages of 2 MiB, where the system has some to spare: walking through it misses the TLB less.
#pragma once

#include <cstddef>

namespace kiln {

inline constexpr size_t kLargePage = size_t{2} << 20;

/// Memory of `bytes`, a multiple of `alignment` (a power of two), for `std::free`; null without memory. From kLargePage
/// on it begins at a large page, and as many of those as it fills are asked for.
void* allocate_in_large_pages(size_t alignment, size_t bytes);

}  // namespace kiln
