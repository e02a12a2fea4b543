/// The memory that this CUDA runtime gave out or pinned, by address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace kiln::cudart {

enum class Memory : uint8_t { kDevice, kManaged, kHost, kRegistered };

struct Block {
  std::byte* data = nullptr;
  size_t size = 0;
  Memory memory = Memory::kDevice;
  unsigned int flags = 0;
  bool covers(const void* at, size_t count) const {
    const auto offset = static_cast<size_t>(static_cast<const std::byte*>(at) - data);
    return count <= size && offset <= size - count;
  }
};

/// Safe from any number of threads.
class Allocations {
 public:
  static Allocations& instance();

  /// False if it overlaps a block that is there.
  bool add(const Block& block);
  /// The block that holds an address.
  std::optional<Block> find(const void* at) const;
  /// Forgets the block that begins at `data` if it is of one of two kinds.
  std::optional<Block> take(const void* data, Memory one, Memory other);
  /// Forgets all that were allocated.
  std::vector<Block> take_all();

 private:
  mutable std::mutex mutex_;
  std::map<uintptr_t, Block> blocks_;
};

}  // namespace kiln::cudart
