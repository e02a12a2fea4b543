#include "sym/program.h"

#include <algorithm>

#include "sym/checked.h"
#include "sym/node.h"

namespace kiln::sym {
namespace {

static_assert(Program::kMaxStack == kMaxStackNeeded);

bool is_operation(int64_t word) {
  return word >= static_cast<int64_t>(Kind::kSum) && word < static_cast<int64_t>(Kind::kInvalid);
}

void emit(Expr e, std::vector<int64_t>& words, int& num_symbols) {
  if (e.kind() > Kind::kSymbol) {
    emit(e.lhs(), words, num_symbols);
    emit(e.rhs(), words, num_symbols);
  }
  words.push_back(static_cast<int64_t>(e.kind()));
  if (e.is_const()) words.push_back(e.value());
  if (e.is_symbol()) {
    words.push_back(e.symbol_id());
    num_symbols = std::max(num_symbols, e.symbol_id() + 1);
  }
}

/// Where a run stopped, with the operands of the operation that failed.
struct Stop {
  Fault fault = Fault::kNone;
  Kind operation = Kind::kConst;
  int64_t a = 0, b = 0;
};

/// Runs words that are known to be valid, with all their symbols bound.
Stop execute(std::span<const int64_t> words, const int64_t* symbols, int64_t& result) noexcept {
  int64_t stack[Program::kMaxStack];
  int64_t* top = stack;  // one past the uppermost value
  for (size_t i = 0; i < words.size(); ++i) {
    switch (static_cast<Kind>(words[i])) {
      case Kind::kConst: *top++ = words[++i]; break;
      case Kind::kSymbol: *top++ = symbols[words[++i]]; break;
      default: {
        const auto operation = static_cast<Kind>(words[i]);
        const int64_t b = *--top, a = top[-1];
        if (const Fault fault = compute(operation, a, b, top[-1]); fault != Fault::kNone)
          return {fault, operation, a, b};
      }
    }
  }
  result = stack[0];
  return {};
}

}  // namespace

Program Program::compile(Expr e) {
  CHECK(e.is_valid());
  Program out;
  out.words_.clear();
  emit(e, out.words_, out.num_symbols_);
  return out;
}

Result<Program> Program::from_words(std::span<const int64_t> words, int num_symbols) {
  Program out;
  int depth = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    const int64_t word = words[i];
    const auto bad = [&, at = i](auto... parts) {
      return error(Code::kCorrupt, "dimension program, word ", at, ": ", parts...);
    };
    if (word == static_cast<int64_t>(Kind::kConst) || word == static_cast<int64_t>(Kind::kSymbol)) {
      if (++i == words.size()) return bad("its operand is missing");
      if (++depth > kMaxStack) return bad("the stack exceeds ", kMaxStack, " values");
      if (word == static_cast<int64_t>(Kind::kConst)) continue;
      if (words[i] < 0 || words[i] >= num_symbols) return bad("symbol ", words[i], " of ", num_symbols);
      out.num_symbols_ = std::max(out.num_symbols_, static_cast<int>(words[i]) + 1);
    } else if (is_operation(word)) {
      if (depth < 2) return bad("operation ", word, " finds ", depth, " of its 2 operands");
      --depth;
    } else {
      return bad("unknown operation ", word);
    }
  }
  if (depth != 1) return error(Code::kCorrupt, "dimension program leaves ", depth, " values; one is needed");
  out.words_.assign(words.begin(), words.end());
  return out;
}

Result<int64_t> Program::run(std::span<const int64_t> symbols) const {
  TRY(require(static_cast<size_t>(num_symbols_) <= symbols.size(), "a dimension program reads symbol ",
              num_symbols_ - 1, "; ", symbols.size(), " symbols are bound"));
  int64_t result = 0;
  const Stop stop = execute(words_, symbols.data(), result);
  if (stop.fault != Fault::kNone) return fault_error(stop.fault, stop.operation, stop.a, stop.b);
  return result;
}

std::optional<int64_t> Program::try_run(std::span<const int64_t> symbols) const noexcept {
  int64_t result = 0;
  if (static_cast<size_t>(num_symbols_) > symbols.size()) return std::nullopt;
  if (execute(words_, symbols.data(), result).fault != Fault::kNone) return std::nullopt;
  return result;
}

void append(std::string& out, const Program& program) {
  const auto words = program.words();
  for (size_t i = 0; i < words.size(); ++i) {
    if (i) out += ' ';
    const auto kind = static_cast<Kind>(words[i]);
    if (kind == Kind::kConst || kind == Kind::kSymbol) {
      if (kind == Kind::kSymbol) out += 's';
      append_signed(out, words[++i]);
    } else {
      out += name_of(kind);
    }
  }
}

}  // namespace kiln::sym
