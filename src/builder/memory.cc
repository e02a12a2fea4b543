#include "builder/memory.h"

#include <algorithm>
#include <climits>
#include <numeric>
#include <tuple>

namespace kiln {
namespace {

struct Block {
  int64_t begin = 0, end = 0;  ///< bytes
  int first = 0, last = 0;     ///< steps
};

/// Placed blocks, sorted by offset and then by first step. In a long network most blocks live for a few steps only. So
/// neighbours are kept in chunks that know the steps in which any of their blocks lives, and a search skips whole
/// chunks of other times.
class PlacedBlocks {
 public:
  /// Calls `visit` for the blocks that live at the same time as `life`, in order of offset, until it returns false.
  template <class F>
  void for_each_beside(const Lifetime& life, F visit) const {
    for (const Chunk& chunk : chunks_) {
      if (chunk.last < life.first || life.last < chunk.first) continue;
      for (const Block& block : chunk.blocks)
        if (block.last >= life.first && life.last >= block.first && !visit(block)) return;
    }
  }

  void insert(const Block& block) {
    const auto behind = [](const Block& a, const Block& b) {
      return std::tie(a.begin, a.first) < std::tie(b.begin, b.first);
    };
    if (chunks_.empty()) chunks_.emplace_back();
    auto chunk = std::ranges::upper_bound(chunks_, block, behind,
                                          [](const Chunk& c) { return c.blocks.empty() ? Block{} : c.blocks.front(); });
    if (chunk != chunks_.begin()) --chunk;
    chunk->blocks.insert(std::ranges::upper_bound(chunk->blocks, block, behind), block);
    chunk->first = std::min(chunk->first, block.first);
    chunk->last = std::max(chunk->last, block.last);
    if (chunk->blocks.size() > kMost) split(chunk);
  }

 private:
  struct Chunk {
    std::vector<Block> blocks;
    int first = INT_MAX, last = INT_MIN;  ///< of all of them
  };
  static constexpr size_t kMost = 128;

  void split(std::vector<Chunk>::iterator chunk) {
    const std::vector<Block> all = std::move(chunk->blocks);
    const auto middle = all.begin() + static_cast<ptrdiff_t>(all.size() / 2);
    *chunk = chunk_of({all.begin(), middle});
    chunks_.insert(chunk + 1, chunk_of({middle, all.end()}));
  }
  static Chunk chunk_of(std::vector<Block> blocks) {
    Chunk chunk{std::move(blocks)};
    for (const Block& block : chunk.blocks) {
      chunk.first = std::min(chunk.first, block.first);
      chunk.last = std::max(chunk.last, block.last);
    }
    return chunk;
  }

  std::vector<Chunk> chunks_;
};

}  // namespace

MemoryPlan plan_memory(std::span<const Lifetime> lifetimes) {
  constexpr int64_t kAlign = 256;
  const auto rounded = [](int64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; };
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].size_bytes > lifetimes[b].size_bytes; });
  MemoryPlan plan{std::vector<int64_t>(lifetimes.size(), 0), 0};
  PlacedBlocks placed;
  for (const size_t i : order) {
    const Lifetime& life = lifetimes[i];
    const int64_t size = rounded(life.size_bytes);
    int64_t offset = 0;
    placed.for_each_beside(life, [&](const Block& other) {
      if (offset + size <= other.begin) return false;
      offset = std::max(offset, other.end);
      return true;
    });
    plan.offsets[i] = offset;
    plan.total_bytes = std::max(plan.total_bytes, offset + size);
    placed.insert({offset, offset + size, life.first, life.last});
  }
  return plan;
}

}  // namespace kiln
