#include "sym/program.h"

#include <algorithm>
#include <memory>
#include <new>
#include <unordered_map>

#include "sym/checked.h"
#include "sym/node.h"
#include "sym/program_words.h"

namespace kiln::sym {
namespace {

static_assert(kKeep > static_cast<int64_t>(Kind::kInvalid) && kRoom < static_cast<int64_t>(Kind::kWithin));

constexpr uint32_t kPlainProgram = 16;  // trees up to this size are not worth a look for what they share
constexpr int kMostKeptOnStack = 128;

bool is_operation(int64_t word) {
  const auto is_from = [word](Kind first, Kind last) {
    return word >= static_cast<int64_t>(first) && word <= static_cast<int64_t>(last);
  };
  return is_from(Kind::kSum, Kind::kCeilDiv) || is_from(Kind::kWithin, Kind::kRealFunction);
}

class Compiler {
 public:
  Compiler(std::vector<int64_t>& words, int& num_symbols) : words_(words), num_symbols_(num_symbols) {}

  void compile(Expr e) {
    const std::vector<const Node*> shared = shared_operations(e, kPlainProgram);
    if (!shared.empty()) words_.insert(words_.end(), {kRoom, std::ssize(shared)});
    for (const Node* node : shared) {
      operation(wrap(node));
      words_.push_back(kKeep);
      kept_.emplace(node, std::ssize(kept_));
    }
    emit(e);
  }

 private:
  void operation(Expr e) {
    emit(e.lhs());
    emit(e.rhs());
    words_.push_back(static_cast<int64_t>(e.kind()));
  }
  void emit(Expr e) {
    if (e.is_const()) {
      words_.insert(words_.end(), {static_cast<int64_t>(Kind::kConst), e.value()});
    } else if (e.is_symbol()) {
      words_.insert(words_.end(), {static_cast<int64_t>(Kind::kSymbol), e.symbol_id()});
      num_symbols_ = std::max(num_symbols_, e.symbol_id() + 1);
    } else if (const auto kept = kept_.find(e.node()); kept != kept_.end()) {
      words_.insert(words_.end(), {kKept, kept->second});
    } else {
      operation(e);
    }
  }

