#include "plan/decided_sizes.h"

#include <algorithm>

#include "sym/program_words.h"

namespace kiln::plan {

bool decides_sizes(const Block& block) {
  return std::ranges::any_of(block.steps, [](const Step& step) { return !step.sizes.empty(); });
}

bool decides_extent(const Step& step, const Tensor& tensor) {
  return !step.sizes.empty() && std::ranges::any_of(tensor.extents, [&](const sym::Program& extent) {
    return std::ranges::any_of(sym::operands_of(extent).symbols, [&](int symbol) {
      return std::ranges::count(step.sizes, symbol, &DecidedSize::symbol) > 0;
    });
  });
}

Status set_known_sizes(const Block& block, std::vector<int64_t>& symbols) {
  for (const KnownSize& size : block.known_sizes)
    symbols[static_cast<size_t>(size.symbol)] = TRY(size.value.run(symbols));
  return {};
}

Status set_largest_sizes(const Block& block, std::vector<int64_t>& symbols, const std::vector<bool>* only) {
  TRY(set_known_sizes(block, symbols));
  for (const Step& step : block.steps)
    for (const DecidedSize& size : step.sizes)
      if (const auto symbol = static_cast<size_t>(size.symbol); !only || (*only)[symbol])
        symbols[symbol] = TRY(size.most.run(symbols));
  return set_known_sizes(block, symbols);  // some are made of those
}

}  // namespace kiln::plan
