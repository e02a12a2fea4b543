#include "builder/corners.h"

#include <algorithm>
#include <set>

#include "plan/decided_sizes.h"
#include "sym/program_words.h"

namespace kiln {
namespace {

constexpr int kMostTries = 1 << 14;  // at values of one group's symbols
constexpr size_t kMostCorners = 32;  // to bind every step at

using Point = std::vector<int64_t>;  // by symbol

void add_operands(const sym::Program& program, std::set<size_t>& symbols, std::set<int64_t>& constants) {
  const sym::ProgramOperands operands = sym::operands_of(program);
  for (const int id : operands.symbols) symbols.insert(static_cast<size_t>(id));
  constants.insert(operands.constants.begin(), operands.constants.end());
}

/// Symbols that assumptions tie together, and the values to try for them besides their maxima.
struct Group {
  std::set<size_t> symbols;
  std::set<int64_t> values{1};
};

bool ties(sym::Relation relation) {
  return relation == sym::Relation::kEqual || relation == sym::Relation::kOneOr ||
         relation == sym::Relation::kBroadcast;
}

using Guards = std::vector<const sym::Guard*>;

Guards guards_of(const plan::Plan& plan, const plan::Profile& profile, std::span<const sym::Guard> of_body) {
  Guards result;
  for (const std::span<const sym::Guard> guards : {std::span(plan.guards), std::span(profile.guards), of_body})
    for (const sym::Guard& guard : guards) result.push_back(&guard);
  return result;
}

std::vector<Group> groups_of(const Guards& guards) {
  std::vector<Group> groups;
  for (const sym::Guard* guard : guards) {
    if (!ties(guard->relation)) continue;
    Group group;
    for (const sym::Program* side : {&guard->lhs, &guard->rhs}) add_operands(*side, group.symbols, group.values);
    const auto meets = [&](const Group& other) {
      return std::ranges::any_of(other.symbols, [&](size_t s) { return group.symbols.contains(s); });
    };
    for (const Group& other : groups)
      if (meets(other)) {
        group.symbols.insert(other.symbols.begin(), other.symbols.end());
        group.values.insert(other.values.begin(), other.values.end());
      }
    std::erase_if(groups, meets);
    groups.push_back(std::move(group));
  }
  return groups;
}

/// Searches for points at which all assumptions about a group's symbols hold, from the largest values down.
class Search {
 public:
  Search(const Guards& guards, const Group& group, const Point& least, const Point& largest)
      : symbols_(group.symbols.begin(), group.symbols.end()),
        values_(group.values),
        least_(least),
        largest_(largest),
        point_(largest),
        decided_(symbols_.size()) {
    for (const size_t s : symbols_) values_.insert(largest[s]);
    for (const sym::Guard* guard : guards) {
      std::set<size_t> read;
      std::set<int64_t> constants;
      for (const sym::Program* side : {&guard->lhs, &guard->rhs}) add_operands(*side, read, constants);
      const bool inside = std::ranges::all_of(read, [&](size_t s) { return group.symbols.contains(s); });
      if (!inside || read.empty()) continue;
      decided_[static_cast<size_t>(std::ranges::find(symbols_, *read.rbegin()) - symbols_.begin())].push_back(guard);
    }
  }
  std::vector<Point> run() {
    for (const int64_t value : values_) try_for_all(value);
    descend(0);
    return std::move(found_);
  }

 private:
  /// Tries a value for all symbols that can have it, and 1 for the others. In a large group `descend` has used up its
  /// tries before it comes to points where the symbols that it decides first are 1.
  void try_for_all(int64_t value) {
    for (const size_t s : symbols_) point_[s] = value >= least_[s] && value <= largest_[s] ? value : 1;
    for (size_t depth = 0; depth < symbols_.size(); ++depth) {
      const size_t s = symbols_[depth];
      if (point_[s] < least_[s] || point_[s] > largest_[s] || !all_hold(depth)) return;
    }
    add(point_);
  }
  void add(const Point& point) {
    if (!std::ranges::count(found_, point)) found_.push_back(point);
  }
  bool all_hold(size_t depth) const {
    return std::ranges::all_of(decided_[depth],
                               [&](const sym::Guard* guard) { return guard->check(point_).has_value(); });
  }
  void descend(size_t depth) {
    if (depth == symbols_.size()) return add(point_);
    const size_t s = symbols_[depth];
    for (auto value = values_.rbegin(); value != values_.rend(); ++value) {
      if (*value < least_[s] || *value > largest_[s]) continue;
      if (found_.size() >= kMostCorners || ++tries_ > kMostTries) return;
      point_[s] = *value;
      if (all_hold(depth)) descend(depth + 1);
    }
  }

