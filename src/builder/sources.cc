#include "builder/sources.h"

#include <set>

#include "ir/source_names.h"
#include "ops/constant.h"

namespace kiln {
namespace {

template <class Each>
void for_each_constant(const ir::Graph& graph, Each each) {
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (const auto* constant = graph.alive(id) ? graph.node(id).op.as<ops::Constant>() : nullptr) each(id, *constant);
  }
}

}  // namespace

ir::Graph with_sources(const ir::Graph& network) {
  ir::Graph graph = network.clone();
  std::set<std::string> names = ir::source_names(network);
  for_each_constant(network, [&](ir::NodeId id, const ops::Constant& constant) {
    const std::string& name = network.value(network.node(id).outputs[0]).name;
    if (constant.origin || constant.is_read || !is_float(constant.value.dtype()) || name.empty()) return;
    graph.set_origin(id, source_origin(ir::take_name(names, name), constant.value));
  });
  return graph;
}

FixedSources read_sources(const ir::Graph& network) {
  FixedSources fixed;
  for_each_constant(network, [&](ir::NodeId, const ops::Constant& constant) {
    if (constant.is_read) kiln::fix(fixed, constant.origin, "an attribute has its elements");
  });
  return fixed;
}

int WeightTable::add(std::string name, const HostTensor& value, const Hash128& origin, plan::DataRef from) {
  const Hash128 elements = hash128(value);
  const auto [at, is_new] = index_.emplace(combine(elements, origin), static_cast<int>(weights_.size()));
  if (!is_new) return at->second;
  const auto [first, is_first] = first_.emplace(elements, at->second);
  const HostTensor& stored = is_first ? value : weights_[static_cast<size_t>(first->second)].value;
  weights_.push_back({std::move(name), HostTensor(stored), from, is_first ? -1 : first->second});
  return at->second;
}

int SourceTable::add_weight(std::string name, const ops::Constant& constant) {
  if (!constant.origin) return weights_.add(std::move(name), constant.value);
  return weights_.add(std::move(name), constant.value, constant.origin->hash, ref(*constant.origin));
}

plan::DataRef SourceTable::ref(const Origin& origin) {
  if (!origin.source.empty()) return {.source = source(origin.source, origin.dtype, origin.extents)};
  if (const auto known = derived_.find(origin.hash); known != derived_.end()) return {.derived = known->second};
  plan::Derived derived{
      .op = origin.op, .output = origin.output, .inputs = {}, .dtype = origin.dtype, .extents = origin.extents};
  for (const Origin::Input& input : origin.inputs) {
    if (input.origin)
      derived.inputs.push_back(ref(*input.origin));
    else
      derived.inputs.push_back(input.present ? plan::DataRef{.weight = weights_.add("", input.data)} : plan::DataRef{});
  }
  const auto index = static_cast<int>(plan_.derived.size());
  plan_.derived.push_back(std::move(derived));
  derived_.emplace(origin.hash, index);
  return {.derived = index};
}

int SourceTable::source(const std::string& name, DType dtype, const Extents& extents) {
  const auto [at, is_new] = sources_.emplace(name, static_cast<int>(plan_.sources.size()));
  if (is_new) plan_.sources.push_back({.name = name, .dtype = dtype, .extents = extents, .fixed = {}, .checksum = {}});
  return at->second;
}

void SourceTable::fix(const ir::Graph& network, const FixedSources& fixed) {
  for_each_constant(network, [&](ir::NodeId, const ops::Constant& constant) {
    if (!constant.origin || !fixed.contains(constant.origin->source)) return;
    const int index = source(constant.origin->source, constant.value.dtype(), constant.value.extents());
    plan_.sources[static_cast<size_t>(index)].checksum = str(hash128(constant.value));
  });
  for (const auto& [name, reason] : fixed)
    if (const auto found = sources_.find(name); found != sources_.end())
      plan_.sources[static_cast<size_t>(found->second)].fixed = reason;
}

}  // namespace kiln
