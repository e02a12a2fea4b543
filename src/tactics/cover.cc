#include "tactics/cover.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "base/microseconds.h"
#include "ops/plugin.h"
#include "tactics/assignments.h"
#include "tactics/choices.h"
#include "tactics/reformats.h"
#include "tactics/region.h"
#include "tactics/search.h"
#include "tactics/selector.h"
#include "tactics/timer.h"

namespace kiln {

namespace {

/// Why nothing else stands at a tile, as the end of a message: the likeliest candidate's reason.
std::string first_reason(std::span<const std::string> notes) {
  std::string text;
  int others = 0;
  for (const std::string& note : notes) {
    if (note.ends_with("; chosen")) continue;
    if (text.empty())
      text = str(": ", note);
    else
      ++others;
  }
  return others > 0 ? str(text, " (the verbose log has ", others, " more)") : text;
}

constexpr size_t kMostNotes = 64;  // of a choice: a plugin may have thousands of variants, and a plan is not for them

/// A choice's candidates; where there are more than a plan notes, the likeliest of them come first.
std::vector<const Candidate*> best_first(const Choice& choice, const Candidate* chosen) {
  std::vector<const Candidate*> all;
  for (const Candidate& candidate : choice.candidates) all.push_back(&candidate);
  if (all.size() > kMostNotes)
    std::ranges::stable_sort(
        all, {}, [&](const Candidate* one) { return std::tuple(one != chosen, !one->failure.empty(), one->time_us); });
  return all;
}

/// An input or output that a cover brings to another format, though it may not.
struct Bent {
  bool is_input = false;
  ir::ValueId value = ir::ValueId::kNone;
  size_t output = 0;                    ///< its position, where it is one
  Format given, wanted;                 ///< that of the surface, and what the node reads or writes
  ir::NodeId node = ir::NodeId::kNone;  ///< that does
};

class Coverer {
 public:
  Coverer(const TacticContext& cx, const Backend& backend, Timing& timing, const CoverOptions& options, Log& log)
      : cx_(cx),
        backend_(backend),
        timing_(timing),
        options_(options),
        surface_(options.surface),
        log_(log),
        effort_(effort_of(cx.optimization_level)),
        reformats_(cx.graph, backend, options.surface.is_direct ? AtSurface::kAvoided : AtSurface::kAllowed) {
    effort_.offers_reference = assigns() || options_.selector;
    effort_.most_of_nodes = options_.most_tactics;
  }

  Result<Cover> run() {
    choices_ = TRY(Choices::find(cx_, backend_, effort_));
    if (assigns()) TRY(take_assigned());
    const FoundCover found = TRY(options_.selector ? find_selected() : find_direct());
    TRY(place(found));
    TRY(report_progress(choices_.size()));
    return std::move(cover_);
  }

 private:
  Result<FoundCover> find_cover();
  Result<FoundCover> find_direct();
  Result<FoundCover> find_selected();
  Result<std::vector<Pick>> regions_by_estimate();
  Result<bool> prepare_all(const std::vector<Pick>& regions);
  Result<std::vector<Pick>> ask_selector(const Pick& region);
  std::string failures_at(ir::NodeId root) const;
  Status add_fallback(ir::NodeId root);
  void ask_for(const FoundCover& found) const;
  void ask_for(const Choice& choice) const;
  Result<bool> prepare(size_t index);
  bool assigns() const { return options_.assignments && effort_.times; }
  Status take_assigned();
  void record_choice(const Pick& pick);
  bool is_last_resort(const Pick& pick) const;
  void warn_of_failures(const Choice& choice) const;
  bool compile(Choice& choice) const;
  bool must_time(const Choice& choice) const { return choice.contested && effort_.times; }
  Status report_progress(size_t done) const;
  Status place(const FoundCover& found);
  Status place(const Pick& pick);
  std::vector<std::string> notes_of(const Pick& pick) const;
  std::string outcome(const Choice& choice, const Candidate& candidate) const;
  void add_notes(const Choice& choice, std::string_view prefix, std::vector<std::string>& notes,
                 const Candidate* chosen = nullptr) const;
  std::optional<Bent> bent_surface(const FoundCover& found) const;
  bool takes_format(const Bent& bent);
  Error surface_error(const Bent& bent) const;
  void require_format(ir::ValueId value, const Format& wanted);
  void add_reformat(ir::ValueId value, const Format& from, const Format& to);

