#include "plan/checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kiln::plan {

struct Checksum::State {
  XXH3_state_t xxh;
};

Checksum::Checksum() : state_(new State) { XXH3_64bits_reset(&state_->xxh); }
Checksum::~Checksum() = default;
void Checksum::add(std::span<const std::byte> bytes) {
  if (!bytes.empty()) XXH3_64bits_update(&state_->xxh, bytes.data(), bytes.size());
}
uint64_t Checksum::value() const { return XXH3_64bits_digest(&state_->xxh); }

}  // namespace kiln::plan
