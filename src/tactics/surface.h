/// Formats in which a program gives a network its inputs and takes its outputs.
#pragma once

#include <map>
#include <vector>

#include "ir/graph.h"
#include "tensor/format.h"

namespace kiln {

/// Linear where not named. An output's format goes by its position, not by its value: one value may be an input and
/// several outputs, each in a format of its own.
struct Surface {
  std::map<ir::ValueId, Format> inputs;
  std::vector<Format> outputs;

  Format input(ir::ValueId value) const {
    const auto found = inputs.find(value);
    return found == inputs.end() ? Format::linear() : found->second;
  }
  Format output(size_t position) const { return position < outputs.size() ? outputs[position] : Format::linear(); }
};

}  // namespace kiln
