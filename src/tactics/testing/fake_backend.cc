#include "tactics/testing/fake_backend.h"

#include <algorithm>
#include <set>

namespace kiln::testing {
namespace {

constexpr size_t kLongestTail = 3;

bool is_pointwise(const ir::Graph& graph, ir::NodeId id) { return graph.node(id).op.has(Trait::kPointwise); }

/// The producer of a value that nobody else sees.
ir::NodeId private_producer(const ir::Graph& graph, ir::ValueId value) {
  return graph.num_uses(value) == 1 && !graph.constant(value) ? graph.value(value).producer : ir::NodeId::kNone;
}

Region region_of(const ir::Graph& graph, std::vector<ir::NodeId> nodes) {
  std::ranges::sort(nodes);
  Region region{nodes, {}, graph.node(nodes.back()).outputs, {}};
  for (const ir::NodeId id : nodes)
    for (const ir::ValueId input : graph.node(id).inputs) {
      const ir::NodeId producer = graph.value(input).producer;
      if (producer != ir::NodeId::kNone && std::ranges::binary_search(nodes, producer)) continue;
      if (std::ranges::find(region.inputs, input) == region.inputs.end()) region.inputs.push_back(input);
    }
  return region;
}

Format last_of(const ir::Graph& graph, const Region& region) {
  return Format::channels_last(graph.type(region.outputs[0]).rank());
}

class FakeTactic : public Tactic {
 public:
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    const Format linear, last = last_of(cx.graph, region);
    std::vector<Variant> result{variant(region, "linear", linear, linear), variant(region, "last", last, last)};
    if (name() == "heavy") result.push_back(variant(region, "to last", linear, last));
    if (name() == "pair") result.erase(result.begin());
    return result;
  }
  Result<StepDraft> compile(const TacticContext&, const Region&, const Variant& variant) const override {
    if (variant.params.find("broken")) return error(Code::kUnsupported, "it does not compile");
    return StepDraft{.executor = "fake", .step = steps::Copy{}};
  }

 private:
  static Variant variant(const Region& region, std::string name, const Format& in, const Format& out) {
    return {std::move(name),
            std::vector<Format>(region.inputs.size(), in),
            std::vector<Format>(region.outputs.size(), out),
            {},
            0};
  }
};

class Heavy final : public FakeTactic {
 public:
  std::string_view name() const override { return "heavy"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    std::vector<ir::NodeId> nodes;
    if (!ends_at(cx.graph, root, nodes)) return reject("no heavy op with a short tail ends here");
    return region_of(cx.graph, nodes);
  }

 private:
  static bool ends_at(const ir::Graph& graph, ir::NodeId id, std::vector<ir::NodeId>& nodes) {
    nodes.push_back(id);
    if (!is_pointwise(graph, id)) return true;
    if (nodes.size() <= kLongestTail)
      for (const ir::ValueId input : graph.node(id).inputs)
        if (const ir::NodeId above = private_producer(graph, input); above != ir::NodeId::kNone)
          if (ends_at(graph, above, nodes)) return true;
    nodes.pop_back();
    return false;
  }
};

class Pair final : public FakeTactic {
 public:
  std::string_view name() const override { return "pair"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    std::vector<ir::NodeId> nodes{root};
    for (const bool pointwise : {true, false}) {
      const ir::NodeId above = private_producer(cx.graph, cx.graph.node(nodes.back()).inputs[0]);
      if (above == ir::NodeId::kNone || is_pointwise(cx.graph, above) != pointwise)
        return reject("above is no heavy op with a pointwise one behind it");
      nodes.push_back(above);
    }
    return region_of(cx.graph, nodes);
  }
};

class Nest final : public FakeTactic {
 public:
  std::string_view name() const override { return "nest"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    std::set<ir::NodeId> inside{root};
    for (size_t before = 0; before != inside.size();) {
      before = inside.size();
      for (const ir::NodeId id : std::vector(inside.begin(), inside.end()))
        for (const ir::ValueId input : cx.graph.node(id).inputs)
          if (joins(cx.graph, input, inside)) inside.insert(cx.graph.value(input).producer);
    }
    return region_of(cx.graph, {inside.begin(), inside.end()});
  }

