#include "kiln/diff/comparison.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "tensor/view.h"

namespace kiln::diff {
namespace {

/// Whether elements may be levels, of which a scale makes numbers.
bool may_be_level(DType type) { return bits_of(type) <= 8 && type != DType::kBool; }

/// Two values as numbers, or why they cannot be compared.
struct Numbers {
  std::vector<double> a, b;
  std::string refusal;
  bool exact = false, in_levels = false;
  HostTensor fed;  ///< b's value as a's side takes it
};

std::vector<double> decoded(const HostTensor& tensor, const std::optional<ByteScale>& scale) {
  std::vector<double> numbers = View(tensor).numbers();
  if (scale)
    for (double& number : numbers) number = (number - scale->zero) * scale->scale;
  return numbers;
}

bool same_scale(const std::optional<ByteScale>& a, const std::optional<ByteScale>& b) {
  return a && b && a->scale == b->scale && a->zero == b->zero;
}

/// Whether a reshape that merges or parts neighbouring axes leads from one to the other: elements keep their order
/// then, and it is no transpose, which has the same extents in another order.
bool are_regrouped(const Extents& a, const Extents& b) {
  if (a == b) return true;
  const auto is_parted = [](const Extents& whole, const Extents& parts) {
    size_t at = 0;
    for (const int64_t extent : whole) {
      int64_t product = 1;
      while (at < parts.size() && product < extent) product *= parts[at++];
      if (product != extent) return false;
      while (at < parts.size() && parts[at] == 1) ++at;
    }
    return at == parts.size();
  };
  const auto without_ones = [](Extents extents) {
    std::erase(extents, 1);
    return extents;
  };
  return is_parted(without_ones(a), without_ones(b)) || is_parted(without_ones(b), without_ones(a));
}

Numbers numbers_of(const MadeTensor& a, const MadeTensor& b, MatchedBy by) {
  Numbers result;
  const DType ta = a.tensor.dtype(), tb = b.tensor.dtype();
  if (a.tensor.volume() != b.tensor.volume() ||
      (by == MatchedBy::kName && !are_regrouped(a.tensor.extents(), b.tensor.extents()))) {
    result.refusal = str("it is ", ta, a.tensor.extents(), " in a and ", tb, b.tensor.extents(), " in b");
    return result;
  }
  if (a.tensor.volume() == 0) {
    result.refusal = "it has no elements";
    return result;
  }
  std::optional<ByteScale> sa = may_be_level(ta) ? a.scale : std::nullopt,
                           sb = may_be_level(tb) ? b.scale : std::nullopt;
  if (ta == tb && !sa) sa = sb;  // the same tensor of the same network
  if (ta == tb && !sb) sb = sa;
  if (may_be_level(ta) != may_be_level(tb) && !(may_be_level(ta) ? sa : sb)) {
    result.refusal = str("it is ", ta, " in a and ", tb, " in b, and the scale of the bytes is not known");
    return result;
  }
  result.exact = !is_float(ta) && !is_float(tb) && !sa && !sb && !may_be_level(ta);
  result.in_levels = may_be_level(ta) && may_be_level(tb) && !is_float(ta) && !sa && !sb;
  result.a = decoded(a.tensor, sa);
  result.b = decoded(b.tensor, sb);
  result.fed =
      sb && !(ta == tb && same_scale(sa, sb)) ? HostTensor::of(DType::kF32, b.tensor.extents(), result.b) : b.tensor;
  return result;
}

/// Keeps what b shows of the tensors that a has, too.
class Keeper final : public Watcher {
 public:
  Keeper(const std::vector<std::optional<Match>>& matches, size_t num_spots, const CompareOptions& options)
      : options_(options), wanted_(num_spots, false), kept_(num_spots), runs_(num_spots, 0) {
    for (const std::optional<Match>& match : matches)
      if (match) wanted_[match->spot] = true;
  }
  bool wants(size_t spot) override { return wanted_[spot]; }
  Result<std::optional<HostTensor>> made(size_t spot, const MadeTensor& value) override {
    if (++runs_[spot] > options_.most_iterations) return std::nullopt;
    const int64_t bytes = std::ssize(value.tensor.bytes());
    if (bytes > options_.most_kept_bytes - bytes_) {
      crowded_out_.insert(spot);
      return std::nullopt;
    }
    if (crowded_out_.contains(spot)) return std::nullopt;  // runs are kept from the first on
    bytes_ += bytes;
    kept_[spot].push_back(value);
    return std::nullopt;
  }

  const std::vector<MadeTensor>& of(size_t spot) const { return kept_[spot]; }
  int64_t runs(size_t spot) const { return runs_[spot]; }
  bool is_crowded_out(size_t spot) const { return crowded_out_.contains(spot); }
  int64_t num_crowded_out() const { return std::ssize(crowded_out_); }

