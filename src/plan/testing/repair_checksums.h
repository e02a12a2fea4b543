/// Makes the checksums of a damaged plan right again, so that the damage reaches what lies behind them.
#pragma once

#include <cstddef>
#include <span>

#include "base/hash.h"
#include "plan/layout.h"

namespace kiln::plan {

inline void repair_checksums(std::span<std::byte> bytes) {
  if (bytes.size() < kTableEnd) return;
  for (size_t i = 0; i < kNumSections; ++i) {
    std::byte* const row = bytes.data() + kHeaderBytes + i * kEntryBytes;
    const auto offset = load<uint64_t>(row + entry::kOffset), size = load<uint64_t>(row + entry::kSize);
    if (offset <= bytes.size() && size <= bytes.size() - offset)
      store(row + entry::kChecksum, hash64(bytes.subspan(offset, size)));
  }
  store(bytes.data() + header::kChecksum, uint64_t{0});
  store(bytes.data() + header::kChecksum, hash64(bytes.first(kTableEnd)));
}

}  // namespace kiln::plan
