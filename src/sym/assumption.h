/// Assumptions of inference about extents, kept in the plan and checked at bind.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "sym/expr.h"
#include "sym/program.h"

namespace kiln::sym {

enum class Relation : uint8_t {
  kEqual,      ///< lhs = rhs: two extents that must agree
  kNotEqual,   ///< lhs != rhs: a broadcast of one that is not 1
  kLessEqual,  ///< lhs <= rhs
  kDivides,    ///< lhs divides rhs: a Reshape's inferred extent
  kOneOr,      ///< lhs is 1 or rhs: an extent that broadcasts to another
  kBroadcast   ///< lhs = rhs, or one of them is 1: extents that broadcast against each other
};
std::span<const std::string_view> enum_names(Relation);  ///< "=", "!=", "<=", "divides", "is 1 or", "broadcasts with"
inline std::string_view name_of(Relation relation) { return enum_names(relation)[static_cast<size_t>(relation)]; }
/// Whether two numbers are so related.
bool holds(Relation relation, int64_t lhs, int64_t rhs);

struct Assumption {
  Relation relation = Relation::kEqual;
  Expr lhs, rhs;
  std::string reason;  ///< who needs it: "Add 'residual' broadcasts axis 0"
};
void append(std::string& out, const Assumption& assumption);  ///< "n = m (Add 'residual' broadcasts axis 0)"

/// Records an assumption unless bounds prove it or `list` has it already; an error if bounds disprove it.
Status assume(std::vector<Assumption>& list, Assumption assumption);

/// An assumption as plans store it.
struct Guard {
  Relation relation = Relation::kEqual;
  Program lhs, rhs;
  std::string text;  ///< of the assumption, with names

  static Guard compile(const Assumption& assumption);
  /// Succeeds if it holds; else an error with its text and both numbers.
  Status check(std::span<const int64_t> symbols) const;
  bool operator==(const Guard&) const = default;
  static void reflect(auto& self, auto f) {
    f("relation", self.relation), f("lhs", self.lhs), f("rhs", self.rhs), f("text", self.text);
  }
};

}  // namespace kiln::sym
