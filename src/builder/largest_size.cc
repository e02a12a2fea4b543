#include "builder/largest_size.h"

#include <algorithm>
#include <optional>

#include "sym/assumption.h"

namespace kiln {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 46;

/// The most that an assumption leaves a volume that is equal to another one.
std::optional<int64_t> assumed_volume(const ir::Graph& graph, sym::Expr volume) {
  std::optional<int64_t> most;
  for (const sym::Assumption& assumption : graph.assumptions()) {
    if (assumption.relation != sym::Relation::kEqual) continue;
    for (const auto& [side, other] : {std::pair(assumption.lhs, assumption.rhs), {assumption.rhs, assumption.lhs}})
      if (sym::provably_equal(side, volume)) most = std::min(most.value_or(INT64_MAX), other.max());
  }
  return most;
}

}  // namespace

Result<int64_t> largest_size_bytes(const ir::Graph& graph, const TensorType& type, const Format& format) {
  const Result<int64_t> count = checked_volume(type.max_extents());
  if (count && *count <= kMostElements) return size_bytes(type.dtype, format.storage_volume(type.max_extents()));
  if (format.is_linear())
    if (const auto most = assumed_volume(graph, type.volume()); most && *most <= kMostElements)
      return size_bytes(type.dtype, *most);
  return error(Code::kInvalidArgument, "it is ", type, ", at most ", type.max_extents(),
               ": its size overflows; narrow the optimization profile's maximum");
}

}  // namespace kiln
