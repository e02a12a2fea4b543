/// Expressions as text, and back.
#include "sym/text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <unordered_map>

#include "sym/checked.h"
#include "sym/node.h"
#include "sym/real.h"
#include "sym/table.h"

namespace kiln::sym {
namespace {

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool continues_name(char c) { return starts_name(c) || std::isdigit(static_cast<unsigned char>(c)) || c == '.'; }

void append_name(std::string& out, std::string_view name) {
  bool plain = !name.empty() && starts_name(name[0]);
  for (char c : name) plain = plain && continues_name(c);
  if (plain) {
    out += name;
    return;
  }
  out += '"';
  for (char c : name) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

/// How tightly an expression's text binds.
enum class Level : uint8_t { kSum, kProduct, kPrimary };

/// Writes expressions until the text is longer than a limit. Some nodes have names: #0, #1 ...
class Printer {
 public:
  Printer(std::string& out, size_t limit) : out_(out), limit_(limit) {}
  bool is_full() const { return out_.size() > limit_; }

  void name(const Node* node) { names_.emplace(node, names_.size()); }

  void print(Expr e, Level level) {
    if (is_full()) return;
    if (const auto named = e.node() ? names_.find(e.node()) : names_.end(); named != names_.end()) {
      out_ += str('#', named->second);
      return;
    }
    switch (e.kind()) {
      case Kind::kConst: return append_signed(out_, e.value());
      case Kind::kSymbol: return append_name(out_, e.name());
      case Kind::kInvalid: out_ += "invalid"; return;
      case Kind::kSum: return infix(e, level, " + ", Level::kSum, Level::kProduct);
      case Kind::kSub: return infix(e, level, " - ", Level::kSum, Level::kProduct);
      case Kind::kProd:
        if (e.lhs() != Expr(-1)) return infix(e, level, "*", Level::kProduct, Level::kPrimary);
        out_ += '-';
        return print(e.rhs(), Level::kPrimary);
      default: break;
    }
    if (is_real_operation(e.kind()) && limit_ != std::string::npos) return print_real(e, level);
    out_ += name_of(e.kind());
    out_ += '(';
    print(e.lhs(), Level::kSum);
    out_ += ", ";
    print(e.rhs(), Level::kSum);
    out_ += ')';
  }

 private:
  /// An operation on reals for people: "whole(floor(n*0.7))".
  void print_real(Expr e, Level level) {
    switch (e.kind()) {
      case Kind::kReal:
        if (e.rhs() == Expr(1)) return print(e.lhs(), level);
        return real_infix(e, level, "/", Level::kProduct, Level::kPrimary);
      case Kind::kRealSum: return real_infix(e, level, " + ", Level::kSum, Level::kProduct);
      case Kind::kRealProd: return real_infix(e, level, "*", Level::kProduct, Level::kPrimary);
      case Kind::kRealDiv: return real_infix(e, level, "/", Level::kProduct, Level::kPrimary);
      default: break;
    }
    const bool is_function = e.kind() == Kind::kRealFunction;
    out_ += is_function ? name_of(static_cast<RealFunction>(e.rhs().value())) : name_of(e.kind());
    out_ += '(';
    real_operand(e.lhs(), Level::kSum);
    if (e.kind() == Kind::kRealPow) out_ += ", ", real_operand(e.rhs(), Level::kSum);
    out_ += ')';
  }
  void real_operand(Expr e, Level level) {
    if (e.is_const())
      out_ += real_text(e.value());
    else
      print(e, level);
  }
  void real_infix(Expr e, Level level, const char* sign, Level own, Level right) {
    const bool parentheses = level > own, is_quotient = e.kind() == Kind::kReal;
    if (parentheses) out_ += '(';
    is_quotient ? print(e.lhs(), own) : real_operand(e.lhs(), own);
    out_ += sign;
    is_quotient ? print(e.rhs(), right) : real_operand(e.rhs(), right);
    if (parentheses) out_ += ')';
  }
  void infix(Expr e, Level level, const char* sign, Level own, Level right) {
    const bool parentheses = level > own;
    if (parentheses) out_ += '(';
    print(e.lhs(), own);
    out_ += sign;
    print(e.rhs(), right);
    if (parentheses) out_ += ')';
  }

  std::string& out_;
  size_t limit_;
  std::unordered_map<const Node*, size_t> names_;  // looked up, never iterated
};

/// The symbols of an expression, a few of them by name.
std::string symbols_text(Expr e) {
  constexpr size_t kNamed = 3;
  std::vector<Expr> symbols;
  collect_symbols(e, symbols);
  std::string out;
  for (size_t i = 0; i < std::min(symbols.size(), kNamed); ++i) {
    if (i > 0) out += ", ";
    append_name(out, symbols[i].name());
  }
  if (symbols.size() > kNamed) out += str(" and ", symbols.size() - kNamed, " more");
  return out;
}

/// Recursive descent; `depth_` keeps hostile text from exhausting the stack.
class Parser {
 public:
  Parser(std::string_view text, Table& table) : text_(text), table_(table) {}

  Result<Expr> all() {
    while (starts_definition()) {
      const Expr named = TRY(sum());
      if (!take(';')) return wrong("';'");
      named_.push_back(named);
    }
    const Expr e = TRY(sum());
    skip_space();
    if (at_ != text_.size()) return wrong("an operator or the end");
    return e;
  }

 private:
  static constexpr int kDeepest = 500;

  std::unexpected<Error> wrong(std::string_view expected) const {
    return error(Code::kInvalidArgument, "'", text_, "', column ", at_ + 1, ": ", expected, " needed");
  }
  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  /// Takes "#0 = ", "#1 = " ..., as numbered so far.
  bool starts_definition() {
    const std::string expected = str('#', named_.size(), " = ");
    if (peek() != '#' || !text_.substr(at_).starts_with(expected)) return false;
    at_ += expected.size();
    return true;
  }
  Result<Expr> named() {
    size_t number = 0;
    const auto [end, problem] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (problem != std::errc() || number >= named_.size()) return wrong("the number of what stands before");
    at_ = static_cast<size_t>(end - text_.data());
    return named_[number];
  }
  bool take(char c) { return peek() == c && at_ < text_.size() ? (++at_, true) : false; }

  Result<Expr> sum() {
    if (++depth_ > kDeepest) return wrong("less nesting");
    Expr out = TRY(term());
    for (;;) {
      if (take('+'))
        out += TRY(term());
      else if (take('-'))
        out -= TRY(term());
      else
        break;
    }
    --depth_;
    return out;
  }

  Result<Expr> term() {
    Expr out = TRY(factor());
    while (take('*')) out *= TRY(factor());
    return out;
  }

  Result<Expr> factor() {
    const bool negative = take('-');
    const char c = peek();
    if (std::isdigit(static_cast<unsigned char>(c))) return number(negative);
    const Expr e = TRY(primary());
    return negative ? -e : e;
  }

  Result<Expr> number(bool negative) {
    uint64_t magnitude = 0;
    const auto [end, problem] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), magnitude);
    if (problem != std::errc() || magnitude > uint64_t{INT64_MAX} + negative) return wrong("a number that fits int64");
    at_ = end - text_.data();
    return Expr(static_cast<int64_t>(negative ? -magnitude : magnitude));
  }

