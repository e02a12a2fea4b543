#include "tactics/search.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>

namespace kiln {
namespace {

/// A candidate as the search sees it.
struct Move {
  Pick pick;
  double cost_us = 0;
  std::vector<uint32_t> ahead;                     ///< positions of the region's other nodes
  std::vector<std::pair<ir::ValueId, int>> reads;  ///< values with the formats they are wanted in
  std::vector<std::pair<ir::ValueId, int>> writes;
};

/// What the nodes visited so far ask of those to come.
struct Frontier {
  std::vector<uint32_t> claimed;  ///< positions, ascending: the next is the last
  std::vector<uint64_t> wanted;   ///< value and format, ascending

  bool operator==(const Frontier&) const = default;
};
struct FrontierHash {
  size_t operator()(const Frontier& frontier) const {
    return hash64(std::as_bytes(std::span(frontier.claimed))) * 31 + hash64(std::as_bytes(std::span(frontier.wanted)));
  }
};

constexpr uint64_t want(ir::ValueId value, int format) {
  return static_cast<uint64_t>(ir::index(value)) << 16 | static_cast<uint64_t>(format);
}
constexpr int format_of(uint64_t wanted) { return static_cast<int>(wanted & 0xffff); }

struct State {
  Frontier frontier;
  double cost_us = 0;
  int last = -1;  ///< in the trail
};

class Search {
 public:
  explicit Search(const SearchProblem& problem) : problem_(problem), graph_(problem.graph) {}

  std::expected<FoundCover, ir::NodeId> run() {
    order_nodes();
    make_moves();
    std::vector<State> states(1);
    for (size_t i = 0; i < graph_.outputs().size(); ++i)
      if (const ir::ValueId value = graph_.outputs()[i].value; !graph_.constant(value))
        add(states[0].frontier.wanted, want(value, problem_.reformats.number_of(problem_.surface.output(i))));
    for (size_t position = order_.size(); position-- > 0;) {
      std::vector<State> next = step(states, position);
      if (next.empty()) return std::unexpected(order_[position]);
      states = std::move(next);
    }
    for (State& state : states)
      for (const uint64_t wanted : state.frontier.wanted) {
        const auto value = static_cast<ir::ValueId>(wanted >> 16);
        const int given = problem_.reformats.number_of(problem_.surface.input(value));
        state.cost_us += problem_.reformats.cost_us(value, given, format_of(wanted));
      }
    const State& best = *std::ranges::min_element(states, {}, &State::cost_us);
    FoundCover cover{{}, best.cost_us};
    for (int at = best.last; at >= 0; at = trail_[static_cast<size_t>(at)].before)
      cover.picks.push_back(trail_[static_cast<size_t>(at)].pick);
    return cover;
  }

 private:
  struct Trail {
    Pick pick;
    int before;
  };

  static void add(std::vector<uint64_t>& set, uint64_t item) {
    const auto at = std::ranges::lower_bound(set, item);
    if (at == set.end() || *at != item) set.insert(at, item);
  }

  /// Depth first, producers first: branches stand one behind the other, which keeps frontiers narrow.
  void order_nodes() {
    position_.assign(static_cast<size_t>(graph_.num_nodes()), kUnseen);
    for (size_t i = 0; i < position_.size(); ++i) {
      const auto id = static_cast<ir::NodeId>(i);
      if (graph_.alive(id) && graph_.node(id).op.has(Trait::kSideEffect)) order_above(id);
    }
    for (const ir::Output& output : graph_.outputs()) order_above(graph_.value(output.value).producer);
  }
  void order_above(ir::NodeId last) {
    std::vector<std::pair<ir::NodeId, size_t>> open;
    const auto enter = [&](ir::NodeId id) {
      if (id == ir::NodeId::kNone || position_[ir::index(id)] != kUnseen) return;
      position_[ir::index(id)] = kOpen;
      open.emplace_back(id, 0);
    };
    enter(last);
    while (!open.empty()) {
      auto& [id, next] = open.back();
      const auto& inputs = graph_.node(id).inputs;
      if (next < inputs.size()) {
        const ir::ValueId input = inputs[next++];
        if (input != ir::ValueId::kNone) enter(graph_.value(input).producer);
        continue;
      }
      position_[ir::index(id)] = static_cast<uint32_t>(order_.size());
      order_.push_back(id);
      open.pop_back();
    }
  }

  void make_moves() {
    moves_.resize(order_.size());
    credit_us_.assign(order_.size(), 0);
    for (size_t position = 0; position < order_.size(); ++position) {
      for (const size_t i : problem_.choices.rooted_at(order_[position]))
        for (size_t k = 0; k < problem_.choices[i].candidates.size(); ++k) add_move(position, {i, k});
      handicap_splits(moves_[position]);
      if (!moves_[position].empty())
        credit_us_[position] = std::ranges::min_element(moves_[position], {}, &Move::cost_us)->cost_us;
    }
  }

  /// Two parts must gain on the region that does both by more than what is noise.
  void handicap_splits(std::vector<Move>& moves) const {
    size_t most = 0;
    double fused_us = 0;
    for (const Move& move : moves)
      if (move.ahead.size() > most || (move.ahead.size() == most && move.cost_us < fused_us))
        most = move.ahead.size(), fused_us = move.cost_us;
    for (Move& move : moves)
      if (move.ahead.size() < most) move.cost_us += problem_.least_gain * fused_us;
  }

