#include "sym/assumption.h"
#include "sym/program_words.h"

#include <algorithm>
#include <utility>

namespace kiln::sym {
namespace {

Truth negate(Truth truth) { return truth == Truth::kUnknown ? truth : truth == Truth::kYes ? Truth::kNo : Truth::kYes; }

Truth decide(const Assumption& x) {
  switch (x.relation) {
    case Relation::kEqual: return compare_equal(x.lhs, x.rhs);
    case Relation::kNotEqual: return negate(compare_equal(x.lhs, x.rhs));
    case Relation::kLessEqual: return negate(compare_less(x.rhs, x.lhs));
    case Relation::kDivides: {
      // An exact quotient has dissolved, so that both sides are equal. An extent that may be 0 decides nothing: the
      // context checks it when shapes are bound.
      if (const auto d = x.lhs.constant(); d && *d != 0) return compare_equal(floor_div(x.rhs, x.lhs) * x.lhs, x.rhs);
      if (x.lhs.min() < 1) return Truth::kUnknown;
      return compare_equal(floor_div(x.rhs, x.lhs) * x.lhs, x.rhs);
    }
    case Relation::kOneOr: {
      const Truth one = compare_equal(x.lhs, 1), same = compare_equal(x.lhs, x.rhs);
      if (one == Truth::kYes || same == Truth::kYes) return Truth::kYes;
      return one == Truth::kNo && same == Truth::kNo ? Truth::kNo : Truth::kUnknown;
    }
    case Relation::kBroadcast: {
      const Truth one_of_them[] = {compare_equal(x.lhs, 1), compare_equal(x.rhs, 1), compare_equal(x.lhs, x.rhs)};
      if (std::ranges::count(one_of_them, Truth::kYes)) return Truth::kYes;
      return std::ranges::count(one_of_them, Truth::kUnknown) ? Truth::kUnknown : Truth::kNo;
    }
  }
  return Truth::kUnknown;
}

}  // namespace

bool holds(Relation relation, int64_t a, int64_t b) {
  switch (relation) {
    case Relation::kEqual: return a == b;
    case Relation::kNotEqual: return a != b;
    case Relation::kLessEqual: return a <= b;
    case Relation::kDivides: return a == 0 ? b == 0 : a == -1 || b % a == 0;
    case Relation::kOneOr: return a == 1 || a == b;
    case Relation::kBroadcast: return a == 1 || b == 1 || a == b;
  }
  return false;
}

std::span<const std::string_view> enum_names(Relation) {
  static constexpr std::string_view kNames[] = {"=", "!=", "<=", "divides", "is 1 or", "broadcasts with"};
  return kNames;
}

void append(std::string& out, const Assumption& assumption) {
  append(out, assumption.lhs);
  out += ' ';
  out += name_of(assumption.relation);
  out += ' ';
  append(out, assumption.rhs);
  if (!assumption.reason.empty()) out += " (" + assumption.reason + ')';
}

namespace {

/// " is 3", " lies in [1, 3]" or " is at least 1".
std::string range_text(Expr e) {
  constexpr int64_t kLongest = int64_t{1} << 31;  // beyond is no bound that anyone gave
  if (e.min() == e.max()) return str(" is ", e.min());
  if (e.max() >= kLongest) return e.min() <= -kLongest ? " is any number" : str(" is at least ", e.min());
  return e.min() <= -kLongest ? str(" is at most ", e.max()) : str(" lies in [", e.min(), ", ", e.max(), "]");
}

/// The error of an assumption that bounds disprove.
Status disproven(const Assumption& assumption) {
  if (assumption.lhs.is_const() && assumption.rhs.is_const())
    return error(Code::kInvalidArgument, assumption, " does not hold");
  return error(Code::kInvalidArgument, assumption, " cannot hold: the left side", range_text(assumption.lhs),
               ", the right side", range_text(assumption.rhs));
}

}  // namespace

Status assume(std::vector<Assumption>& list, Assumption assumption) {
  for (Expr side : {assumption.lhs, assumption.rhs})
    TRY(require(side.is_valid(), assumption, ": ", side.why_invalid()));
  const Truth truth = decide(assumption);
  if (truth == Truth::kYes) return {};
  if (truth == Truth::kNo) return disproven(assumption);
  const bool symmetric = assumption.relation == Relation::kEqual || assumption.relation == Relation::kNotEqual ||
                         assumption.relation == Relation::kBroadcast;
  const auto same = [&](const Assumption& x) {
    if (x.relation != assumption.relation) return false;
    if (x.lhs == assumption.lhs && x.rhs == assumption.rhs) return true;
    return symmetric && x.lhs == assumption.rhs && x.rhs == assumption.lhs;
  };
  if (std::none_of(list.begin(), list.end(), same)) list.push_back(std::move(assumption));
  return {};
}

Guard Guard::compile(const Assumption& assumption) {
  const bool is_never = assumption.lhs.is_const() && assumption.rhs.is_const() && !assumption.reason.empty();
  return {assumption.relation, Program::compile(assumption.lhs), Program::compile(assumption.rhs),
          is_never ? assumption.reason : str(assumption)};
}

Status Guard::check(std::span<const int64_t> symbols) const {
  const int64_t a = TRY(in_context(lhs.run(symbols), [&] { return text; }));
  const int64_t b = TRY(in_context(rhs.run(symbols), [&] { return text; }));
  if (holds(relation, a, b)) return {};
  const bool reads_symbols = !operands_of(lhs).symbols.empty() || !operands_of(rhs).symbols.empty();
  if (!reads_symbols) return error(Code::kInvalidArgument, text);  // it can never hold
  return error(Code::kInvalidArgument, text, " does not hold: the left side is ", a, ", the right side ", b);
}

}  // namespace kiln::sym