  Result<Expr> primary() {
    if (take('(')) {
      const Expr e = TRY(sum());
      if (!take(')')) return wrong("')'");
      return e;
    }
    if (take('"')) return quoted();
    if (take('#')) return named();
    const size_t begin = at_;
    if (at_ == text_.size() || !starts_name(text_[at_])) return wrong("a number, a name or '('");
    while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    return peek() == '(' ? call(name) : Result<Expr>(table_.symbol(name));
  }

  Result<Expr> quoted() {
    std::string name;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      name += text_[at_++];
    }
    if (at_ == text_.size()) return wrong("'\"'");
    ++at_;
    return table_.symbol(name);
  }

  Result<Expr> call(std::string_view name) {
    for (Kind kind : {Kind::kMax, Kind::kMin, Kind::kEqual, Kind::kLess, Kind::kFloorDiv, Kind::kCeilDiv, Kind::kWithin,
                      Kind::kReal, Kind::kWhole, Kind::kRealSum, Kind::kRealProd, Kind::kRealDiv, Kind::kRealPow,
                      Kind::kRealFunction}) {
      if (name != name_of(kind)) continue;
      take('(');
      const Expr a = TRY(sum());
      if (!take(',')) return wrong("','");
      const Expr b = TRY(sum());
      if (!take(')')) return wrong("')'");
      return apply(kind, a, b);
    }
    return wrong("max, min, equal, less, floor_div, ceil_div, within or an operation on reals before '('");
  }

  std::string_view text_;
  Table& table_;
  std::vector<Expr> named_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

void append_exact(std::string& out, Expr e) {
  constexpr uint32_t kPlain = 400;
  Printer printer(out, std::string::npos);
  const std::vector<const Node*> shared = shared_operations(e, kPlain);
  for (size_t i = 0; i < shared.size(); ++i) {
    out += str('#', i, " = ");
    printer.print(wrap(shared[i]), Level::kSum);
    out += "; ";
    printer.name(shared[i]);
  }
  printer.print(e, Level::kSum);
}

std::string exact_text(Expr e) {
  std::string out;
  append_exact(out, e);
  return out;
}

/// "max(1 - equal(... {of n, m}" where the text is long: its beginning, up to the end of a word, and its symbols.
void append(std::string& out, Expr e) {
  constexpr size_t kBeginning = kLongestShown * 2 / 3;
  std::string text;
  Printer printer(text, kLongestShown);
  printer.print(e, Level::kSum);
  if (!printer.is_full() || e.is_symbol()) {
    out += text;
    return;
  }
  const size_t end = text.find_last_of(" (,*", kBeginning);
  out.append(text, 0, end == std::string::npos ? kBeginning : end + 1);
  out += str("... {of ", symbols_text(e), '}');
}

Result<Expr> parse(std::string_view text, Table& table) { return Parser(text, table).all(); }

}  // namespace kiln::sym
