#include "runtime/fixed_shapes.h"

#include <algorithm>
#include <limits>

#include "sym/program_words.h"

namespace kiln::runtime {
namespace {

/// The id, if the program is a symbol and nothing else.
std::optional<size_t> symbol_of(const sym::Program& program) {
  const std::span<const int64_t> words = program.words();
  if (words.size() != 2 || words[0] != static_cast<int64_t>(sym::Kind::kSymbol)) return std::nullopt;
  return static_cast<size_t>(words[1]);
}

struct Range {
  int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
};

}  // namespace

FixedSymbols::FixedSymbols(const plan::Plan& plan, const plan::Profile& profile) {
  std::vector<Range> ranges(plan.symbols.size());
  const auto narrow = [&](size_t symbol, int64_t least, int64_t most) {
    ranges[symbol].least = std::max(ranges[symbol].least, least);
    ranges[symbol].most = std::min(ranges[symbol].most, most);
  };
  for (size_t i = 0; i < plan.inputs.size(); ++i)
    for (size_t axis = 0; axis < plan.inputs[i].extents.size(); ++axis)
      if (const auto symbol = symbol_of(plan.inputs[i].extents[axis]))
        narrow(*symbol, profile.ranges[i].min[axis], profile.ranges[i].max[axis]);
  for (size_t s = 0; s < plan.symbols.size(); ++s) {
    const plan::Symbol& symbol = plan.symbols[s];
    if (symbol.input < 0 || symbol.element < 0) continue;
    const plan::InputRange& values = profile.value_ranges[static_cast<size_t>(symbol.input)];
    const auto element = static_cast<size_t>(symbol.element);
    if (element < values.min.size()) narrow(s, values.min[element], values.max[element]);
  }
  for (const Range& range : ranges) {
    fixed_.push_back(range.least == range.most);
    values_.push_back(range.least == range.most ? range.least : 0);
  }
}

std::optional<int64_t> FixedSymbols::value_of(const sym::Program& program) const {
  for (const int id : sym::operands_of(program).symbols)
    if (!fixed_[static_cast<size_t>(id)]) return std::nullopt;
  return program.try_run(values_);
}

Extents FixedSymbols::extents(std::span<const sym::Program> programs) const {
  Extents result;
  for (const sym::Program& program : programs) result.push_back(value_of(program).value_or(-1));
  return result;
}

}  // namespace kiln::runtime