 private:
  const CompareOptions& options_;
  std::vector<bool> wanted_;
  std::vector<std::vector<MadeTensor>> kept_;
  std::vector<int64_t> runs_;
  std::set<size_t> crowded_out_;
  int64_t bytes_ = 0;
};

/// How bad errors are against what is allowed: 1 is the limit.
double badness(const Errors& errors, const Tolerance& tolerance) {
  if (errors.broken > 0) return INFINITY;
  return errors.max_abs == 0 ? 0 : errors.max_abs / tolerance.limit(errors);
}

enum class Pass : uint8_t { kTotal, kOwn };

/// Compares what a shows with what was kept; in the second pass it puts b's tensor in the place of a's.
class Checker final : public Watcher {
 public:
  Checker(const Side& a, const Side& b, const std::vector<std::optional<Match>>& matches, const Keeper& kept,
          const CompareOptions& options, Report& report)
      : a_(a),
        b_(b),
        matches_(matches),
        kept_(kept),
        options_(options),
        report_(report),
        place_(a.spots().size(), -1),
        runs_(a.spots().size(), 0),
        fed_(a.spots().size(), false) {}

  void begin(Pass pass) {
    pass_ = pass;
    std::ranges::fill(runs_, 0);
  }
  bool wants(size_t spot) override { return matches_[spot].has_value(); }

  Result<std::optional<HostTensor>> made(size_t spot, const MadeTensor& value) override {
    const Match& match = *matches_[spot];
    TensorDiff& diff = entry(spot, match, value);
    const int64_t run = runs_[spot]++;
    if (pass_ == Pass::kTotal) diff.runs_a = runs_[spot];
    if (run >= options_.most_iterations) return std::nullopt;
    const std::vector<MadeTensor>& others = kept_.of(match.spot);
    // What one side does in each iteration and the other once, before the loop, is the same each time.
    const bool moved = others.size() == 1 && diff.a.body != diff.b.body;
    const auto at = moved ? size_t{0} : static_cast<size_t>(run);
    if (at >= others.size()) {
      if (others.empty())
        diff.skipped =
            kept_.is_crowded_out(match.spot) ? "there was no memory to keep b's (--keep)" : "b has not made it";
      return std::nullopt;
    }
    Numbers numbers = numbers_of(value, others[at], match.by);
    if (!numbers.refusal.empty()) {
      if (pass_ == Pass::kTotal && diff.runs_refused++ == 0) diff.refusal = std::move(numbers.refusal);
      return std::nullopt;
    }
    note(diff, run, numbers);
    if (pass_ == Pass::kTotal) return std::nullopt;
    fed_[spot] = true;
    return std::move(numbers.fed);
  }

  /// Says of each tensor without a run that was compared why there is none.
  void skip_not_compared() {
    for (TensorDiff& diff : report_.tensors) {
      if (diff.runs_compared > 0 || !diff.skipped.empty()) continue;
      if (diff.runs_refused > 0)
        diff.skipped = diff.refusal;
      else if (diff.runs_not_finite > 0)
        diff.skipped = str("none of its ", volume(diff.extents), " numbers is finite, in a as in b");
    }
  }

  /// Notes which inputs of each step were a's own.
  void note_inputs() {
    for (size_t spot = 0; spot < place_.size(); ++spot)
      if (place_[spot] >= 0)
        for (const size_t input : a_.spots()[spot].reads)
          if (!fed_[input])
            report_.tensors[static_cast<size_t>(place_[spot])].not_fed.push_back(a_.spots()[input].name());
  }

 private:
  TensorDiff& entry(size_t spot, const Match& match, const MadeTensor& value) {
    if (place_[spot] < 0) {
      place_[spot] = static_cast<int64_t>(report_.tensors.size());
      TensorDiff& made = report_.tensors.emplace_back();
      made.a = a_.spots()[spot];
      made.b = b_.spots()[match.spot];
      made.by = match.by;
      made.a_type = value.tensor.dtype();
      made.extents = value.tensor.extents();
      made.runs_b = kept_.runs(match.spot);
      if (!kept_.of(match.spot).empty()) made.b_type = kept_.of(match.spot)[0].tensor.dtype();
    }
    return report_.tensors[static_cast<size_t>(place_[spot])];
  }

