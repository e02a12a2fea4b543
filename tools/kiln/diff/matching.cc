#include "kiln/diff/matching.h"

#include <algorithm>

namespace kiln::diff {
namespace {

/// What a tensor without a name is known by: its makers' layers, whatever their order, and which output it is.
std::string origin_of(const Spot& spot) {
  if (spot.origins.empty()) return {};
  std::vector<std::string> origins = spot.origins;
  std::ranges::sort(origins);
  std::string text = str(spot.body, '\n', spot.output);
  for (const std::string& origin : origins) text += str('\n', origin);
  return text;
}

}  // namespace

SpotIndex::SpotIndex(const std::vector<Spot>& spots) : spots_(spots) {
  for (size_t i = 0; i < spots.size(); ++i) {
    for (const std::string& name : spots[i].names) {
      if (name.empty()) continue;
      by_body_and_name_.emplace(std::pair(spots[i].body, name), i);  // the first is the value, others are its copies
      by_name_.emplace(name, i);
    }
    if (const std::string origin = origin_of(spots[i]); spots[i].names.empty() && !origin.empty())
      by_origin_.emplace(origin, i);
  }
}

std::optional<Match> SpotIndex::find_name(const Spot& spot) const {
  const auto match = [&](size_t found, const std::string& name) {
    const bool own = spot.names[0] == name && spots_[found].names[0] == name;
    return Match{found, own ? MatchedBy::kName : MatchedBy::kAlias};
  };
  for (const std::string& name : spot.names)
    if (const auto found = by_body_and_name_.find({spot.body, name}); !name.empty() && found != by_body_and_name_.end())
      return match(found->second, name);
  for (const std::string& name : spot.names)
    if (!name.empty() && by_name_.count(name) == 1) return match(by_name_.find(name)->second, name);
  return std::nullopt;
}

std::optional<Match> SpotIndex::find(const Spot& spot) const {
  if (const auto found = find_name(spot)) return found;
  const std::string origin = origin_of(spot);
  if (!spot.names.empty() || by_origin_.count(origin) != 1) return std::nullopt;
  return Match{by_origin_.find(origin)->second, MatchedBy::kOrigin};
}

}  // namespace kiln::diff
