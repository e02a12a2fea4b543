#include "comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "tensor/view.h"

namespace kiln {
namespace {

/// Half an ulp of the type for the rounding of the result, and as much again for each of the roundings inside that a
/// float kernel makes and the double reference does not; relative to the largest output.
double tolerance_of(const Case& c, DType output, const Numerics& numerics) {
  if (c.tolerance > 0) return c.tolerance;
  // Winograd's transforms round at numbers some ten times as large as the result.
  if (numerics.tf32 && output == DType::kF32 && c.op.has(Trait::kContraction)) return 2e-5;
  switch (output) {
    case DType::kF16: return 1.0 / 1024;
    case DType::kBF16: return 1.0 / 128;
    case DType::kF32: return 2e-6;
    case DType::kF64: return 8e-15;
    default: return 0;
  }
}

}  // namespace

void compare(const Case& c, const HostTensor& got, const HostTensor& want, const Numerics& numerics,
             std::string_view how) {
  ASSERT_EQ(got.extents(), want.extents()) << c.name << how;
  // A network makes the bits of doubles (built_case.h).
  ASSERT_EQ(got.dtype(), want.dtype() == DType::kF64 ? DType::kI64 : want.dtype()) << c.name << how;
  const View x(want.dtype(), got.extents(), got.bytes().data()), y(want);
  double largest = 0, worst = 0;
  int64_t at = -1;
  for (int64_t i = 0; i < y.volume(); ++i)
    if (std::isfinite(y[i])) largest = std::max(largest, std::abs(y[i]));
  for (int64_t i = 0; i < y.volume(); ++i) {
    if (std::isnan(y[i]) ? std::isnan(x[i]) : x[i] == y[i]) continue;
    const double off = std::isfinite(y[i]) && std::isfinite(x[i]) ? std::abs(x[i] - y[i]) : INFINITY;
    if (off > worst) worst = off, at = i;
  }
  EXPECT_LE(worst, tolerance_of(c, want.dtype(), numerics) * std::max(largest, 1e-30))
      << c.name << how << ": element " << at << " is " << (at < 0 ? 0 : x[at]) << ", the reference has "
      << (at < 0 ? 0 : y[at]);
}

bool is_left_out(size_t index) {
  const char* text = std::getenv("KILN_CASES_PART");
  size_t part = 0, parts = 0;
  return text && std::sscanf(text, "%zu/%zu", &part, &parts) == 2 && parts > 0 && index % parts != part;
}

}  // namespace kiln