  std::vector<size_t> symbols_;  // in order
  std::set<int64_t> values_;
  const Point &least_, &largest_;
  Point point_;
  std::vector<std::vector<const sym::Guard*>> decided_;  // by symbol: what is known to hold once it has a value
  std::vector<Point> found_;
  int tries_ = 0;
};

/// Lowers sizes that steps decide, and those that are made of them, to what they can be at a point: they have their
/// bounds where all symbols have their maxima.
void lower_sizes(const plan::Profile& profile, Point& point) {
  Point at = point;
  if (!plan::set_largest_sizes(profile, at)) return;
  for (size_t s = 0; s < point.size(); ++s) point[s] = std::min(point[s], at[s]);
}

double sum_of(const Point& point) {
  double total = 0;
  for (const int64_t value : point) total += static_cast<double>(value);
  return total;
}

}  // namespace

std::vector<int64_t> symbols_at(const plan::Plan& plan, const plan::Profile& profile, Extents plan::InputRange::*end) {
  std::vector<int64_t> symbols(plan.symbols.size(), 0);
  for (size_t s = 0; s < symbols.size(); ++s) {
    const plan::Symbol& symbol = plan.symbols[s];
    if (symbol.input < 0) continue;
    const auto input = static_cast<size_t>(symbol.input);
    const Extents& values = profile.value_ranges[input].*end;
    if (symbol.axis >= 0)
      symbols[s] = (profile.ranges[input].*end)[static_cast<size_t>(symbol.axis)];
    else if (const auto element = static_cast<size_t>(symbol.element); element < values.size())
      symbols[s] = values[element];
  }
  // What has no value here is 0, as all symbols are at first.
  static_cast<void>(end == &plan::InputRange::min ? plan::set_known_sizes(profile, symbols)
                                                  : plan::set_largest_sizes(profile, symbols));
  return symbols;
}

bool agrees(const plan::Plan& plan, const plan::Profile& profile, const std::vector<int64_t>& symbols,
            std::span<const sym::Guard> of_body) {
  return std::ranges::all_of(guards_of(plan, profile, of_body),
                             [&](const sym::Guard* guard) { return guard->check(symbols).has_value(); });
}

std::vector<std::vector<int64_t>> largest_symbols(const plan::Plan& plan, const plan::Profile& profile,
                                                  std::span<const sym::Guard> of_body) {
  const Point most = symbols_at(plan, profile, &plan::InputRange::max),
              least = symbols_at(plan, profile, &plan::InputRange::min);
  const Guards guards = guards_of(plan, profile, of_body);
  const std::vector<Group> groups = groups_of(guards);
  std::vector<std::vector<Point>> by_group;
  Point largest = most;
  for (const Group& group : groups) {
    std::vector<Point>& points = by_group.emplace_back(Search(guards, group, least, most).run());
    std::ranges::stable_sort(points, std::greater(), sum_of);
    for (const size_t s : group.symbols)
      if (!points.empty()) largest[s] = points[0][s];
  }
  std::vector<Point> result{largest};
  for (size_t g = 0; g < groups.size(); ++g)
    for (size_t i = 1; i < by_group[g].size() && result.size() < kMostCorners; ++i) {
      Point& other = result.emplace_back(largest);
      for (const size_t s : groups[g].symbols) other[s] = by_group[g][i][s];
    }
  for (Point& point : result) lower_sizes(profile, point);
  largest = result[0];
  std::erase_if(result, [&](const Point& point) { return point != largest && !agrees(plan, profile, point, of_body); });
  return result;
}

}  // namespace kiln