  void note(TensorDiff& diff, int64_t run, const Numbers& numbers) {
    const Errors errors = compare(numbers.a, numbers.b);
    if (errors.is_not_finite()) {
      diff.runs_not_finite += pass_ == Pass::kTotal;
      return;
    }
    const Tolerance tolerance = numbers.exact ? Tolerance{} : report_.tolerance;
    diff.tolerance = numbers.in_levels && !options_.tolerance ? Tolerance{0, 1} : tolerance;
    diff.in_levels = numbers.in_levels;
    const double bad = badness(errors, diff.tolerance);
    const bool within = diff.tolerance.takes(errors);
    if (pass_ == Pass::kOwn) {
      if (!diff.own || bad > badness(*diff.own, diff.tolerance)) diff.own = errors;
      diff.own_within &= within;
      return;
    }
    if (diff.runs_compared == 0 || bad > badness(diff.total, diff.tolerance)) {
      diff.total = errors;
      diff.worst_run = run;
    }
    ++diff.runs_compared;
    diff.within &= within;
    diff.overflowed += errors.overflowed;
    diff.largest_overflowed = std::max(diff.largest_overflowed, errors.largest_overflowed);
  }

  const Side& a_;
  const Side& b_;
  const std::vector<std::optional<Match>>& matches_;
  const Keeper& kept_;
  const CompareOptions& options_;
  Report& report_;
  Pass pass_ = Pass::kTotal;
  std::vector<int64_t> place_;  ///< by spot of a: in the report; -1: not made yet
  std::vector<int64_t> runs_;
  std::vector<bool> fed_;
};

/// The tensors of b that no tensor of a has the name of: a keeps them inside a step, calls them otherwise, or does not
/// compute them.
std::vector<Hidden> hidden_tensors(const Side& a, const Side& b, const std::vector<std::optional<Match>>& matches) {
  std::set<size_t> shown;
  std::set<std::pair<std::string, std::string>> names;  // of other copies of the same tensor
  for (const std::optional<Match>& match : matches)
    if (match) {
      shown.insert(match->spot);
      for (const std::string& name : b.spots()[match->spot].names) names.emplace(b.spots()[match->spot].body, name);
    }
  std::map<std::string, const Spot*> by_origin;
  for (const Spot& spot : a.spots())
    for (const std::string& origin : spot.origins) by_origin.emplace(origin, &spot);
  std::vector<Hidden> hidden;
  for (size_t i = 0; i < b.spots().size(); ++i) {
    const Spot& spot = b.spots()[i];
    if (shown.contains(i) || spot.names.empty() || spot.names[0].empty() || names.contains({spot.body, spot.names[0]}))
      continue;
    Hidden& made = hidden.emplace_back(Hidden{.b = spot, .inside = {}, .number = {}});
    for (const std::string& origin : spot.origins)
      if (const auto found = by_origin.find(origin); found != by_origin.end()) {
        made.inside = found->second->layer;
        made.number = found->second->number;
        for (const Spot& other : a.spots())
          if (other.number == made.number && other.layer == made.inside && other.body == found->second->body)
            made.shows.push_back(other.name());
        break;
      }
  }
  return hidden;
}

}  // namespace

Result<Report> compare_sides(Side& a, const std::vector<HostTensor>& inputs_a, Side& b,
                             const std::vector<HostTensor>& inputs_b, const CompareOptions& options) {
  Report report{.a = a.description(), .b = b.description()};
  report.tolerance = options.tolerance.value_or(default_tolerance(std::max(a.precision(), b.precision())));
  report.isolated = options.isolate;
  const SpotIndex index(b.spots());
  std::vector<std::optional<Match>> matches;
  for (const Spot& spot : a.spots()) {
    matches.push_back(index.find(spot));
    if (!matches.back()) report.without_counterpart.push_back(spot);
  }
  TRY(require(report.without_counterpart.size() < a.spots().size(), "no tensor of ", a.description(), " is one of ",
              b.description(), " by its name or its layer: are they of one network?"));
  Keeper kept(matches, b.spots().size(), options);
  TRY(b.run(inputs_b, kept));
  Checker checker(a, b, matches, kept, options, report);
  checker.begin(Pass::kTotal);
  TRY(a.run(inputs_a, checker));
  checker.skip_not_compared();
  if (options.isolate) {
    checker.begin(Pass::kOwn);
    TRY(in_context(a.run(inputs_a, checker), [] { return "the run with b's tensors"; }));
    checker.note_inputs();
  }
  report.hidden = hidden_tensors(a, b, matches);
  report.not_kept = kept.num_crowded_out();
  if (report.num_compared() == 0) {
    const auto reason = std::ranges::find_if(report.tensors, [](const TensorDiff& t) { return !t.skipped.empty(); });
    return error(
        Code::kInvalidArgument, "no tensor of ", a.description(), " can be compared with one of ", b.description(),
        reason == report.tensors.end() ? std::string("") : str(": '", reason->a.name(), "': ", reason->skipped));
  }
  return report;
}

}  // namespace kiln::diff
