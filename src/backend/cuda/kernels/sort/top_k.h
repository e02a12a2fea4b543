/// The first k elements of rows in the order of their sort keys, by the kernels of top_k.cuh.
#pragma once

#include <vector>

#include "backend/cuda/device/module.h"
#include "backend/cuda/kernels/sort/arguments.h"
#include "base/error.h"
#include "steps/lane_extents.h"
#include "tensor/dtype.h"

namespace kiln::cuda {

/// Ways to sort, by the length of rows and by k.
enum class TopKWay : uint8_t {
  kShort,   ///< a row fits a block
  kSelect,  ///< k items fit a block
  kSort     ///< neither does
};
TopKWay top_k_way(DType dtype, int64_t length, int64_t k);

struct TopKCall {
  const char* entry;
  LaunchShape shape;
  int pass = 0;  ///< the kernel's second argument, where it has one
};
struct TopKPlan {
  TopKArgument argument;
  std::vector<TopKCall> calls;
  int64_t workspace_bytes = 0;

  /// Gives the argument its parts of the workspace.
  void place(std::byte* workspace);
  int64_t counts_at = 0, ties_at = 0, totals_at = 0, items_at = 0;  ///< behind the states; totals: 0: none
};
struct TopKRows {
  LaneExtents lanes;
  int64_t k = 1;
  DType dtype = DType::kF32;
  bool largest = true, wide_indices = false;
};
/// Rows are shorter than kMostSorted. kUnsupported where blocks are too many for a grid.
Result<TopKPlan> plan_top_k(const TopKRows& rows);

/// Sorts all elements of rows, and stores nothing: the argument's items are what it makes.
TopKPlan plan_sorted_items(const TopKRows& rows);
/// The same for keys that differ in their lowest `bits` bits alone.
TopKPlan plan_sorted_items(const TopKRows& rows, int bits);
/// How many passes those are.
inline int sort_passes(DType dtype) { return bits_of(dtype) / kSortDigit; }

}  // namespace kiln::cuda
