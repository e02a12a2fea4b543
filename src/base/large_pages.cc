#include "base/large_pages.h"

#include <sys/mman.h>

#include <cstdlib>

namespace kiln {

void* allocate_in_large_pages(size_t alignment, size_t bytes) {
  if (bytes < kLargePage) return std::aligned_alloc(alignment, bytes);
  void* memory = nullptr;
  if (posix_memalign(&memory, kLargePage, bytes) != 0) return nullptr;
  ::madvise(memory, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);  // if it is refused, the pages are small
  return memory;
}

}  // namespace kiln
