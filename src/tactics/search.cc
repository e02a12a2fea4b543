#include "tactics/search.h"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>

#include "tactics/frontier.h"

namespace kiln {
namespace {

constexpr double kInsistUs = 1e8;  // what makes an assigned choice cheaper than all that could replace it
constexpr size_t kMany = 16;       // values that a region reads, from which on frontiers keep them as one

/// A candidate as the search sees it.
struct Move {
  Pick pick;
  double cost_us = 0;
  std::vector<uint32_t> ahead;      ///< positions of the region's other nodes
  std::vector<Want> reads, writes;  ///< ascending; with the formats of the variant
  const ManyWants* many = nullptr;  ///< the reads, if they are many
};

/// A partial cover of the nodes visited so far.
struct State {
  Frontier frontier;
  double cost_us = 0, credit_us = 0;  ///< the latter: what the claimed nodes would cost alone
  int last = -1;                      ///< in the trail
  const Move* move = nullptr;         ///< made at the present node, and not in the trail yet
};

class Search {
 public:
  explicit Search(const SearchProblem& problem)
      : problem_(problem), graph_(problem.graph), common_(problem.graph.num_values()) {}

  std::expected<FoundCover, ir::NodeId> run() {
    order_nodes();
    note_last_reads();
    make_moves();
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      const ir::ValueId value = graph_.outputs()[i].value;
      if (takes_any_format(graph_, graph_.outputs()[i])) continue;  // whoever reads it says in which
      const Want want{value, problem_.reformats.number_of(problem_.surface.output(i))};
      if (!graph_.constant(value) && !common_.contains(want)) common_.add(want);
    }
    std::vector<State> states(1);
    for (size_t position = order_.size(); position-- > 0;) {
      states = visit(std::move(states), static_cast<uint32_t>(position));
      if (states.empty()) return std::unexpected(order_[position]);
    }
    const State& best = *std::ranges::min_element(states, {}, &State::cost_us);
    FoundCover cover{{}, best.cost_us};
    for (int at = best.last; at >= 0; at = trail_[static_cast<size_t>(at)].before) {
      cover.picks.push_back(trail_[static_cast<size_t>(at)].pick);
      if (is_insisted(cover.picks.back())) cover.cost_us += kInsistUs;
    }
    return cover;
  }

 private:
  struct Trail {
    Pick pick;
    int before;
  };

  bool is_insisted(const Pick& pick) const {
    const Choice& choice = problem_.choices[pick.choice];
    return choice.assigned || choice.selected;
  }
  bool is_input(ir::ValueId value) const { return graph_.value(value).producer == ir::NodeId::kNone; }

  /// Depth first, producers first: branches stand one behind the other, which keeps frontiers narrow.
  void order_nodes() {
    position_.assign(static_cast<size_t>(graph_.num_nodes()), kUnseen);
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

  /// Notes where the search meets a value: at its producer, or, for a network input, at the last node that may read it.
  void note_last_reads() {
    met_at_.assign(static_cast<size_t>(graph_.num_values()), 0);
    inputs_met_.resize(order_.size());
    for (int i = 0; i < graph_.num_values(); ++i) {
      const auto value = static_cast<ir::ValueId>(i);
      uint32_t& met = met_at_[ir::index(value)];
      if (!is_input(value)) {
        if (const uint32_t at = position_[ir::index(graph_.value(value).producer)]; at < kOpen) met = at;
        continue;
      }
      met = kUnseen;
      for (const ir::NodeId user : graph_.value(value).users) met = std::min(met, position_[ir::index(user)]);
      if (met < kOpen) inputs_met_[met].push_back(value);
    }
  }

  void make_moves() {
    moves_.resize(order_.size());
    credit_us_.assign(order_.size(), 0);
    for (size_t position = 0; position < order_.size(); ++position) {
      for (const size_t i : problem_.choices.rooted_at(order_[position]))
        for (size_t k = 0; k < problem_.choices[i].candidates.size(); ++k) add_move(position, {i, k});
      handicap_splits(moves_[position]);
      for (Move& move : moves_[position])
        if (is_insisted(move.pick)) move.cost_us -= kInsistUs;
      if (!moves_[position].empty())
        credit_us_[position] = std::ranges::min_element(moves_[position], {}, &Move::cost_us)->cost_us;
    }
  }

  /// Makes a region's parts dearer by the noise of timings: two parts must be clearly faster than the region they
  /// replace.
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
    if (!candidate.draft.is_view()) move.cost_us += problem_.step_overhead_us;
    for (const ir::NodeId id : choice.region.nodes)
      if (id != order_[position]) move.ahead.push_back(position_[ir::index(id)]);
    std::ranges::sort(move.ahead);
    const auto add = [&](std::vector<Want>& wants, ir::ValueId value, const Format& format) {
      if (value != ir::ValueId::kNone && !graph_.constant(value))
        wants.push_back({value, problem_.reformats.number_of(format)});
    };
    for (size_t i = 0; i < choice.region.inputs.size(); ++i)
      add(move.reads, choice.region.inputs[i], candidate.variant.inputs[i]);
    for (size_t i = 0; i < choice.region.outputs.size(); ++i)
      add(move.writes, choice.region.outputs[i], candidate.variant.outputs[i]);
    std::ranges::sort(move.reads);
    move.reads.erase(std::unique(move.reads.begin(), move.reads.end()), move.reads.end());
    if (move.reads.size() >= kMany) move.many = keep_many(move.reads);
    moves_[position].push_back(std::move(move));
  }

