/// The choices of a cover: the regions that tactics claim, by their roots, with their variants.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tactics/timer.h"

namespace kiln {

/// How much a build looks at, by its optimization level.
struct Effort {
  enum class Cuts : uint8_t {
    kNone,    ///< only the largest region of a tactic
    kKinds,   ///< regions also end behind contractions, reductions ...: what neither computes elements nor only moves
              ///< them
    kValues,  ///< regions also end at any one of their values
    kSets     ///< at any set of them, within reason
  };
  bool every_tactic = true;  ///< else only the first that matches a root
  bool times = true;         ///< else estimates decide
  Cuts cuts = Cuts::kKinds;
  size_t most_variants = 16;      ///< of one region; the likeliest
  double most_estimate = 4;       ///< a variant estimated at more than this multiple of the best is left out
  double trust = 0.5;             ///< no time is less than this share of its estimate
  double least_gain = 0.08;       ///< a region is split only if that saves this share of its time: times are noisy
  size_t beam = 64;               ///< partial covers kept by the search
  bool alternatives = true;       ///< variants for shapes far from the optimum too
  bool offers_reference = false;  ///< for each node that a tactic takes by itself, so that there is another one
  size_t most_of_nodes = 0;       ///< candidates of all tactics for the same nodes; 0: any number
};
Effort effort_of(int optimization_level);

/// The node in whose place among all nodes a region's step stands: the first one where others see what that makes,
/// which they may if the nodes behind it read nothing but constants from outside; else the root.
ir::NodeId place_of(const ir::Graph& graph, const Region& region);

/// A region claimed by a tactic. Until it is timed, its candidates' times are lower bounds.
struct Choice {
  const Tactic* tactic = nullptr;
  Region region;
  std::vector<Candidate> candidates;  ///< failed ones included
  double penalty_us = 0;              ///< the reference's: nobody waits to measure it
  bool assigned = false;              ///< by a timing cache: preferred to whatever else there is
  bool selected = false;              ///< offered to a program's selector: preferred likewise
  bool contested = false;             ///< other choices could stand in its place, or it has several variants
  bool prepared = false;              ///< compiled, and timed if that matters
  bool timed = false;
  std::vector<std::string> notes;  ///< variants left out, with reasons
};

class Choices {
 public:
  /// Every root that some cover could have, with its choices. Fails only if the graph is broken.
  static Result<Choices> find(const TacticContext& cx, const Backend& backend, const Effort& effort);

  size_t size() const { return choices_.size(); }
  Choice& operator[](size_t i) { return choices_[i]; }
  const Choice& operator[](size_t i) const { return choices_[i]; }
  /// Choices rooted at a node, in the order of the backend's tactics; none if no cover needs it as a root.
  const std::vector<size_t>& rooted_at(ir::NodeId root) const;
  /// This choice and those of other tactics for the same nodes.
  std::vector<size_t> of_same_nodes(size_t choice) const;
  /// The reasons of all tactics that refused this root.
  const std::vector<std::string>& refusals(ir::NodeId root) const;
  /// Choices not prepared yet that stand within the nodes of this one or of those that share nodes with it, unless
  /// estimates say that they lose; the likeliest few.
  std::vector<size_t> rivals(size_t choice) const;
  /// Adds the reference for a root that no tactic takes, or none that works.
  Status add_fallback(const TacticContext& cx, const Backend& backend, ir::NodeId root);
  /// Adds the region of a tactic that must take the root.
  Status add_only(const TacticContext& cx, const Tactic& tactic, ir::NodeId root, double penalty_us);
  bool has_fallback(ir::NodeId root) const;

 private:
  friend class ChoiceFinder;
  void take_note(const Tactic& tactic, const Region& region, ir::NodeId root);
  std::vector<Choice> choices_;
  std::map<ir::NodeId, std::vector<size_t>> by_root_, by_node_;
  std::map<ir::NodeId, std::vector<std::string>> refusals_;
};

}  // namespace kiln
