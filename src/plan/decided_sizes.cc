#include "plan/decided_sizes.h"

#include <algorithm>

#include "steps/plugin.h"
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

namespace {

/// The error of a guard that reads `symbol`, the latest that has a value, and does not hold; nothing if there is none.
Status broken_guard(std::span<const sym::Guard> guards, int symbol, const std::vector<bool>& is_undecided,
                    std::span<const int64_t> symbols) {
  for (const sym::Guard& guard : guards) {
    std::vector<int> read = sym::operands_of(guard.lhs).symbols;
    const std::vector<int> right = sym::operands_of(guard.rhs).symbols;
    read.insert(read.end(), right.begin(), right.end());
    const auto undecided = [&](int other) { return is_undecided[static_cast<size_t>(other)]; };
    if (std::ranges::find(read, symbol) != read.end() && std::ranges::none_of(read, undecided))
      TRY(guard.check(symbols));
  }
  return {};
}

/// Flags by symbol: whether a step behind the one that decides `symbol` decides it, or the same step behind it.
std::vector<bool> decided_behind(const Block& block, int symbol, size_t num_symbols) {
  std::vector<bool> result(num_symbols, false);
  bool is_behind = false;
  for (const Step& step : block.steps)
    for (const DecidedSize& size : step.sizes) {
      result[static_cast<size_t>(size.symbol)] = is_behind;
      is_behind |= size.symbol == symbol;
    }
  return result;
}

}  // namespace

namespace {

/// A size as its step has told it. Of a plugin's scalar of 32 bits a GPU copies those alone.
int64_t told_size(const Block& block, const Step& step, size_t k, int64_t told) {
  const std::vector<int>* const outputs = steps::size_outputs_of(step.step);
  if (!outputs || k >= outputs->size()) return told;
  const auto output = static_cast<size_t>((*outputs)[k]);
  const Tensor& scalar = block.tensors[static_cast<size_t>(step.outputs[output])];
  return scalar.dtype == DType::kI32 ? static_cast<int32_t>(told) : told;
}

}  // namespace

Status take_decided_sizes(const Plan& plan, const Block& block, std::span<const sym::Guard> guards,
                          const Segment& segment, std::span<const int64_t> sizes, std::vector<int64_t>& symbols) {
  auto next = sizes.begin();
  for (size_t s = segment.first; s < segment.end; ++s) {
    const Step& step = block.steps[s];
    for (size_t k = 0; k < step.sizes.size(); ++k) {
      const DecidedSize& size = step.sizes[k];
      const int64_t most = TRY(size.most.run(symbols)), decided = told_size(block, step, k, *next++);
      const auto symbol = static_cast<size_t>(size.symbol);
      symbols[symbol] = decided;
      if (decided >= size.least && decided <= most) continue;
      const auto where = [&] {
        return str("step '", step.name, "' decided ", decided, " for '", plan.symbols[symbol].name, "'");
      };
      const std::vector<bool> behind = decided_behind(block, size.symbol, symbols.size());
      for (const std::span<const sym::Guard> of : {std::span(plan.guards), guards})
        TRY(in_context(broken_guard(of, size.symbol, behind, symbols), where));
      return error(Code::kInternal, where(), ", which lies in [", size.least, ", ", most, "]");
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
