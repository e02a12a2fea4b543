#include "builder/corners.h"

#include <algorithm>
#include <set>

namespace kiln {
namespace {

constexpr size_t kMostCandidates = 4096;  // to look at
constexpr size_t kMostCorners = 32;       // to bind every step at

/// Adds the symbols and the constants that a program reads.
void add_operands(const sym::Program& program, std::set<size_t>& symbols, std::set<int64_t>& constants) {
  const std::span<const int64_t> words = program.words();
  for (size_t i = 0; i < words.size(); ++i) {
    const auto kind = static_cast<sym::Kind>(words[i]);
    if (kind == sym::Kind::kConst) constants.insert(words[++i]);
    if (kind == sym::Kind::kSymbol) symbols.insert(static_cast<size_t>(words[++i]));
  }
}

/// The values that symbols which broadcast may have beside their maximum, and those symbols.
struct Choices {
  std::set<size_t> symbols;
  std::set<int64_t> values{1};
};
Choices choices_of(const plan::Plan& plan, const std::vector<int64_t>& largest) {
  Choices choices;
  for (const sym::Guard& guard : plan.guards)
    if (guard.relation == sym::Relation::kOneOr || guard.relation == sym::Relation::kBroadcast)
      for (const sym::Program* side : {&guard.lhs, &guard.rhs}) add_operands(*side, choices.symbols, choices.values);
  for (const size_t s : choices.symbols) choices.values.insert(largest[s]);
  return choices;
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
  return symbols;
}

bool agrees(const plan::Plan& plan, const std::vector<int64_t>& symbols) {
  return std::ranges::all_of(plan.guards, [&](const sym::Guard& guard) { return guard.check(symbols).has_value(); });
}

std::vector<std::vector<int64_t>> largest_symbols(const plan::Plan& plan, const plan::Profile& profile) {
  const std::vector<int64_t> largest = symbols_at(plan, profile, &plan::InputRange::max),
                             least = symbols_at(plan, profile, &plan::InputRange::min);
  std::vector<std::vector<int64_t>> points{largest};
  const Choices choices = choices_of(plan, largest);
  for (const size_t s : choices.symbols) {
    const size_t before = points.size();
    for (const int64_t value : choices.values) {
      if (value < least[s] || value >= largest[s]) continue;
      for (size_t p = 0; p < before && points.size() < kMostCandidates; ++p) {
        points.push_back(points[p]);
        points.back()[s] = value;
      }
    }
  }
  std::erase_if(points, [&](const std::vector<int64_t>& point) { return !agrees(plan, point); });
  if (points.empty()) points.push_back(largest);
  const auto sum = [](const std::vector<int64_t>& point) {
    double total = 0;
    for (const int64_t value : point) total += static_cast<double>(value);
    return total;
  };
  std::ranges::stable_sort(points, std::greater(), sum);
  if (points.size() > kMostCorners) points.resize(kMostCorners);
  return points;
}

}  // namespace kiln
