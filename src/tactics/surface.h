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
  bool is_direct =
      false;  ///< steps that bring inputs and outputs to other formats are avoided, even if that costs time
  /// What no step may bring to another format, with the formats that it may have; the cover chooses one of them.
  std::map<ir::ValueId, std::vector<Format>> direct_inputs;
  std::map<size_t, std::vector<Format>> direct_outputs;

  Format input(ir::ValueId value) const {
    const auto found = inputs.find(value);
    return found == inputs.end() ? Format::linear() : found->second;
  }
  Format output(size_t position) const { return position < outputs.size() ? outputs[position] : Format::linear(); }
};

/// Whether an output may be in whatever format its readers in the network want: it is kept only for who watches it.
inline bool takes_any_format(const ir::Graph& graph, const ir::Output& output) {
  return !output.tap.empty() && !graph.value(output.value).users.empty();
}

}  // namespace kiln