  std::vector<int64_t>& words_;
  int& num_symbols_;
  std::unordered_map<const Node*, int64_t> kept_;  // looked up, never iterated
};

/// The place where a run stopped, with the operands of the operation that failed.
struct Stop {
  Fault fault = Fault::kNone;
  Kind operation = Kind::kConst;
  int64_t a = 0, b = 0;
};

/// Runs words that are known to be valid, with all their symbols bound and room for what they keep.
Stop execute(std::span<const int64_t> words, const int64_t* symbols, int64_t* kept, int64_t& result) noexcept {
  const int64_t* const first_kept = kept;
  int64_t stack[Program::kMaxStack];
  int64_t* top = stack;  // one past the uppermost value
  for (size_t i = 0; i < words.size(); ++i) {
    switch (static_cast<Kind>(words[i])) {
      case Kind::kConst: *top++ = words[++i]; break;
      case Kind::kSymbol: *top++ = symbols[words[++i]]; break;
      default: {
        if (words[i] == kKeep) {
          *kept++ = *--top;
          break;
        }
        if (words[i] == kKept) {
          *top++ = first_kept[words[++i]];
          break;
        }
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

/// The same with room for what they say that they keep; nothing if there is no memory for that.
std::optional<Stop> execute(std::span<const int64_t> words, const int64_t* symbols, int64_t& result) noexcept {
  const int64_t num_kept = words[0] == kRoom ? words[1] : 0;
  if (num_kept > 0) words = words.subspan(2);
  if (num_kept <= kMostKeptOnStack) {
    int64_t kept[kMostKeptOnStack];
    return execute(words, symbols, kept, result);
  }
  const std::unique_ptr<int64_t[]> kept(new (std::nothrow) int64_t[static_cast<size_t>(num_kept)]);
  if (!kept) return std::nullopt;
  return execute(words, symbols, kept.get(), result);
}

}  // namespace

Program Program::compile(Expr e) {
  CHECK(e.is_valid());
  Program out;
  out.words_.clear();
  Compiler(out.words_, out.num_symbols_).compile(e);
  return out;
}

Result<Program> Program::from_words(std::span<const int64_t> words, int num_symbols) {
  Program out;
  int depth = 0;
  int64_t num_kept = 0;
  const bool keeps = words.size() > 1 && words[0] == kRoom;
  for (size_t i = keeps ? 2 : 0; i < words.size(); ++i) {
    const int64_t word = words[i];
    const auto bad = [&, at = i](auto... parts) {
      return error(Code::kCorrupt, "dimension program, word ", at, ": ", parts...);
    };
    if (word == static_cast<int64_t>(Kind::kConst) || word == static_cast<int64_t>(Kind::kSymbol) || word == kKept) {
      if (++i == words.size()) return bad("its operand is missing");
      if (++depth > kMaxStack) return bad("the stack exceeds ", kMaxStack, " values");
      if (word == static_cast<int64_t>(Kind::kConst)) continue;
      if (word == kKept) {
        if (words[i] < 0 || words[i] >= num_kept) return bad("kept value ", words[i], " of ", num_kept);
        continue;
      }
      if (words[i] < 0 || words[i] >= num_symbols) return bad("symbol ", words[i], " of ", num_symbols);
      out.num_symbols_ = std::max(out.num_symbols_, static_cast<int>(words[i]) + 1);
    } else if (is_operation(word)) {
      if (depth < 2) return bad("operation ", word, " finds ", depth, " of its 2 operands");
      --depth;
    } else if (word == kKeep) {
      if (--depth < 0) return bad("there is no value to keep");
      ++num_kept;
    } else {
      return bad("unknown operation ", word);
    }
  }
  if (depth != 1) return error(Code::kCorrupt, "dimension program leaves ", depth, " values; one is needed");
  const int64_t room = keeps ? words[1] : 0;
  if (num_kept != room || (keeps && room == 0))
    return error(Code::kCorrupt, "dimension program keeps ", num_kept, " values and says that it keeps ", room);
  out.words_.assign(words.begin(), words.end());
  return out;
}

Result<int64_t> Program::run(std::span<const int64_t> symbols) const {
  TRY(require(static_cast<size_t>(num_symbols_) <= symbols.size(), "a dimension program reads symbol ",
              num_symbols_ - 1, "; ", symbols.size(), " symbols are bound"));
  int64_t result = 0;
  const std::optional<Stop> stop = execute(words_, symbols.data(), result);
  if (!stop)
    return error(Code::kOutOfMemory, "no memory for the ", words_[1], " values that a dimension program keeps");
  if (stop->fault != Fault::kNone) return fault_error(stop->fault, stop->operation, stop->a, stop->b);
  return result;
}

std::optional<int64_t> Program::try_run(std::span<const int64_t> symbols) const noexcept {
  int64_t result = 0;
  if (static_cast<size_t>(num_symbols_) > symbols.size()) return std::nullopt;
  const std::optional<Stop> stop = execute(words_, symbols.data(), result);
  if (!stop || stop->fault != Fault::kNone) return std::nullopt;
  return result;
}

namespace {

/// Calls `f` with the word of each kind of operand, and the number behind it.
template <class F>
void for_each_operand(const Program& program, F f) {
  const std::span<const int64_t> words = program.words();
  for (size_t i = 0; i < words.size(); ++i) {
    if (is_operation(words[i]) || words[i] == kKeep) continue;
    const int64_t word = words[i++];
    f(word, words[i]);
  }
}

}  // namespace

ProgramOperands operands_of(const Program& program) {
  ProgramOperands result;
  for_each_operand(program, [&](int64_t word, int64_t operand) {
    if (word == static_cast<int64_t>(Kind::kSymbol)) result.symbols.push_back(static_cast<int>(operand));
    if (word == static_cast<int64_t>(Kind::kConst)) result.constants.push_back(operand);
  });
  return result;
}

bool reads_any(const Program& program, const std::vector<bool>& symbols) {
  bool reads = false;
  for_each_operand(program, [&](int64_t word, int64_t operand) {
    reads = reads || (word == static_cast<int64_t>(Kind::kSymbol) && symbols[static_cast<size_t>(operand)]);
  });
  return reads;
}

bool only_adds(const Program& program) {
  const std::span<const int64_t> words = program.words();
  for (size_t i = 0; i < words.size(); ++i) {
    const auto kind = static_cast<Kind>(words[i]);
    if (words[i] == kKeep) continue;
    if (!is_operation(words[i]))
      ++i;
    else if (kind != Kind::kSum && kind != Kind::kProd && kind != Kind::kMax && kind != Kind::kMin)
      return false;
  }
  return true;
}

void append(std::string& out, const Program& program) {
  const auto words = program.words();
  for (size_t i = 0; i < words.size(); ++i) {
    if (i) out += ' ';
    const auto kind = static_cast<Kind>(words[i]);
    if (kind == Kind::kConst || kind == Kind::kSymbol || words[i] == kKept || words[i] == kRoom) {
      out += kind == Kind::kSymbol ? "s" : words[i] == kKept ? "k" : words[i] == kRoom ? "room " : "";
      append_signed(out, words[++i]);
    } else if (words[i] == kKeep) {
      out += "keep";
    } else {
      out += name_of(kind);
    }
  }
}

}  // namespace kiln::sym