  const Format& format(ir::ValueId value) const { return cover_.value_formats[ir::index(value)]; }
  void set_format(ir::ValueId value, const Format& f) { cover_.value_formats[ir::index(value)] = f; }
  bool is_data(ir::ValueId value) const { return value != ir::ValueId::kNone && !cx_.graph.constant(value); }
  ir::NodeId root_of(const Pick& pick) const { return choices_[pick.choice].region.nodes.back(); }

  const TacticContext& cx_;
  const Backend& backend_;
  Timing& timing_;
  const CoverOptions& options_;
  Surface surface_;
  std::set<std::pair<std::string, std::string>> tried_;  ///< formats of the surface, by tensors
  Log& log_;
  Effort effort_;
  Choices choices_;
  Reformats reformats_;
  Cover cover_;
  size_t num_prepared_ = 0;
  std::set<std::pair<ir::ValueId, std::string>> copies_;  // values that a reformat has already brought to a format
};

/// What was tried for a node that is without a tactic now: the first failures, and how many there are beyond them.
std::string Coverer::failures_at(ir::NodeId root) const {
  constexpr size_t kMostTold = 4;
  std::string text;
  size_t failures = 0;
  for (const size_t i : choices_.rooted_at(root))
    for (const Candidate& candidate : choices_[i].candidates)
      if (!candidate.failure.empty() && ++failures <= kMostTold)
        text += str(text.empty() ? "" : "; ", candidate.variant.name, ": ", candidate.failure);
  return failures <= kMostTold ? text : str(text, "; and ", failures - kMostTold, " more");
}

Status Coverer::add_fallback(ir::NodeId root) {
  Status added = choices_.add_fallback(cx_, backend_, root);
  const std::string failures = added ? std::string() : failures_at(root);
  if (failures.empty()) return added;
  const ir::Node& node = cx_.graph.node(root);
  return error(added.error().code, node.op.name(), " '", node.name, "': none of its variants runs: ", failures);
}

/// Finds the cheapest cover. Choices without a time count with a lower bound, and only choices of the cheapest cover so
/// far are timed. Once all of these have times, no untimed choice could be part of a cheaper cover.
Result<FoundCover> Coverer::find_cover() {
  while (true) {
    const SearchProblem problem{cx_.graph,          choices_,    reformats_, surface_, backend_.step_overhead_us(),
                                effort_.least_gain, effort_.beam};
    const auto found = search_cover(problem);
    if (!found) {
      const ir::Node& node = cx_.graph.node(found.error());
      if (choices_.has_fallback(found.error()))
        return error(Code::kInternal, "no tactic was chosen for ", node.op.name(), " '", node.name, "'");
      TRY(add_fallback(found.error()));
      continue;
    }
    backend_.compile_ahead([&] { ask_for(*found); });
    bool changed = false;
    for (const Pick& pick : found->picks) changed |= TRY(prepare(pick.choice));
    if (!changed) return *found;
  }
}

/// The first input or output that the cover would reformat though it may not.
std::optional<Bent> Coverer::bent_surface(const FoundCover& found) const {
  if (surface_.direct_inputs.empty() && surface_.direct_outputs.empty()) return std::nullopt;
  std::map<ir::ValueId, std::pair<Format, ir::NodeId>> made;
  for (const ir::ValueId input : cx_.graph.inputs()) made[input] = {surface_.input(input), ir::NodeId::kNone};
  for (const Pick& pick : found.picks) {
    const Region& region = choices_[pick.choice].region;
    const Variant& variant = choices_[pick.choice].candidates[pick.candidate].variant;
    for (size_t i = 0; i < region.outputs.size(); ++i) made[region.outputs[i]] = {variant.outputs[i], root_of(pick)};
    for (size_t i = 0; i < region.inputs.size(); ++i) {
      const ir::ValueId value = region.inputs[i];
      if (!is_data(value) || !surface_.direct_inputs.contains(value)) continue;
      const Format given = surface_.input(value), &wanted = variant.inputs[i];
      if (same_layout(cx_.graph.type(value), given, wanted)) continue;
      const auto reads = [&](ir::NodeId id) {
        const auto& inputs = cx_.graph.node(id).inputs;
        return std::ranges::find(inputs, value) != inputs.end();
      };
      const auto reader = std::ranges::find_if(region.nodes, reads);
      return Bent{true, value, 0, given, wanted, reader == region.nodes.end() ? region.nodes.back() : *reader};
    }
  }
  for (const auto& [i, formats] : surface_.direct_outputs) {
    const ir::ValueId value = cx_.graph.outputs()[i].value;
    const auto maker = made.find(value);
    if (maker == made.end() || takes_any_format(cx_.graph, cx_.graph.outputs()[i])) continue;
    const auto& [format, node] = maker->second;
    if (!same_layout(cx_.graph.type(value), format, surface_.output(i)))
      return Bent{false, value, i, surface_.output(i), format, node};
  }
  return std::nullopt;
}

/// Gives the input or output the format in which it is read or made, if it may have that.
bool Coverer::takes_format(const Bent& bent) {
  const auto& formats = bent.is_input ? surface_.direct_inputs[bent.value] : surface_.direct_outputs[bent.output];
  const std::string name = str(bent.is_input ? "input " : "output ", bent.is_input ? index(bent.value) : bent.output);
  tried_.insert({name, bent.given.text()});
  const TensorType& type = cx_.graph.type(bent.value);
  const auto fits = std::ranges::find_if(formats, [&](const Format& f) { return same_layout(type, f, bent.wanted); });
  if (fits == formats.end() || !tried_.insert({name, fits->text()}).second) return false;
  if (bent.is_input)
    surface_.inputs[bent.value] = *fits;
  else
    surface_.outputs[bent.output] = *fits;
  return true;
}

Error Coverer::surface_error(const Bent& bent) const {
  const std::string name = bent.is_input ? cx_.graph.value(bent.value).name : cx_.graph.outputs()[bent.output].name;
  std::string layer = "the network";
  if (bent.node != ir::NodeId::kNone) {
    const ir::Node& node = cx_.graph.node(bent.node);
    layer = str(node.op.name(), " '", node.name, "'");
  }
  return error(Code::kUnsupported, bent.is_input ? "input" : "output", " '", name, "' would be reformatted (",
               bent.is_input ? bent.given : bent.wanted, " to ", bent.is_input ? bent.wanted : bent.given, "), since ",
               layer, bent.is_input ? " reads " : " makes ", bent.wanted,
               ". BuilderFlag::kDIRECT_IO forbids that: allow the format for it, or clear the flag")
      .error();
}

/// The cheapest cover that reads and writes the surface as it may be: in another format that is allowed, or by the
/// reference, which reads and writes row-major, where no tactic does. Not on a device that it would be copied from.
Result<FoundCover> Coverer::find_direct() {
  FoundCover found = TRY(find_cover());
  while (const auto bent = bent_surface(found)) {
    if (!takes_format(*bent)) {
      const bool can_fall_back = bent->given.is_linear() && bent->node != ir::NodeId::kNone && cx_.device.is_host();
      if (!can_fall_back || choices_.has_fallback(bent->node) || !choices_.add_fallback(cx_, backend_, bent->node))
        return std::unexpected(surface_error(*bent));
    }
    found = TRY(find_cover());
  }
  return found;
}

/// The regions of the cheapest cover by estimates, in execution order.
Result<std::vector<Pick>> Coverer::regions_by_estimate() {
  const bool times = std::exchange(effort_.times, false);
  const Result<FoundCover> found = find_cover();
  effort_.times = times;
  std::map<ir::NodeId, Pick> by_root;
  for (const Pick& pick : TRY(found).picks) by_root.emplace(root_of(pick), pick);
  std::vector<Pick> ordered;
  for (const ir::NodeId id : TRY(cx_.graph.topological_order()))
    if (const auto pick = by_root.find(id); pick != by_root.end()) ordered.push_back(pick->second);
  return ordered;
}

/// Compiles all candidates of the regions, and times them. Returns whether one failed that was thought to work.
Result<bool> Coverer::prepare_all(const std::vector<Pick>& regions) {
  bool failed = false;
  backend_.compile_ahead([&] {
    for (const Pick& region : regions)
      for (const size_t i : choices_.of_same_nodes(region.choice))
        if (!choices_[i].prepared) ask_for(choices_[i]);
  });
  for (const Pick& region : regions) {
    std::vector<Trial> trials;
    for (const size_t i : choices_.of_same_nodes(region.choice)) {
      Choice& choice = choices_[i];
      if (!choice.prepared) compile(choice);
      if (!must_time(choice) || choice.timed || choice.assigned) continue;
      trials.push_back({choice.region, choice.candidates});
      choice.timed = true;
    }
    if (!trials.empty()) TRY(timing_.time(cx_, trials));
    TRY(report_progress(++num_prepared_));
    failed |= !choices_[region.choice].candidates[region.candidate].failure.empty();
  }
  return failed;
}

/// Lets the program's selector choose among the candidates of a region. Returns those that it was shown.
Result<std::vector<Pick>> Coverer::ask_selector(const Pick& asked) {
  std::vector<Pick> shown;
  std::vector<Algorithm> algorithms;
  const std::vector<size_t> group = choices_.of_same_nodes(asked.choice);
  for (const size_t i : group) {
    Choice& choice = choices_[i];
    choice.selected = true;
    for (size_t k = 0; k < choice.candidates.size(); ++k) {
      const Candidate& candidate = choice.candidates[k];
      if (!candidate.failure.empty()) continue;
      shown.push_back({i, k});
      const bool is_known = choice.timed || choice.assigned || choice.penalty_us > 0;
      algorithms.push_back({choice.region, candidate, is_known ? candidate.time_us + choice.penalty_us : 0,
                            workspace_of(cx_, choice.region, candidate).value_or(0)});
    }
  }
  std::string name = names_of(cx_.graph, choices_[asked.choice].region);
  if (name.empty()) name = ops_of(cx_.graph, choices_[asked.choice].region);
  const std::vector<size_t> allowed = TRY(options_.selector->select(cx_, name, algorithms));
  for (size_t k = 0; k < shown.size(); ++k)
    if (!allowed.empty() && std::ranges::find(allowed, k) == allowed.end())
      choices_[shown[k].choice].candidates[shown[k].candidate].failure = "the algorithm selector left it out";
  return shown;
}

/// The cheapest cover of the candidates that the program's selector allows.
Result<FoundCover> Coverer::find_selected() {
  std::vector<Pick> regions = TRY(regions_by_estimate());
  while (TRY(prepare_all(regions))) regions = TRY(regions_by_estimate());
  std::vector<std::pair<ir::NodeId, std::vector<Pick>>> asked;  // roots, with what was shown for them
  FoundCover found;
  while (!regions.empty()) {
    for (const Pick& region : regions) asked.emplace_back(root_of(region), TRY(ask_selector(region)));
    // What was chosen may read values that nothing needed before.
    do {
      found = TRY(find_cover());
      regions.clear();
      for (const Pick& pick : found.picks)
        if (!choices_[pick.choice].selected) regions.push_back(pick);
    } while (TRY(prepare_all(regions)));
  }
  std::map<ir::NodeId, Pick> picks;
  for (const Pick& pick : found.picks) picks.emplace(root_of(pick), pick);
  std::vector<std::optional<size_t>> chosen;
  for (const auto& [root, shown] : asked) {
    const auto pick = picks.find(root);
    const auto is_it = [&](const Pick& other) {
      return other.choice == pick->second.choice && other.candidate == pick->second.candidate;
    };
    const auto at = pick == picks.end() ? shown.end() : std::ranges::find_if(shown, is_it);
    chosen.push_back(at == shown.end() ? std::nullopt : std::optional(static_cast<size_t>(at - shown.begin())));
  }
  options_.selector->chose(chosen);
  return found;
}

/// Compiles all choices that are about to be prepared at once, and drops the results: the compiler keeps the kernels.
void Coverer::ask_for(const FoundCover& found) const {
  std::set<size_t> wanted;
  for (const Pick& pick : found.picks) {
    if (choices_[pick.choice].prepared) continue;
    wanted.insert(pick.choice);
    if (must_time(choices_[pick.choice]))
      std::ranges::copy(choices_.rivals(pick.choice), std::inserter(wanted, wanted.end()));
  }
  for (const size_t i : wanted) ask_for(choices_[i]);
}
/// A plugin's code is the program's: there is nothing to compile, and each asking would call it.
void Coverer::ask_for(const Choice& choice) const {
  if (cx_.graph.node(choice.region.nodes.back()).op.as<ops::Plugin>()) return;
  for (const Candidate& candidate : choice.candidates)
    static_cast<void>(choice.tactic->compile(cx_, choice.region, candidate.variant));
}

/// Compiles a choice, and times it if that can change the cover. Its rivals are timed with it, because the machine's
/// speed changes over time. Returns whether there was anything new.
Result<bool> Coverer::prepare(size_t index) {
  if (choices_[index].prepared) return false;
  std::vector<size_t> batch{index};
  if (must_time(choices_[index])) std::ranges::copy(choices_.rivals(index), std::back_inserter(batch));
  bool changed = false;
  std::vector<Trial> trials;
  for (const size_t i : batch) {
    changed |= compile(choices_[i]);
    if (must_time(choices_[i])) trials.push_back({choices_[i].region, choices_[i].candidates});
  }
  if (!trials.empty()) TRY(timing_.time(cx_, trials));
  for (const size_t i : batch) choices_[i].timed |= must_time(choices_[i]);
  num_prepared_ += batch.size();
  TRY(report_progress(num_prepared_));
  return changed || !trials.empty();
}

/// Nodes to which the cache assigns a tactic are not timed.
Status Coverer::take_assigned() {
  for (size_t index = 0; index < choices_.size(); ++index) {
    if (choices_[index].prepared) continue;  // prepared together with another choice for the same nodes
    const auto assigned = options_.assignments->find_assignment(op_key(cx_, choices_[index].region));
    if (!assigned) continue;
    const std::vector<size_t> group = choices_.of_same_nodes(index);
    for (const size_t i : group) compile(choices_[i]);
    TRY(assign(cx_, choices_, group, *assigned));
  }
  return {};
}

/// Records a choice for the next build, and for the reader of the log.
void Coverer::record_choice(const Pick& pick) {
  const std::vector<size_t> group = choices_.of_same_nodes(pick.choice);
  for (const size_t i : group)
    if (!choices_[i].prepared) compile(choices_[i]);  // the reference, and what was too slow to be timed
  record_assignment(cx_, choices_, group, pick.choice, pick.candidate, *options_.assignments, log_);
}

/// Whether a candidate failed.
bool Coverer::compile(Choice& choice) const {
  choice.prepared = true;
  bool failed = false;
  for (Candidate& candidate : choice.candidates) {
    Result<StepDraft> draft = choice.tactic->compile(cx_, choice.region, candidate.variant);
    if (draft)
      candidate.draft = std::move(*draft);
    else
      candidate.failure = draft.error().message, failed = true;
  }
  return failed;
}

Status Coverer::report_progress(size_t done) const {
  if (!options_.progress) return {};
  const auto total = static_cast<int>(choices_.size());
  if (options_.progress(options_.progress_user, std::min(static_cast<int>(done), total), total)) return {};
  return error(Code::kState, "the build was cancelled by its progress monitor");
}

/// Tiles run in the order of their places (place_of).
Status Coverer::place(const FoundCover& found) {
  cover_.value_formats.assign(static_cast<size_t>(cx_.graph.num_values()), Format::linear());
  cover_.estimate_us = found.cost_us;
  if (const auto bent = bent_surface(found)) return std::unexpected(surface_error(*bent));  // as a selector has it
  cover_.surface = surface_;
  for (const ir::ValueId input : cx_.graph.inputs()) set_format(input, surface_.input(input));
  std::map<ir::NodeId, Pick> picks;
  for (const Pick& pick : found.picks) picks.emplace(place_of(cx_.graph, choices_[pick.choice].region), pick);
  for (const ir::NodeId id : TRY(cx_.graph.topological_order()))
    if (const auto pick = picks.find(id); pick != picks.end()) TRY(place(pick->second));
  for (size_t i = 0; i < cx_.graph.outputs().size(); ++i)
    if (const ir::ValueId value = cx_.graph.outputs()[i].value;
        is_data(value) && !takes_any_format(cx_.graph, cx_.graph.outputs()[i]))
      require_format(value, surface_.output(i));
  return {};
}

Status Coverer::place(const Pick& pick) {
  const Choice& choice = choices_[pick.choice];
  const Candidate& chosen = choice.candidates[pick.candidate];
  const ir::Node& root = cx_.graph.node(root_of(pick));
  for (size_t i = 0; i < choice.region.inputs.size(); ++i) {
    const ir::ValueId value = choice.region.inputs[i];
    if (!is_data(value)) continue;
    require_format(value, chosen.variant.inputs[i]);
  }
  for (size_t i = 0; i < choice.region.outputs.size(); ++i)
    set_format(choice.region.outputs[i], chosen.variant.outputs[i]);
  std::vector<std::string> notes = notes_of(pick);
  if (choice.tactic == &backend_.fallback() && is_last_resort(pick))
    log_.warning("no tactic takes ", root.op.name(), " '", root.name, "'; it runs by its reference, which is slow",
                 first_reason(notes));
  log_.verbose(root.op.name(), " '", root.name, "': ", choice.tactic->name(), " (", chosen.variant.name, ") takes ",
               choice.region.nodes.size(), choice.region.nodes.size() == 1 ? " node" : " nodes");
  for (const std::string& note : notes) log_.verbose("  ", note);
  warn_of_failures(choice);
  if (assigns() && !choice.assigned) record_choice(pick);
  const double time_us = choice.timed || choice.assigned ? chosen.time_us : chosen.variant.estimate_us;
  cover_.tiles.push_back({choice.region, choice.tactic, chosen.variant, chosen.draft, time_us, std::move(notes)});
  return {};
}

/// Whether nobody asked for this choice, the reference.
bool Coverer::is_last_resort(const Pick& pick) const {
  const Choice& choice = choices_[pick.choice];
  return !choice.assigned && !(choice.selected && choices_.of_same_nodes(pick.choice).size() > 1);
}

/// Tells of a plugin's variants that failed where others run: its author did not mean that, and nothing else says it.
void Coverer::warn_of_failures(const Choice& choice) const {
  const ir::Node& node = cx_.graph.node(choice.region.nodes.back());
  const auto* const plugin = node.op.as<ops::Plugin>();
  const auto has_failed = [](const Candidate& candidate) { return !candidate.failure.empty(); };
  const auto first = std::ranges::find_if(choice.candidates, has_failed);
  if (!plugin || first == choice.candidates.end()) return;
  log_.warning("layer '", node.name, "': variants of ", plugin->plugin,
               " that failed are left out: ", std::ranges::count_if(choice.candidates, has_failed), " of ",
               choice.candidates.size(), ", the first (", first->variant.name, "): ", first->failure);
}

/// Notes on a tile's rivals, then on the rivals of its parts, and on refusals. A note on a part names the part, since
/// its time cannot be compared with that of the whole.
std::vector<std::string> Coverer::notes_of(const Pick& pick) const {
  const ir::NodeId root = root_of(pick);
  const Choice& taken = choices_[pick.choice];
  const size_t all = taken.region.nodes.size();
  std::vector<std::string> notes, of_parts;
  for (const size_t i : choices_.rooted_at(root)) {
    const size_t nodes = choices_[i].region.nodes.size();
    if (choices_[i].region.nodes == taken.region.nodes)
      add_notes(choices_[i], "", notes, &taken.candidates[pick.candidate]);
    else if (nodes < all)
      add_notes(choices_[i], str("its last ", nodes == 1 ? "node alone: " : str(nodes, " nodes alone: ")), of_parts);
    else
      add_notes(choices_[i], "with other nodes: ", of_parts);
  }
  for (const std::string& refusal : choices_.refusals(root)) notes.push_back(refusal);
  notes.insert(notes.end(), of_parts.begin(), of_parts.end());
  for (const ir::NodeId id : taken.region.nodes) {
    if (id == root) continue;
    const ir::Node& part = cx_.graph.node(id);
    const std::string prefix = str("its part '", part.name.empty() ? part.op.name() : part.name, "': ");
    for (const size_t i : choices_.rooted_at(id)) add_notes(choices_[i], prefix, notes);
    for (const std::string& refusal : choices_.refusals(id)) notes.push_back(prefix + refusal);
  }
  return notes;
}

/// What became of a candidate.
std::string Coverer::outcome(const Choice& choice, const Candidate& candidate) const {
  if (!candidate.failure.empty()) return str("failed: ", candidate.failure);
  if (choice.assigned) return us_text(candidate.time_us) + ", as the timing cache has it";
  if (choice.timed) return us_text(candidate.time_us);
  if (!choice.contested) return "not timed: nothing else could stand here";
  if (!effort_.times) return str("not timed: estimated at ", us_text(candidate.variant.estimate_us));
  return str("not timed: takes at least ", us_text(candidate.time_us), ", too much to make the network faster");
}

void Coverer::add_notes(const Choice& choice, std::string_view prefix, std::vector<std::string>& notes,
                        const Candidate* chosen) const {
  const size_t nodes = choice.region.nodes.size();
  const std::string size = nodes == 1 ? std::string() : str(", ", nodes, " nodes");
  const std::vector<const Candidate*> ranked = best_first(choice, chosen);
  const size_t told = std::min(ranked.size(), kMostNotes);
  for (const Candidate* const candidate : std::span(ranked).first(told))
    notes.push_back(str(prefix, choice.tactic->name(), " (", candidate->variant.name, size,
                        "): ", outcome(choice, *candidate), candidate == chosen ? "; chosen" : ""));
  if (const auto rest = std::span(ranked).subspan(told); !rest.empty()) {
    const auto failed = std::ranges::count_if(rest, [](const Candidate* one) { return !one->failure.empty(); });
    notes.push_back(str(prefix, choice.tactic->name(), ": ", rest.size(), " more variants, no better",
                        failed > 0 ? str("; ", failed, " of them failed") : std::string()));
  }
  for (const std::string& note : std::span(choice.notes).first(std::min(choice.notes.size(), kMostNotes)))
    notes.push_back(str(prefix, choice.tactic->name(), " (", note, ")"));
  if (choice.notes.size() > kMostNotes)
    notes.push_back(
        str(prefix, choice.tactic->name(), ": ", choice.notes.size() - kMostNotes, " more variants left out"));
}

/// Brings a value to a format once, however many read it there.
void Coverer::require_format(ir::ValueId value, const Format& wanted) {
  if (format(value) == wanted || !copies_.insert({value, wanted.text()}).second) return;
  if (!meet_in_linear(format(value), wanted)) return add_reformat(value, format(value), wanted);
  require_format(value, Format::linear());
  add_reformat(value, Format::linear(), wanted);
}

void Coverer::add_reformat(ir::ValueId value, const Format& from, const Format& to) {
  const TensorType& type = cx_.graph.type(value);
  Tile tile;
  tile.region = {{}, {value}, {value}, {}};
  tile.variant = {str(from, " to ", to), {from}, {to}, {}, 0};
  if (same_layout(type, from, to)) {
    tile.draft = {};
  } else {
    tile.draft = backend_.reformat(type, from, to);
    tile.time_us = backend_.reformat_estimate_us(type, from, to);
  }
  cover_.tiles.push_back(std::move(tile));
}

}  // namespace

Result<Cover> cover_graph(const TacticContext& cx, const Backend& backend, Timing& timing, const CoverOptions& options,
                          Log& log) {
  return Coverer(cx, backend, timing, options, log).run();
}

}  // namespace kiln
