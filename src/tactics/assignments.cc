#include "tactics/assignments.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "plan/kernel_name.h"
#include "tactics/region.h"

namespace kiln {
namespace {

std::string name_of_op(const TacticContext& cx, const Region& region) {
  std::string names = names_of(cx.graph, region);
  return names.empty() ? std::string(cx.graph.node(region.nodes.back()).op.name()) : names;
}

/// A byte is two digits, the first byte first.
std::string text_of(const Hash128& key) {
  unsigned char bytes[sizeof key];
  std::memcpy(bytes, &key, sizeof key);
  std::string text = "0x";
  for (const unsigned char byte : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return text;
}

std::string text_of(uint64_t tactic) {
  char digits[19];
  std::snprintf(digits, sizeof digits, "0x%llx", static_cast<unsigned long long>(tactic));
  return digits;
}

std::string number(double value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.7f", value);
  return digits;
}

struct Row {
  double time_us;
  uint64_t tactic;
  std::string kernel;
};

/// The table's rows, the fastest first. The reference is not measured: its row shows the price that the cover assumes.
std::vector<Row> rows_of(const TacticContext& cx, const Choices& choices, const std::vector<size_t>& group) {
  std::vector<Row> rows;
  for (const size_t i : group)
    for (const Candidate& candidate : choices[i].candidates)
      if (candidate.failure.empty() && (choices[i].timed || choices[i].penalty_us > 0))
        rows.push_back({candidate.time_us + choices[i].penalty_us, tactic_hash(cx, choices[i].region, candidate),
                        plan::kernel_name(candidate.tactic->name(), candidate.variant.name)});
  std::ranges::stable_sort(rows, {}, &Row::time_us);
  return rows;
}

}  // namespace

Hash128 op_key(const TacticContext& cx, const Region& region) {
  std::string text = str("op|", cx.device.identity(), '|', to_record(cx.numerics));
  const auto add = [&](ir::ValueId id) {
    if (id == ir::ValueId::kNone) return text += "|-", void();
    const TensorType& type = cx.graph.type(id);
    text += str('|', type.dtype, type.opt_extents(), type.max_extents(), cx.graph.constant(id) ? "c" : "");
  };
  for (const ir::NodeId id : region.nodes) {
    const ir::Node& node = cx.graph.node(id);
    // Layers without a name are told apart by their place, which is the same whenever this network is built.
    text += str('|', ir::index(id), '|', node.name, '|', node.op);
    std::ranges::for_each(node.inputs, add);
    std::ranges::for_each(node.outputs, add);
  }
  return hash128(std::string_view(text));
}

uint64_t tactic_hash(const TacticContext& cx, const Region& region, const Candidate& candidate) {
  return timing_key(cx, region, candidate).low;
}

Status assign(const TacticContext& cx, Choices& choices, const std::vector<size_t>& group,
              const TimingCache::Assignment& assigned) {
  const auto layer = [&] { return str("layer '", name_of_op(cx, choices[group.front()].region), "': "); };
  bool found = false;
  for (const size_t i : group) {
    Choice& choice = choices[i];
    for (Candidate& candidate : choice.candidates) {
      const bool is_it = tactic_hash(cx, choice.region, candidate) == assigned.tactic;
      if (is_it && !candidate.failure.empty())
        return error(Code::kState, layer(), "the timing cache assigns it tactic ", text_of(assigned.tactic),
                     ", which fails: ", candidate.failure);
      if (is_it) {
        candidate.time_us = assigned.time_us;
        choice.penalty_us = 0;
        choice.assigned = true;
        found = true;
      } else {
        candidate.failure = str("the timing cache assigns tactic ", text_of(assigned.tactic));
      }
    }
  }
  return require(found, layer(), "the timing cache assigns it tactic ", text_of(assigned.tactic),
                 ", which is not one of those that can run it here");
}

void record_assignment(const TacticContext& cx, const Choices& choices, const std::vector<size_t>& group, size_t chosen,
                       size_t candidate, TimingCache& cache, Log& log) {
  const Region& region = choices[chosen].region;
  const std::vector<Row> rows = rows_of(cx, choices, group);
  const uint64_t tactic = tactic_hash(cx, region, choices[chosen].candidates[candidate]);
  const double time_us = choices[chosen].candidates[candidate].time_us;
  const Hash128 key = op_key(cx, region);
  const double fastest_us = rows.empty() ? 0 : rows.front().time_us;
  log.verbose("Autotuning op ", name_of_op(cx, region), "(key: ", text_of(key), "):");
  log.verbose("Sorted table of all evaluated tactics:");
  log.verbose(
      "tactic_id, cost(in ms), cost/fastest_cost, prediction_correlation, kernel_name, tactic_hash, tunable_parameter");
  for (size_t i = 0; i < rows.size(); ++i)
    log.verbose("   ", i, ", ", number(rows[i].time_us / 1000), ", ",
                number(fastest_us > 0 ? rows[i].time_us / fastest_us : 1), ", 0.0, ", rows[i].kernel, ", ",
                text_of(rows[i].tactic), ",");
  log.verbose("The selected tactic is (tactic hash, cost(in ms)):", text_of(tactic), ",  ", number(time_us / 1000));
  log.verbose("Writing the best tactic (", text_of(tactic), ") to cache");
  cache.assign(key, {tactic, time_us});
}

}  // namespace kiln
