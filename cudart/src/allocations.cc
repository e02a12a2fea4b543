#include "allocations.h"

namespace kiln::cudart {
namespace {

uintptr_t number(const void* at) { return reinterpret_cast<uintptr_t>(at); }

}  // namespace

Allocations& Allocations::instance() {
  static Allocations& all = *new Allocations;  // never destroyed: destructors of the program may still free
  return all;
}

bool Allocations::add(const Block& block) {
  const std::lock_guard lock(mutex_);
  const auto next = blocks_.lower_bound(number(block.data));
  if (next != blocks_.end() && next->first - number(block.data) < block.size) return false;
  if (next != blocks_.begin()) {
    const Block& before = std::prev(next)->second;
    if (number(block.data) - number(before.data) < before.size) return false;
  }
  blocks_.emplace(number(block.data), block);
  return true;
}

std::optional<Block> Allocations::find(const void* at) const {
  const std::lock_guard lock(mutex_);
  const auto next = blocks_.upper_bound(number(at));
  if (next == blocks_.begin()) return std::nullopt;
  const Block& block = std::prev(next)->second;
  if (number(at) - number(block.data) >= block.size) return std::nullopt;
  return block;
}

std::optional<Block> Allocations::take(const void* data, Memory one, Memory other) {
  const std::lock_guard lock(mutex_);
  const auto at = blocks_.find(number(data));
  if (at == blocks_.end() || (at->second.memory != one && at->second.memory != other)) return std::nullopt;
  const Block block = at->second;
  blocks_.erase(at);
  return block;
}

std::vector<Block> Allocations::take_all() {
  const std::lock_guard lock(mutex_);
  std::vector<Block> all;
  for (const auto& [address, block] : blocks_)
    if (block.memory != Memory::kRegistered) all.push_back(block);
  blocks_.clear();
  return all;
}

}  // namespace kiln::cudart
