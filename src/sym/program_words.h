/// The words of programs that are no Kind of expression: what an expression says more than once is computed once.
#pragma once

#include <cstdint>
#include <vector>

#include "sym/program.h"

namespace kiln::sym {

inline constexpr int64_t kKeep = 12;  ///< takes a value off the stack and numbers it: 0, 1, ...
inline constexpr int64_t kKept = 13;  ///< and a number: puts the value of that number on the stack
inline constexpr int64_t kRoom = 14;  ///< and how many values are kept: the first word of a program that keeps any

/// The operands that a program reads, each as often as it does. (Whoever walks words otherwise must know all of them.)
struct ProgramOperands {
  std::vector<int> symbols;  ///< ids
  std::vector<int64_t> constants;
};
ProgramOperands operands_of(const Program& program);
/// Whether a program reads a symbol for which `symbols`, by id, is true. Allocates nothing: runs ask.
bool reads_any(const Program& program, const std::vector<bool>& symbols);

/// Whether a program has no operations but sums, products, maxima and minima.
bool only_adds(const Program& program);

}  // namespace kiln::sym
