/// Where the elements of constants come from.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace kiln {

struct Origin;
/// Null: of elements that follow from the network's structure alone (extents, zeros of a missing bias).
using OriginRef = std::shared_ptr<const Origin>;

/// A named source of the network, or an op of constants at least one of which has an origin. It keeps no elements of
/// sources: whoever derives anew is given them.
struct Origin {
  /// An input of the op. One without an origin is kept as it is.
  struct Input {
    OriginRef origin;
    HostTensor data;
    bool present = true;
  };

  std::string source;  ///< its name; empty: made by `op`
  Op op;
  int output = 0;  ///< of the op
  std::vector<Input> inputs;
  DType dtype = DType::kF32;
  Extents extents;

  int depth = 0;                     ///< ops between the source and this
  std::vector<std::string> sources;  ///< all that it comes from, sorted, each once
  Hash128 hash;                      ///< equal for equal origins
};

/// Sources that cannot become others: their elements decided something, and what.
using FixedSources = std::map<std::string, std::string>;
/// Fixes all sources of an origin, if it is not null; the first reason stays.
void fix(FixedSources& fixed, const OriginRef& origin, std::string_view why);

OriginRef source_origin(std::string name, const HostTensor& value);
/// Null where no input has an origin, where the op reads nothing of its inputs but their types, or where it is the last
/// of a chain of more than a thousand ops: its sources then count as lost.
OriginRef derived_origin(const Op& op, int output, std::vector<Origin::Input> inputs, const HostTensor& value);

}  // namespace kiln
