/// What a comparison has found.
#pragma once

#include "kiln/diff/matching.h"

namespace kiln::diff {

/// A tensor of `a` beside that of `b`. In loops it is that of the iteration which is farthest off.
struct TensorDiff {
  Spot a, b;
  MatchedBy by = MatchedBy::kName;
  DType a_type = DType::kF32, b_type = DType::kF32;
  Extents extents;                 ///< in a
  int64_t runs_a = 0, runs_b = 0;  ///< how often each side has made it
  int64_t worst_run = 0;           ///< the run that `total` is of, from 0
  int64_t runs_compared = 0;       ///< fewer than both have made where one made more, or there are limits
  int64_t runs_not_finite = 0;     ///< runs in which no number was finite on either side, which compares nothing
  int64_t runs_refused = 0;        ///< runs whose tensors cannot be compared
  std::string refusal;             ///< why the first of these cannot
  Tolerance tolerance;
  Errors total;  ///< with what the inputs brought
  bool within = true;
  std::optional<Errors> own;  ///< with b's tensors as inputs; nothing: not asked for
  bool own_within = true;
  std::vector<std::string> not_fed;  ///< inputs of the step that were a's own in that run
  int64_t overflowed = 0;            ///< of all runs: numbers beyond FP16 that are infinite, NaN or its largest in a
  double largest_overflowed = 0;
  std::string skipped;     ///< why the two cannot be compared in any run; empty: they were, in one or more
  bool in_levels = false;  ///< bytes of no known scale, compared as integers
};

/// A tensor of `b` that `a` does not show.
struct Hidden {
  Spot b;
  std::string inside;  ///< a step of a that comes from the same layers; empty: none does, it was folded away
  std::string number;
  std::vector<std::string> shows;  ///< the tensors that this step shows, of which one may be it, by another name
};

struct Report {
  std::string a, b;    ///< descriptions
  std::string inputs;  ///< "image f32[1, 3, 224, 224]: made up"
  Tolerance tolerance;
  bool isolated = false;
  std::vector<TensorDiff> tensors;  ///< in the order in which a makes them first
  std::vector<Spot> without_counterpart;
  std::vector<Hidden> hidden;
  int64_t not_kept = 0;  ///< tensors of b for which there was no room

  int64_t num_compared() const;
  int64_t num_not_finite() const;           ///< tensors with runs in which no number was finite
  const TensorDiff* first_outside() const;  ///< null: none
  /// Whether nothing was left out for want of memory or of finite numbers.
  bool is_complete() const { return not_kept == 0 && num_not_finite() == 0; }
  std::vector<const TensorDiff*> faulty() const;  ///< outside by their own error, in order; without isolation none
};

}  // namespace kiln::diff
