#include "library/pyramid.h"

namespace kiln::plugins {

Status require_pyramid(std::span<const Shape> inputs) {
  TRY(require_rank(inputs, 0, 3));
  const int64_t numbers = inputs[0][2].number().value_or(4);
  TRY(require(numbers == 4, "regions have ", numbers, " numbers each; 4 are needed"));
  for (size_t i = 1; i < inputs.size(); ++i) {
    TRY(require_rank(inputs, i, 4));
    const auto first = inputs[1][1].number(), channels = inputs[i][1].number();
    if (first && channels) TRY(require(*first == *channels, "p", i + 1, " has ", *channels, " channels, p2 ", *first));
  }
  return {};
}

}  // namespace kiln::plugins
