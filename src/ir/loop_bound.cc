#include "ir/loop_bound.h"

#include <algorithm>
#include <vector>

#include "ir/bodies.h"
#include "ops/loop.h"
#include "sym/unbounded.h"

namespace kiln::ir {
namespace {

constexpr int64_t kMostExtent = int64_t{1} << 40;

/// An iteration makes at most max(now + growth, rest) of an extent. Where `growth` is missing, at most `rest`.
struct Step {
  std::optional<sym::Expr> growth;
  sym::Expr rest = 0;

  /// The lower, the better a bound it gives.
  int cost() const { return growth && growth->max() <= 0 ? 0 : growth ? 2 : 1; }
};

bool reads(sym::Expr e, sym::Expr symbol) {
  std::vector<sym::Expr> symbols;
  sym::collect_symbols(e, symbols);
  return std::ranges::find(symbols, symbol) != symbols.end();
}

Step larger(const Step& a, const Step& b) {
  Step result{a.growth ? a.growth : b.growth, sym::max(a.rest, b.rest)};
  if (a.growth && b.growth) result.growth = sym::max(*a.growth, *b.growth);
  return result;
}

std::optional<Step> better(const std::optional<Step>& a, const std::optional<Step>& b) {
  return !b || (a && a->cost() <= b->cost()) ? a : b;
}

/// Finds what an iteration makes of an extent, which it finds at the symbol `now`.
class StepFinder {
 public:
  explicit StepFinder(sym::Expr now) : now_(now) {}

  std::optional<Step> step_of(sym::Expr e) {
    using enum sym::Kind;
    if (++num_visits_ > kMostVisits) return std::nullopt;
    if (!reads(e, now_)) return Step{{}, e};
    if (const sym::Expr growth = e - now_; !reads(growth, now_)) return Step{growth, 0};
    switch (e.kind()) {
      case kMax:
      case kMin: {
        const auto a = step_of(e.lhs()), b = step_of(e.rhs());
        if (e.kind() == kMax) return a && b ? std::optional(larger(*a, *b)) : std::nullopt;
        return better(a, b);
      }
      case kSum:
        if (!reads(e.rhs(), now_)) return moved(e.lhs(), e.rhs());
        if (!reads(e.lhs(), now_)) return moved(e.rhs(), e.lhs());
        return better(moved_at_most(e.lhs(), e.rhs()), moved_at_most(e.rhs(), e.lhs()));
      case kSub: return reads(e.rhs(), now_) ? moved_at_most(e.lhs(), -e.rhs()) : moved(e.lhs(), -e.rhs());
      case kProd: return step_of_product(e.lhs(), e.rhs());
      case kFloorDiv: return step_of_quotient(e.lhs(), e.rhs());
      case kCeilDiv: return step_of_quotient(e.lhs() + e.rhs() - 1, e.rhs());
      default: return std::nullopt;
    }
  }

 private:
  /// An operand that is read by many others is visited for each of them, and paths may double with each operation. No
  /// bound is a right answer, too; extents of networks take some ten visits.
  static constexpr int kMostVisits = 1000;

  /// A product of two factors one of which is 0 or 1 is at most the other: a broadcast of two extents is such a one.
  std::optional<Step> step_of_product(sym::Expr a, sym::Expr b) {
    const auto is_flag = [](sym::Expr e) { return e.min() >= 0 && e.max() <= 1; };
    if (is_flag(a) && b.min() >= 0) return step_of(b);
    return is_flag(b) && a.min() >= 0 ? step_of(a) : std::nullopt;
  }
  /// (now + g) / k is at most now, if now is g / (k - 1) at least, and at most that, if it is less.
  std::optional<Step> step_of_quotient(sym::Expr a, sym::Expr by) {
    if (!by.is_const() || by.value() < 2) return std::nullopt;
    auto step = step_of(a);
    if (!step) return std::nullopt;
    step->rest = sym::floor_div(step->rest, by);
    if (step->growth) {
      step->rest = sym::max(step->rest, sym::ceil_div(sym::max(*step->growth, 0), by - 1));
      step->growth = 0;
    }
    return step;
  }
  /// What `by`, which does not read the extent, adds to it.
  std::optional<Step> moved(sym::Expr a, sym::Expr by) {
    if (a.kind() == sym::Kind::kFloorDiv) return step_of_quotient(a.lhs() + by * a.rhs(), a.rhs());
    auto step = step_of(a);
    if (!step) return std::nullopt;
    if (step->growth) *step->growth += by;
    step->rest += by;
    return step;
  }
  /// What `by` adds to it at most; one without a limit is no bound.
  std::optional<Step> moved_at_most(sym::Expr a, sym::Expr by) {
    return by.max() < kMostExtent && by.max() > -kMostExtent ? moved(a, by.max()) : std::nullopt;
  }

  const sym::Expr now_;
  int num_visits_ = 0;
};

/// What so many iterations make of the bound, one by one: for those that multiply an extent.
std::optional<sym::Expr> repeated(sym::Expr first, sym::Expr now, sym::Expr after, int64_t trips) {
  constexpr int64_t kMostTrips = 32;
  if (trips > kMostTrips) return std::nullopt;
  sym::Expr most = first;
  for (int64_t i = 0; i < trips; ++i) {
    const std::pair<sym::Expr, sym::Expr> bounds[] = {{now, most}};
    most = sym::max(most, upper_bound(after, bounds));
    const bool is_too_large = most.is_const() && most.value() > kMostExtent;
    if (!most.is_valid() || sym::reads_unbounded(most) || is_too_large) return std::nullopt;
  }
  return most;
}

}  // namespace

std::optional<sym::Expr> loop_bound(sym::Expr first, sym::Expr now, sym::Expr after, std::optional<sym::Expr> trips) {
  const bool has_end = trips && !ops::bounds_nothing(*trips);
  if (const auto step = StepFinder(now).step_of(after)) {
    const sym::Expr largest = sym::max(first, step->rest);
    if (!step->growth || step->growth->max() <= 0) return largest;
    if (const sym::Expr most = largest + (has_end ? *trips * sym::max(*step->growth, 0) : sym::Expr(0));
        has_end && most.is_valid())
      return most;
  }
  return has_end && trips->is_const() ? repeated(first, now, after, trips->value()) : std::nullopt;
}

}  // namespace kiln::ir