  void add_move(size_t position, Pick pick) {
    const Choice& choice = problem_.choices[pick.choice];
    const Candidate& candidate = choice.candidates[pick.candidate];
    if (!candidate.failure.empty()) return;
    Move move{pick, candidate.time_us + choice.penalty_us, {}, {}, {}};
    if (candidate.draft.kernel != "view") move.cost_us += problem_.step_overhead_us;
    for (const ir::NodeId id : choice.region.nodes)
      if (id != order_[position]) move.ahead.push_back(position_[ir::index(id)]);
    std::ranges::sort(move.ahead);
    for (size_t i = 0; i < choice.region.inputs.size(); ++i) {
      const ir::ValueId value = choice.region.inputs[i];
      if (value != ir::ValueId::kNone && !graph_.constant(value))
        move.reads.emplace_back(value, problem_.reformats.number_of(candidate.variant.inputs[i]));
    }
    for (size_t i = 0; i < choice.region.outputs.size(); ++i)
      move.writes.emplace_back(choice.region.outputs[i], problem_.reformats.number_of(candidate.variant.outputs[i]));
    moves_[position].push_back(std::move(move));
  }

  std::vector<State> step(std::vector<State>& states, size_t position) {
    std::vector<State> next;
    std::unordered_map<Frontier, size_t, FrontierHash> index;
    const auto keep = [&](State state) {
      const auto [at, is_new] = index.emplace(state.frontier, next.size());
      if (is_new)
        next.push_back(std::move(state));
      else if (state.cost_us < next[at->second].cost_us)  // the earlier one stays where both cost the same
        next[at->second] = std::move(state);
    };
    for (State& state : states) {
      std::vector<uint32_t>& claimed = state.frontier.claimed;
      if (!claimed.empty() && claimed.back() == position) {
        claimed.pop_back();
        keep(std::move(state));
      } else if (!is_wanted(state.frontier, order_[position])) {
        keep(std::move(state));
      } else {
        for (const Move& move : moves_[position])
          if (is_free(claimed, move.ahead)) keep(after(state, move));
      }
    }
    narrow(next);
    return next;
  }

  /// What only a shape needed is read by no region: its numbers became the parameters of steps.
  bool is_wanted(const Frontier& frontier, ir::NodeId id) const {
    const ir::Node& node = graph_.node(id);
    return node.op.has(Trait::kSideEffect) || std::ranges::any_of(node.outputs, [&](ir::ValueId output) {
             const auto at = std::ranges::lower_bound(frontier.wanted, want(output, 0));
             return at != frontier.wanted.end() && *at <= want(output, 0xffff);
           });
  }
  static bool is_free(const std::vector<uint32_t>& claimed, const std::vector<uint32_t>& ahead) {
    return std::ranges::none_of(ahead,
                                [&](uint32_t position) { return std::ranges::binary_search(claimed, position); });
  }

  State after(const State& before, const Move& move) {
    State state = before;
    state.cost_us += move.cost_us;
    std::vector<uint64_t>& wanted = state.frontier.wanted;
    for (const auto& [value, format] : move.writes) {
      const auto first = std::ranges::lower_bound(wanted, want(value, 0)),
                 last = std::ranges::upper_bound(wanted, want(value, 0xffff));
      for (auto at = first; at != last; ++at)
        state.cost_us += problem_.reformats.cost_us(value, format, format_of(*at));
      wanted.erase(first, last);
    }
    for (const auto& [value, format] : move.reads) add(wanted, want(value, format));
    std::vector<uint32_t>& claimed = state.frontier.claimed;
    const auto middle = static_cast<ptrdiff_t>(claimed.size());
    claimed.insert(claimed.end(), move.ahead.begin(), move.ahead.end());
    std::inplace_merge(claimed.begin(), claimed.begin() + middle, claimed.end());
    state.last = static_cast<int>(trail_.size());
    trail_.push_back({move.pick, before.last});
    return state;
  }

  /// States that have paid for nodes ahead are compared without what those would cost alone.
  void narrow(std::vector<State>& states) const {
    if (states.size() <= problem_.beam) return;
    const auto score = [&](const State& state) {
      double us = state.cost_us;
      for (const uint32_t position : state.frontier.claimed) us -= credit_us_[position];
      return us;
    };
    std::vector<std::pair<double, size_t>> ranked;
    for (size_t i = 0; i < states.size(); ++i) ranked.emplace_back(score(states[i]), i);
    std::ranges::nth_element(ranked, ranked.begin() + static_cast<ptrdiff_t>(problem_.beam));
    ranked.resize(problem_.beam);
    std::ranges::sort(ranked, {}, &std::pair<double, size_t>::second);
    std::vector<State> kept;
    for (const auto& [us, i] : ranked) kept.push_back(std::move(states[i]));
    states = std::move(kept);
  }

  static constexpr uint32_t kUnseen = ~0u, kOpen = ~0u - 1;
  const SearchProblem& problem_;
  const ir::Graph& graph_;
  std::vector<ir::NodeId> order_;
  std::vector<uint32_t> position_;        // by node
  std::vector<std::vector<Move>> moves_;  // by position
  std::vector<double> credit_us_;         // by position: the cheapest move rooted there
  std::vector<Trail> trail_;
};

}  // namespace

std::expected<FoundCover, ir::NodeId> search_cover(const SearchProblem& problem) { return Search(problem).run(); }

}  // namespace kiln
