/// Memory for a section, which grows as its bytes arrive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/error.h"
#include "plan/source.h"

namespace kiln::plan {

struct LoadedBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

/// Reads `size` bytes at `offset`, aligned to a page. A size that only the plan itself claims (the source's is unknown)
/// is believed as far as bytes arrive: at most twice what was read is ever mapped.
Result<LoadedBytes> load_bytes(Source& source, uint64_t offset, uint64_t size);

}  // namespace kiln::plan
