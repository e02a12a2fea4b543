/// Postfix programs: expressions as plans store them, evaluated with checked arithmetic; none but huge ones allocate.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "sym/expr.h"

namespace kiln::sym {

/// A sequence of words: kConst value, kSymbol id, an operation's Kind, which takes two values off the stack and puts
/// one back, or those of program_words.h. Always valid: it leaves one value and needs at most kMaxStack. Of no Table.
class Program {
 public:
  static constexpr int kMaxStack = 256;

  Program() : Program(0) {}
  static Program compile(Expr e);  ///< CHECKs that `e` is valid
  static Program constant(int64_t value) { return Program(value); }
  /// Accepts words from outside: known opcodes, ids below `num_symbols`, a stack that fits.
  static Result<Program> from_words(std::span<const int64_t> words, int num_symbols);

  /// Evaluates with symbol i bound to `symbols[i]`; says what overflowed or divided by zero.
  Result<int64_t> run(std::span<const int64_t> symbols) const;
  /// The same without words: nothing where `run` has an error.
  std::optional<int64_t> try_run(std::span<const int64_t> symbols) const noexcept;

  std::span<const int64_t> words() const { return words_; }
  bool is_constant() const { return words_.size() == 2 && words_[0] == static_cast<int64_t>(Kind::kConst); }
  std::optional<int64_t> constant() const { return is_constant() ? std::optional(words_[1]) : std::nullopt; }
  int num_symbols() const { return num_symbols_; }  ///< one more than the greatest id it reads
  bool operator==(const Program& other) const = default;

 private:
  explicit Program(int64_t value) : words_{static_cast<int64_t>(Kind::kConst), value} {}
  std::vector<int64_t> words_;
  int num_symbols_ = 0;
};
/// Postfix text: "n 2 floor_div", with symbols as s0, s1 ...
void append(std::string& out, const Program& program);

}  // namespace kiln::sym
