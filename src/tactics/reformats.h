/// The cost of bringing a value from one format to another.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "tactics/tactic.h"

namespace kiln {

/// Whether a tensor's elements lie in the same order in both formats: the axes whose order differs have extent 1.
bool same_layout(const TensorType& type, const Format& a, const Format& b);

/// Whether copies go by way of the linear format: both lie in blocks, and in other ones.
bool meet_in_linear(const Format& a, const Format& b);

/// Whether inputs and outputs of the graph may be brought to other formats, if that is cheap, or only if nothing else
/// can be done.
enum class AtSurface { kAllowed, kAvoided };

/// Formats as small numbers, and the costs of reformats between them, each asked of the backend once.
class Reformats {
 public:
  Reformats(const ir::Graph& graph, const Backend& backend, AtSurface at_surface)
      : graph_(graph), backend_(backend), at_surface_(at_surface) {}
  int number_of(const Format& format);
  /// 0 where the layouts are the same.
  double cost_us(ir::ValueId value, int from, int to);

 private:
  const ir::Graph& graph_;
  const Backend& backend_;
  const AtSurface at_surface_;
  std::vector<Format> formats_;
  std::map<std::tuple<ir::ValueId, int, int>, double> costs_;
};

}  // namespace kiln
