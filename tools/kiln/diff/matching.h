/// Pairs the tensors of both sides that stand for the same numbers.
#pragma once

#include <map>

#include "kiln/diff/side.h"

namespace kiln::diff {

enum class MatchedBy : uint8_t {
  kName,   ///< both have this name as their own
  kAlias,  ///< one has it as that of a view, or of bytes made of it: extents may differ, the order of elements does not
  kOrigin  ///< neither name is there, but both come from the same layers
};

struct Match {
  size_t spot = 0;  ///< of the other side
  MatchedBy by = MatchedBy::kName;
};

/// The spots of one side, to be found by those of another.
class SpotIndex {
 public:
  explicit SpotIndex(const std::vector<Spot>& spots);
  /// A tensor in the same body goes before one in another body: passes move what an iteration need not do.
  std::optional<Match> find(const Spot& spot) const;

 private:
  std::optional<Match> find_name(const Spot& spot) const;
  const std::vector<Spot>& spots_;
  std::map<std::pair<std::string, std::string>, size_t> by_body_and_name_;
  std::multimap<std::string, size_t> by_name_;
  std::multimap<std::string, size_t> by_origin_;  ///< of tensors without names
};

}  // namespace kiln::diff
