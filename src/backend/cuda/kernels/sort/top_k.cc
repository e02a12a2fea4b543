#include "backend/cuda/kernels/sort/top_k.h"

#include <algorithm>
#include <bit>

namespace kiln::cuda {
namespace {

constexpr int64_t kAlignment = 256;

int64_t ceil_div(int64_t value, int64_t by) { return (value + by - 1) / by; }
int64_t aligned(int64_t bytes) { return ceil_div(bytes, kAlignment) * kAlignment; }

TopKCall call(const char* entry, int64_t blocks, int threads, int pass = 0) {
  TopKCall result{.entry = entry, .shape = {}, .pass = pass};
  result.shape.grid[0] = grid_blocks(blocks);
  result.shape.block[0] = static_cast<uint32_t>(threads);
  result.shape.pdl = true;
  return result;
}

void cut(TopKArgument& a, int64_t chunk_length) {
  a.chunk_length = static_cast<uint32_t>(chunk_length);
  a.chunks = static_cast<uint32_t>(ceil_div(a.length, chunk_length));
}

void plan_select(TopKPlan& plan, int64_t rows, int key_bits) {
  TopKArgument& a = plan.argument;
  cut(a, 4096);
  const int64_t blocks = rows * a.chunks;
  plan.counts_at = aligned(rows * static_cast<int64_t>(sizeof(TopKRow)));
  plan.ties_at = plan.counts_at + aligned(rows * kSelectBins * 4);
  plan.items_at = plan.ties_at + aligned(blocks * 4);
  plan.workspace_bytes = plan.items_at + rows * items_of_block(key_bits) * item_bytes(key_bits);
  plan.calls.push_back(call("top_k_begin", rows, kSortThreads));
  for (int high = key_bits; high > 0; high -= kSelectDigit)
    plan.calls.push_back(call("top_k_count", blocks, kSortThreads, high));
  plan.calls.push_back(call("top_k_ties", blocks, kSortThreads));
  plan.calls.push_back(call("top_k_gather", blocks, kSortThreads));
  plan.calls.push_back(call("top_k_finish", rows, kShortThreads));
}

void plan_sort(TopKPlan& plan, int64_t rows, int key_bits, int passes) {
  TopKArgument& a = plan.argument;
  cut(a, a.length < 1 << 20 ? 4096 : 16384);
  const int64_t blocks = rows * a.chunks;
  constexpr uint32_t kFewChunks = 32;  // one block finds their starts
  const bool many = a.chunks > kFewChunks;
  plan.totals_at = many ? aligned(blocks * kSortBins * 4) : 0;
  plan.items_at = aligned(blocks * kSortBins * 4) + (many ? aligned(rows * kSortBins * 4) : 0);
  plan.workspace_bytes = plan.items_at + 2 * rows * a.length * item_bytes(key_bits);
  for (int pass = 0; pass < passes; ++pass) {
    plan.calls.push_back(call("top_k_digits", blocks, kSortThreads, pass));
    plan.calls.push_back(many ? call("top_k_bin_starts", rows * kSortBins, kSortThreads)
                              : call("top_k_starts", rows, kShortThreads));
    plan.calls.push_back(call("top_k_move", blocks, kSortThreads, pass));
  }
}

TopKArgument argument_of(const TopKRows& r) {
  TopKArgument a;
  a.rows = static_cast<uint32_t>(r.lanes.outer * r.lanes.inner);
  a.inner = static_cast<uint32_t>(r.lanes.inner);
  a.length = static_cast<uint32_t>(r.lanes.length);
  a.k = static_cast<uint32_t>(r.k);
  a.is_largest = r.largest;
  a.is_wide = r.wide_indices;
  return a;
}

}  // namespace

TopKWay top_k_way(DType dtype, int64_t length, int64_t k) {
  const int64_t most = items_of_block(bits_of(dtype));
  return length <= most ? TopKWay::kShort : k <= most ? TopKWay::kSelect : TopKWay::kSort;
}

void TopKPlan::place(std::byte* workspace) {
  argument.states = reinterpret_cast<TopKRow*>(workspace);
  argument.counts = reinterpret_cast<uint32_t*>(workspace + counts_at);
  argument.totals = totals_at > 0 ? reinterpret_cast<uint32_t*>(workspace + totals_at) : nullptr;
  argument.chunk_ties = reinterpret_cast<uint32_t*>(workspace + ties_at);
  argument.items = workspace + items_at;
}

Result<TopKPlan> plan_top_k(const TopKRows& r) {
  TopKPlan plan;
  const int64_t rows = r.lanes.outer * r.lanes.inner;
  if (rows == 0 || r.k == 0) return plan;
  if (rows * ceil_div(std::max(r.k, r.lanes.length), kSortThreads) >= int64_t{1} << 31)
    return error(Code::kUnsupported, "a top_k of ", rows, " rows of ", r.lanes.length,
                 " elements; a grid has fewer than 2^31 blocks");
  TopKArgument& a = plan.argument = argument_of(r);
  const int key_bits = bits_of(r.dtype);
  switch (top_k_way(r.dtype, r.lanes.length, r.k)) {
    case TopKWay::kShort:
      a.padded = std::bit_ceil(a.length);
      plan.calls.push_back(call("top_k_short", ceil_div(rows, items_of_block(key_bits) / a.padded), kShortThreads));
      break;
    case TopKWay::kSelect: plan_select(plan, rows, key_bits); break;
    case TopKWay::kSort:
      plan_sort(plan, rows, key_bits, sort_passes(r.dtype));
      plan.calls.push_back(
          call("top_k_store", rows * ceil_div(a.k, kSortThreads), kSortThreads, key_bits / kSortDigit));
      break;
  }
  return plan;
}

TopKPlan plan_sorted_items(const TopKRows& r) { return plan_sorted_items(r, bits_of(r.dtype)); }

TopKPlan plan_sorted_items(const TopKRows& r, int bits) {
  TopKPlan plan{.argument = argument_of(r)};
  plan_sort(plan, plan.argument.rows, bits_of(r.dtype), static_cast<int>(ceil_div(bits, kSortDigit)));
  return plan;
}

}  // namespace kiln::cuda
