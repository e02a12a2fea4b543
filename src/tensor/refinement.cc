#include "tensor/refinement.h"

#include <algorithm>

namespace kiln {
namespace {

bool divides(sym::Expr a, sym::Expr b) { return sym::floor_div(b, a) * a == b; }

}  // namespace

std::optional<Refinement> refine(const Shape& from, const Shape& to) {
  const auto is_zero = [](const sym::Expr& e) { return e == sym::Expr(0); };
  if (std::ranges::any_of(from, is_zero) || std::ranges::any_of(to, is_zero)) return std::nullopt;
  Refinement result{{}, std::vector<std::vector<int64_t>>(from.size()), std::vector<std::vector<int64_t>>(to.size())};
  size_t i = 0, j = 0;
  sym::Expr left = 1, right = 1;  // what is left of the axes before i and j
  while (true) {
    while (left == sym::Expr(1) && i < from.size()) left = from[i++];
    while (right == sym::Expr(1) && j < to.size()) right = to[j++];
    if (left == sym::Expr(1) && right == sym::Expr(1)) break;
    sym::Expr piece = left;
    if (left == sym::Expr(1) || right == sym::Expr(1)) return std::nullopt;
    if (left == right) {
      left = right = 1;
    } else if (divides(left, right)) {
      right = sym::floor_div(right, left), left = 1;
    } else if (divides(right, left)) {
      piece = right, left = sym::floor_div(left, right), right = 1;
    } else {
      return std::nullopt;
    }
    const auto number = static_cast<int64_t>(result.pieces.size());
    result.pieces.push_back(piece);
    result.from[i - 1].push_back(number);
    result.to[j - 1].push_back(number);
  }
  return result;
}

}  // namespace kiln