  const ManyWants* keep_many(const std::vector<Want>& wants) {
    ManyWants& many = many_.emplace_back(ManyWants{wants, static_cast<uint32_t>(many_.size()), kUnseen});
    for (const Want& want : wants) many.last_position = std::min(many.last_position, met_at_[ir::index(want.value)]);
    return &many;
  }

  std::vector<State> visit(std::vector<State> states, uint32_t position) {
    std::vector<State> next;
    std::unordered_map<FrontierKey, size_t, FrontierKeyHash> index;
    const auto keep = [&](State state) {
      state.frontier.drop_met(position);
      for (const ir::ValueId input : inputs_met_[position]) state.frontier.drop(input);
      const auto [at, is_new] = index.emplace(state.frontier.key(), next.size());
      if (is_new)
        next.push_back(std::move(state));
      else if (state.cost_us < next[at->second].cost_us)  // the earlier one stays where both cost the same
        next[at->second] = std::move(state);
    };
    for (State& state : states) {
      const auto claimed = state.frontier.claimed();
      if (!claimed.empty() && claimed.back() == position) {
        state.frontier.drop_last_claim();
        // Who reads a value that the region writes and was met behind its root takes the region's format, without a
        // price for another one.
        for (const ir::ValueId output : graph_.node(order_[position]).outputs) state.frontier.drop(output);
        state.credit_us = state.frontier.claimed().empty() ? 0 : state.credit_us - credit_us_[position];
        keep(std::move(state));
      } else if (!is_wanted(state.frontier, order_[position])) {
        keep(std::move(state));
      } else {
        for (const Move& move : moves_[position])
          if (std::ranges::none_of(move.ahead, [&](uint32_t ahead) { return state.frontier.claims(ahead); }))
            keep(after(state, move));
      }
    }
    narrow(next);
    for (State& state : next) {
      if (!state.move) continue;
      trail_.push_back({state.move->pick, std::exchange(state.last, static_cast<int>(trail_.size()))});
      state.move = nullptr;
    }
    if (position % kSharePeriod == 0 && !next.empty()) share_wants(next);
    return next;
  }

  /// Whether a chosen region reads the node. No region reads a node that only shapes needed: its numbers became the
  /// parameters of steps.
  bool is_wanted(const Frontier& frontier, ir::NodeId id) const {
    return std::ranges::any_of(graph_.node(id).outputs,
                               [&](ir::ValueId output) { return frontier.wants(output, common_); });
  }

  State after(const State& before, const Move& move) {
    State state = before;
    state.move = &move;
    state.cost_us += move.cost_us;
    for (const auto& [value, format] : move.writes) {
      for (const int wanted : state.frontier.formats_of(value, common_))
        state.cost_us += problem_.reformats.cost_us(value, format, wanted);
      state.frontier.drop(value);
    }
    for (const Want& want : move.reads) {
      if (state.frontier.wants(want, common_)) continue;
      // The first region that wants a network input in a format pays for the reformat: the input's own format is known.
      if (is_input(want.value)) {
        const int given = problem_.reformats.number_of(problem_.surface.input(want.value));
        state.cost_us += problem_.reformats.cost_us(want.value, given, want.format);
      }
      if (!move.many) state.frontier.add(want);
    }
    if (move.many) state.frontier.add(*move.many);
    state.frontier.claim(move.ahead);
    for (const uint32_t position : move.ahead) state.credit_us += credit_us_[position];
    return state;
  }

  /// Keeps the cheapest states. Some have paid for nodes ahead, so each is compared without what those would cost
  /// alone.
  void narrow(std::vector<State>& states) const {
    if (states.size() <= problem_.beam) return;
    std::vector<std::pair<double, size_t>> ranked;
    for (size_t i = 0; i < states.size(); ++i) ranked.emplace_back(states[i].cost_us - states[i].credit_us, i);
    std::ranges::nth_element(ranked, ranked.begin() + static_cast<ptrdiff_t>(problem_.beam));
    ranked.resize(problem_.beam);
    std::ranges::sort(ranked, {}, &std::pair<double, size_t>::second);
    std::vector<State> kept;
    for (const auto& [us, i] : ranked) kept.push_back(std::move(states[i]));
    states = std::move(kept);
  }

  /// Moves wants that every state has into one shared list, so that they are not copied with each state.
  void share_wants(std::vector<State>& states) {
    const auto fewest = std::ranges::min_element(states, {}, [](const State& s) { return s.frontier.own().size(); });
    std::vector<Want> shared(fewest->frontier.own().begin(), fewest->frontier.own().end());
    for (const State& state : states)
      std::erase_if(shared, [&](const Want& want) { return !std::ranges::binary_search(state.frontier.own(), want); });
    for (const Want& want : shared) common_.add(want);
    for (State& state : states) state.frontier.drop(shared);
  }

  static constexpr uint32_t kSharePeriod = 64;
  static constexpr uint32_t kUnseen = ~0u, kOpen = ~0u - 1;
  const SearchProblem& problem_;
  const ir::Graph& graph_;
  CommonWants common_;
  std::deque<ManyWants> many_;  // whose addresses moves and frontiers keep
  std::vector<ir::NodeId> order_;
  std::vector<uint32_t> position_;                    // by node
  std::vector<uint32_t> met_at_;                      // by value: a position
  std::vector<std::vector<ir::ValueId>> inputs_met_;  // by position
  std::vector<std::vector<Move>> moves_;              // by position
  std::vector<double> credit_us_;                     // by position: the cheapest move rooted there
  std::vector<Trail> trail_;
};

}  // namespace

std::expected<FoundCover, ir::NodeId> search_cover(const SearchProblem& problem) { return Search(problem).run(); }

}  // namespace kiln
