/// Makes the tensors and steps of a plan's profile from a cover.
#pragma once

#include <map>

#include "plan/plan.h"
#include "tactics/cover.h"

namespace kiln {

/// Weights of a plan, each stored once however many profiles and steps read it.
class WeightTable {
 public:
  explicit WeightTable(std::vector<plan::Weight>& weights) : weights_(weights) {}
  int add(std::string name, const HostTensor& value);

 private:
  std::vector<plan::Weight>& weights_;
  std::map<Hash128, int> index_;
};

/// Fills `profile.tensors`, `.steps` and `.arena_bytes`. `graph` is the one that was covered. Steps may run on as many
/// auxiliary streams.
Status emit_profile(const ir::Graph& graph, const Cover& cover, const Backend& backend, const CoverOptions& options,
                    int most_aux_streams, WeightTable& weights, WeightTable& binaries, plan::Profile& profile);

}  // namespace kiln
