#include "sym/divisor.h"

#include <numeric>

namespace kiln::sym {

int64_t known_divisor(Expr e) {
  if (e.is_const()) return e.value() == INT64_MIN ? 1 : std::abs(e.value());
  switch (e.kind()) {
    case Kind::kProd: {
      int64_t product = 1;
      const int64_t a = known_divisor(e.lhs()), b = known_divisor(e.rhs());
      return __builtin_mul_overflow(a, b, &product) ? 1 : product;
    }
    case Kind::kSum:
    case Kind::kSub:
    case Kind::kMax:
    case Kind::kMin: return std::gcd(known_divisor(e.lhs()), known_divisor(e.rhs()));
    default: return 1;
  }
}

}  // namespace kiln::sym