 private:
  static bool joins(const ir::Graph& graph, ir::ValueId value, const std::set<ir::NodeId>& inside) {
    const ir::NodeId producer = graph.value(value).producer;
    return producer != ir::NodeId::kNone && is_pointwise(graph, producer) && !graph.is_output(value) &&
           std::ranges::all_of(graph.value(value).users, [&](ir::NodeId user) { return inside.contains(user); });
  }
};

class Showing final : public FakeTactic {
 public:
  std::string_view name() const override { return "showing"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    const ir::ValueId read = cx.graph.node(root).inputs[0];
    const ir::NodeId above = cx.graph.value(read).producer;
    if (above == ir::NodeId::kNone || is_pointwise(cx.graph, above) || cx.graph.is_output(read) ||
        cx.graph.num_uses(read) < 2)
      return reject("above is no heavy op that others read");
    Region region = region_of(cx.graph, {above, root});
    region.outputs.insert(region.outputs.begin(), read);
    return region;
  }
};

class Reference final : public FakeTactic {
 public:
  std::string_view name() const override { return "reference"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override { return region_of(cx.graph, {root}); }
  std::vector<Variant> variants(const TacticContext&, const Region& region) const override {
    return {{"only", std::vector<Format>(region.inputs.size()), {{}}, {}, 0}};
  }
};

/// A number in [0, 1) that the text decides.
double chance(std::string_view text) { return static_cast<double>(hash128(text).low >> 11) / 9007199254740992.0; }

/// Another's tactic, with this backend's estimates and failures.
class Estimating final : public Tactic {
 public:
  Estimating(const Tactic& tactic, const FakeBackend& backend) : tactic_(tactic), backend_(backend) {}
  std::string_view name() const override { return tactic_.name(); }
  Match match(const TacticContext& cx, ir::NodeId root) const override { return tactic_.match(cx, root); }
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    std::vector<Variant> result = tactic_.variants(cx, region);
    for (Variant& variant : result) {
      const double time_us = backend_.time_us(cx.graph, region, name(), variant.name);
      const double share = 0.5 + 1.4 * chance(str("estimate", time_us));
      if (backend_.estimates) variant.estimate_us = share * time_us;
      if (variant.name == backend_.fails_to_compile) variant.params.set("broken", true);
    }
    return result;
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    return tactic_.compile(cx, region, variant);
  }

 private:
  const Tactic& tactic_;
  const FakeBackend& backend_;
};

}  // namespace

FakeBackend::FakeBackend(uint64_t seed) : seed_(seed) {
  static const Heavy heavy;
  static const Pair pair;
  static const Nest nest;
  static const Showing showing;
  for (const Tactic* tactic : std::initializer_list<const Tactic*>{&heavy, &pair, &nest})
    tactics_.push_back(std::make_unique<Estimating>(*tactic, *this));
  for (const auto& tactic : tactics_) all_.push_back(tactic.get());
  std::ranges::copy_if(all_, std::back_inserter(of_heavy_), [](const Tactic* t) { return t->name() != "nest"; });
  std::ranges::copy_if(all_, std::back_inserter(of_pointwise_), [](const Tactic* t) { return t->name() != "pair"; });
  tactics_.push_back(std::make_unique<Estimating>(showing, *this));
  of_pointwise_shown_ = of_pointwise_;
  of_pointwise_shown_.push_back(tactics_.back().get());
}

std::span<const Tactic* const> FakeBackend::tactics(const OpInfo& op) const {
  if (op.name == unknown_op) return {};
  if (!has(op.traits, Trait::kPointwise)) return of_heavy_;
  return shows ? of_pointwise_shown_ : of_pointwise_;
}

const Tactic& FakeBackend::fallback() const {
  static const Reference reference;
  return reference;
}

double FakeBackend::time_us(const ir::Graph& graph, const Region& region, std::string_view tactic,
                            std::string_view variant) const {
  double base = 8;
  for (const ir::NodeId id : region.nodes) base += (is_pointwise(graph, id) ? 12 : 100) - 8;
  if (tactic == slow_tactic) base *= 100;
  return base * (0.6 + 0.9 * chance(str(seed_, tactic, variant, ops_of(graph, region))));
}

Status FakeTiming::time(const TacticContext& cx, std::span<const Trial> trials) {
  for (const Trial& trial : trials) {
    timed.push_back(str(trial.candidates.front().tactic->name(), ": ", ops_of(cx.graph, trial.region)));
    for (Candidate& candidate : trial.candidates) {
      if (!candidate.failure.empty()) continue;
      if (backend_.fails_to_run == "*" || backend_.fails_to_run == candidate.variant.name)
        candidate.failure = "it does not run";
      candidate.time_us = backend_.time_us(cx.graph, trial.region, candidate.tactic->name(), candidate.variant.name);
    }
  }
  return {};
}

std::string ops_of(const ir::Graph& graph, const Region& region) {
  std::string result;
  for (const ir::NodeId id : region.nodes) result += str(result.empty() ? "" : " ", graph.node(id).op.name());
  return result;
}

}  // namespace kiln::testing
