#include "backend/cpu/kernels/scan/cumulative.h"

#include <algorithm>

#include "backend/cpu/kernels/aligned.h"
#include "base/error.h"
#include "tensor/numeric.h"

namespace kiln::cpu {
namespace {

// How elements lie in memory, and what they are summed and multiplied in.
struct F32 {
  using Stored = float;
  using Wide = double;
  static Wide load(Stored x) { return double{x}; }
  static Stored store(Wide y) { return static_cast<float>(y); }
};
struct F16 {
  using Stored = uint16_t;
  using Wide = double;
  static Wide load(Stored x) { return double{half_to_float(x)}; }
  static Stored store(Wide y) { return float_to_half(static_cast<float>(y)); }
};
struct BF16 {
  using Stored = uint16_t;
  using Wide = double;
  static Wide load(Stored x) { return double{bfloat16_to_float(x)}; }
  static Stored store(Wide y) { return float_to_bfloat16(static_cast<float>(y)); }
};
template <class U>
struct Integer {
  using Stored = U;
  using Wide = U;
  static Wide load(Stored x) { return x; }
  static Stored store(Wide y) { return y; }
};

constexpr int64_t kColumns = 64;  // that are done side by side

/// At most kColumns columns from x on.
template <class T, CumulativeOperation kOperation>
void combine_columns(const CumulativeShape& s, const typename T::Stored* x, typename T::Stored* y, int64_t width) {
  constexpr bool kSums = kOperation == CumulativeOperation::kSum;
  typename T::Wide results[kColumns];
  std::fill_n(results, kColumns, kSums ? 0 : 1);
  for (int64_t i = 0; i < s.length; ++i) {
    const int64_t at = (s.reverse ? s.length - 1 - i : i) * s.inner;
    for (int64_t c = 0; c < width; ++c) {
      const typename T::Wide before = results[c], element = T::load(x[at + c]);
      results[c] = kSums ? before + element : before * element;
      y[at + c] = T::store(s.exclusive ? before : results[c]);
    }
  }
}

template <class T, CumulativeOperation kOperation>
void run_rows(Team& team, const CumulativeShape& s, const void* x, void* y) {
  constexpr int64_t kElementsAPart = 8192;
  const int64_t strips = ceil_div(s.inner, kColumns), tasks = s.outer * strips;
  const int64_t each = std::max<int64_t>(1, kElementsAPart / (s.length * std::min(s.inner, kColumns)));
  team.run(ceil_div(tasks, each), [&](int64_t part, int) {
    for (int64_t t = part * each; t < std::min(tasks, (part + 1) * each); ++t) {
      const int64_t column = t % strips * kColumns, at = t / strips * s.length * s.inner + column;
      combine_columns<T, kOperation>(s, static_cast<const typename T::Stored*>(x) + at,
                                     static_cast<typename T::Stored*>(y) + at, std::min(kColumns, s.inner - column));
    }
  });
}

template <class T>
void run(Team& team, const CumulativeShape& s, const void* x, void* y) {
  switch (s.operation) {
    case CumulativeOperation::kSum: return run_rows<T, CumulativeOperation::kSum>(team, s, x, y);
    case CumulativeOperation::kProd: return run_rows<T, CumulativeOperation::kProd>(team, s, x, y);
  }
}

}  // namespace

void cumulative(Team& team, const CumulativeShape& shape, const void* x, void* y) {
  if (shape.outer == 0 || shape.length == 0 || shape.inner == 0) return;
  switch (shape.dtype) {
    case DType::kF32: return run<F32>(team, shape, x, y);
    case DType::kF16: return run<F16>(team, shape, x, y);
    case DType::kBF16: return run<BF16>(team, shape, x, y);
    case DType::kI32: return run<Integer<uint32_t>>(team, shape, x, y);
    case DType::kI64: return run<Integer<uint64_t>>(team, shape, x, y);
    default: CHECK(!"running results of a type without a kernel");
  }
}

}  // namespace kiln::cpu
