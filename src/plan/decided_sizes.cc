#include "plan/decided_sizes.h"

#include <algorithm>

#include "sym/program_words.h"

namespace kiln::plan {

bool decides_sizes(const Block& block) {
  return std::ranges::any_of(block.steps, [](const Step& step) { return !step.sizes.empty(); });
}

namespace {

/// Whether an extent of the tensor reads a size of the step's for which `counts` is true.
template <class Counts>
bool reads_size(const Step& step, const Tensor& tensor, Counts counts) {
  const auto is_size = [&](int symbol) {
    return std::ranges::any_of(step.sizes, [&](const DecidedSize& s) { return s.symbol == symbol && counts(s); });
  };
  return !step.sizes.empty() && std::ranges::any_of(tensor.extents, [&](const sym::Program& extent) {
    return std::ranges::any_of(sym::operands_of(extent).symbols, is_size);
  });
}

}  // namespace

bool decides_extent(const Step& step, const Tensor& tensor) {
  return reads_size(step, tensor, [](const DecidedSize&) { return true; });
}

bool decides_open_extent(const Step& step, const Tensor& tensor) {
  return reads_size(step, tensor, [](const DecidedSize& size) { return size.is_open; });
}

Status take_decided_sizes(const Plan& plan, const Block& block, const Segment& segment, std::span<const int64_t> sizes,
                          std::vector<int64_t>& symbols) {
  auto next = sizes.begin();
  for (size_t s = segment.first; s < segment.end; ++s) {
    const Step& step = block.steps[s];
    for (const DecidedSize& size : step.sizes) {
      const int64_t most = TRY(size.most.run(symbols)), decided = *next++;
      const auto symbol = static_cast<size_t>(size.symbol);
      if (decided < size.least || decided > most)
        return error(Code::kInternal, "step '", step.name, "' decided ", decided, " for '", plan.symbols[symbol].name,
                     "', which lies in [", size.least, ", ", most, "]");
      symbols[symbol] = decided;
    }
  }
  return {};
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
        symbols[symbol] = size.is_open ? size.typical : TRY(size.most.run(symbols));
  return set_known_sizes(block, symbols);  // some are made of those
}

}  // namespace kiln::plan
