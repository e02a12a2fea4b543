/// Tiles a graph with regions, chooses tactics, variants and formats by measured time: choices.h has what there is to
/// choose from, search.h how the cheapest is found.
#pragma once

#include <string>
#include <vector>

#include "base/log.h"
#include "tactics/surface.h"
#include "tactics/tactic.h"

namespace kiln {

class TacticSelector;
class Timing;
class TimingCache;

/// Another variant of a region, in the same formats, for shapes far from the optimum.
struct AlternativeTile {
  std::vector<int> tunings;  ///< of the cover, ascending
  Variant variant;
  StepDraft draft;
  double time_us = 0, replaced_us = 0;  ///< at the first of them: its own, and that of the tile's variant
};

/// A region with what was chosen for it.
struct Tile {
  Region region;
  const Tactic* tactic = nullptr;  ///< null: a reformat
  Variant variant;
  StepDraft draft;
  double time_us = 0;              ///< measured at the optimum shapes; the variant's estimate where nothing was timed
  std::vector<std::string> notes;  ///< candidates with their times, and rejections
  std::vector<AlternativeTile> alternatives = {};
};

struct Cover {
  std::vector<Tile> tiles;  ///< in execution order
  /// Values of the table's symbols that tiles were tuned for, the optimum's first; none if for the optimum alone.
  std::vector<Extents> tunings = {};
  std::vector<Format> value_formats;  ///< by ValueId: the format its producer writes
  Surface surface;                    ///< the formats of inputs and outputs, as they were chosen
  double estimate_us = 0;             ///< summed times, reformats and overheads: what the search made least
};

struct CoverOptions {
  Surface surface;
  /// Its assignments are obeyed, and gain the tactics that were chosen for other ops; null: none are. Nothing is timed,
  /// and nothing assigned, at level 0.
  TimingCache* assignments = nullptr;
  /// Asked about each region; the regions are then those of the cheapest cover by estimates, so that each build of a
  /// network asks about the same ones. Null: nobody is.
  TacticSelector* selector = nullptr;
  size_t most_tactics = 0;  ///< candidates for the same nodes; 0: as many as the optimization level tries
  /// Called after each region that was looked at; false stops the build.
  bool (*progress)(void* user, int done, int total) = nullptr;
  void* progress_user = nullptr;
};

/// Every node of `graph` ends in exactly one tile; values needed in several formats get reformats.
Result<Cover> cover_graph(const TacticContext& cx, const Backend& backend, Timing& timing, const CoverOptions& options,
                          Log& log);

}  // namespace kiln
