/// The named sources of a network's weights, and how a plan keeps where its weights come from.
#pragma once

#include <map>
#include <string>

#include "ir/graph.h"
#include "plan/plan.h"

namespace kiln {

/// A copy of the network in which every named constant of a float type is a source: weights that a program gave
/// through the network API. An importer has named those of a model. No two sources have one name.
ir::Graph with_sources(const ir::Graph& network);
/// Sources whose elements an importer put into attributes.
FixedSources read_sources(const ir::Graph& network);

/// Weights of a plan, or its binaries: those of equal elements and origin are one, and equal elements are stored once.
class WeightTable {
 public:
  explicit WeightTable(std::vector<plan::Weight>& weights) : weights_(weights) {}
  int add(std::string name, const HostTensor& value, const Hash128& origin = {}, plan::DataRef from = {});

 private:
  std::vector<plan::Weight>& weights_;
  std::map<Hash128, int> index_;  // by elements and origin
  std::map<Hash128, int> first_;  // by elements alone
};

/// Fills a plan's weights, sources and derived elements.
class SourceTable {
 public:
  explicit SourceTable(plan::Plan& plan) : plan_(plan), weights_(plan.weights) {}

  int add_weight(std::string name, const ops::Constant& constant);
  /// Lists the sources that cannot be replaced and why, with checksums of those that are constants of the network.
  void fix(const ir::Graph& network, const FixedSources& fixed);

 private:
  plan::DataRef ref(const Origin& origin);
  int source(const std::string& name, DType dtype, const Extents& extents);

  plan::Plan& plan_;
  WeightTable weights_;
  std::map<std::string, int> sources_;
  std::map<Hash128, int> derived_;
};

}  // namespace kiln
