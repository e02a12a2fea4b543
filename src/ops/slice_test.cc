#include "ops/slice.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {
using sym::Expr;
using Numbers = std::vector<double>;

const CaseTable<ops::Slice> kCases{
    {"channels", {.starts = {3}, .sizes = {5}, .axes = {1}}, {{{2, 19, 4, 5}}}},
    {"backwards", {.starts = {6, 4}, .sizes = {3, 5}, .strides = {-2, -1}}, {{{7, 5}}}},
    {"a step", {.starts = {0, 1}, .sizes = {3, 4}, .strides = {1, 3}}, {{{3, 12}}}},
    {"wrap", {.starts = {-4, 2}, .sizes = {9, 4}, .strides = {1, 2}, .mode = SliceMode::kWrap}, {{{3, 5}}}},
    {"clamp", {.starts = {-2, -1}, .sizes = {7, 8}, .mode = SliceMode::kClamp}, {{{3, 5}}}},
    {"reflect", {.starts = {-5, -4}, .sizes = {12, 13}, .mode = SliceMode::kReflect}, {{{3, 5}}}},
    {"zeros around", {.starts = {-1, -2}, .sizes = {5, 8}, .mode = SliceMode::kFill}, {{{3, 5}, DType::kF16}}},
    {"fill",
     {.starts = {-1, -2}, .sizes = {5, 8}, .mode = SliceMode::kFill},
     {{{3, 5}}, {.absent = true}, {.absent = true}, {.absent = true}, numbers({}, {7.5})}},
    {"from inputs", {.axes = {1}}, {{{3, 9}}, ints({7}), ints({3}), ints({-3})}},
    {"broadcast", {.starts = {0, 0}, .sizes = {4, 3}, .strides = {0, 1}}, {{{1, 3}}}},
    {"empty", {.starts = {3}, .sizes = {0}}, {{{3}}}},
    {"f64", {.starts = {6, 4}, .sizes = {3, 5}, .strides = {-2, -1}}, {{{7, 5}, DType::kF64}}},
};

Numbers run(SliceMode mode, int64_t start, int64_t size, int64_t stride) {
  return run_reference_numbers(ops::Slice{.starts = {start}, .sizes = {size}, .strides = {stride}, .mode = mode},
                               {numbers({4}, {1, 2, 3, 4})});
}
TEST(Slice, KnownAnswers) {
  EXPECT_EQ(run(SliceMode::kStrictBounds, 3, 2, -2), (Numbers{4, 2}));
  EXPECT_EQ(run(SliceMode::kWrap, -3, 7, 1), (Numbers{2, 3, 4, 1, 2, 3, 4}));
  EXPECT_EQ(run(SliceMode::kClamp, -1, 4, 2), (Numbers{1, 2, 4, 4}));
  EXPECT_EQ(run(SliceMode::kFill, 5, 4, -2), (Numbers{0, 4, 2, 0}));
  EXPECT_EQ(run(SliceMode::kReflect, -4, 12, 1), (Numbers{3, 4, 3, 2, 1, 2, 3, 4, 3, 2, 1, 2}));
}
TEST(Slice, InfersSymbolically) {
  sym::Table t;
  const Expr n = t.symbol("n", {4, 8, 100}), k = t.symbol("k", {0, 1, 10});
  const TensorType x{DType::kF32, {n, 3}};
  EXPECT_EQ(inferred(ops::Slice{.axes = {0}}, {x, values_type({1}), values_type({n - 1})}, t), "f32[n - 1, 3]");
  EXPECT_EQ(inferred(ops::Slice{.axes = {0}}, {x, values_type({k}), values_type({2})}, t), "f32[2, 3] if k + 2 <= n");
  EXPECT_EQ(inferred(ops::Slice{.axes = {0}, .mode = SliceMode::kFill}, {x, values_type({k}), values_type({2})}, t),
            "f32[2, 3]");
  EXPECT_EQ(inferred(ops::Slice{.starts = {2}, .sizes = {2}, .strides = {-2}}, {values_type({n, 3, k})}, t),
            "i64[2] {k, n}");
}
TEST(Slice, ClampsRangesAsPythonDoes) {
  sym::Table t;
  const auto range = [&](int64_t extent, int64_t start, int64_t end, int64_t step) {
    const SliceRange r = clamped_range(extent, start, end, step);
    return std::pair(r.start.value(), r.size.value());
  };
  EXPECT_EQ(range(5, 1, INT64_MAX, 2), std::pair(int64_t{1}, int64_t{2}));
  EXPECT_EQ(range(5, -2, INT64_MAX, 1), std::pair(int64_t{3}, int64_t{2}));
  EXPECT_EQ(range(5, -1, INT64_MIN, -1), std::pair(int64_t{4}, int64_t{5}));
  EXPECT_EQ(range(5, 9, 1, -2), std::pair(int64_t{4}, int64_t{2}));
  EXPECT_EQ(range(5, 4, 2, 1), std::pair(int64_t{4}, int64_t{0}));
  EXPECT_EQ(range(5, -9, INT64_MIN, -1), std::pair(int64_t{0}, int64_t{1}));
  EXPECT_EQ(range(0, -1, INT64_MIN, -1).second, 0);
  EXPECT_EQ(range(0, INT64_MAX, INT64_MIN, -1).second, 0);
  EXPECT_EQ(range(5, -2, -1, 1), std::pair(int64_t{3}, int64_t{1}));
  EXPECT_EQ(range(5, -9, -3, 1), std::pair(int64_t{0}, int64_t{2}));
  EXPECT_EQ(range(5, INT64_MIN, INT64_MAX, 1), std::pair(int64_t{0}, int64_t{5}));
  const Expr any = t.symbol("any", sym::kAnyExtent);
  EXPECT_EQ(str(clamped_range(any, -1, INT64_MAX, 1).size), "min(any, 1)");
  EXPECT_EQ(clamped_range(any, -2, -1, 1).size.max(), 1);
  EXPECT_EQ(clamped_range(any, 3, 4, 1).size.max(), 1);
  for (const int64_t extent : {0, 1, 2, 3, 4, 7})  // against Python's own rule, counted
    for (const int64_t start : {-9, -4, -2, -1, 0, 1, 3, 8})
      for (const int64_t end : {-9, -3, -1, 0, 2, 4, 9})
        for (const int64_t step : {1, 2, 3}) {
          int64_t count = 0;
          const auto inside = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + extent : at, 0, extent); };
          for (int64_t at = inside(start); at < inside(end); at += step) ++count;
          EXPECT_EQ(range(extent, start, end, step).second, count)
              << extent << ": " << start << ":" << end << ":" << step;
        }
  const Expr n = t.symbol("n", {2, 8, 100});
  EXPECT_EQ(str(clamped_range(n, 1, INT64_MAX, 1).size), "n - 1");
  EXPECT_EQ(str(clamped_range(n, -1, INT64_MAX, 1).start), "n - 1");
  EXPECT_EQ(str(clamped_range(n, 0, -1, 1).size), "n - 1");
}
TEST(Slice, ClampsRangesOfTheEndsOfInt64) {  // over an axis that varies as over one that is fixed
  const int64_t ends[] = {INT64_MIN, INT64_MIN + 1, -4, -1, 0, 1, 4, int64_t{1} << 62, INT64_MAX - 1, INT64_MAX};
  const auto at_extent = [](sym::Expr e, int64_t extent) {
    EXPECT_TRUE(e.is_valid()) << e.why_invalid();
    return *sym::evaluate(e, {{extent}});
  };
  for (const sym::Bounds bounds : {sym::kAnyExtent, sym::Bounds{0, 5, 9}, sym::Bounds{5, 5, 9}}) {
    sym::Table t;
    const Expr n = t.symbol("n", bounds);
    for (const int64_t start : ends)
      for (const int64_t end : ends)
        for (const int64_t step : {-7, -1, 1, 7})
          for (const int64_t extent : {0, 1, 5, 9}) {
            if (extent < bounds.min) continue;
            const SliceRange any = clamped_range(n, start, end, step), fixed = clamped_range(extent, start, end, step);
            ASSERT_EQ(at_extent(any.size, extent), fixed.size.value())
                << extent << ": " << start << ":" << end << ":" << step;
            ASSERT_EQ(at_extent(any.start, extent), fixed.start.value())
                << extent << ": " << start << ":" << end << ":" << step;
            const auto low = [&](int64_t at) { return at < 0 ? at + extent : at; };
            int64_t count = 0;
            const int64_t least = step > 0 ? 0 : -1, most = step > 0 ? extent : extent - 1;
            const int64_t last = std::clamp(low(end), least, std::max(least, most));
            int64_t at = step > 0 ? std::clamp<int64_t>(low(start), 0, extent)
                                  : std::min(std::max<int64_t>(low(start), 0), most);
            for (; step > 0 ? at < last : at > last; at += step) ++count;
            ASSERT_EQ(fixed.size.value(), count) << extent << ": " << start << ":" << end << ":" << step;
          }
  }
}
TEST(Slice, SaysWhatIsWrong) {
  EXPECT_EQ(infer_error(ops::Slice{.starts = {2}, .sizes = {2}, .strides = {2}}, {{{4}}}),
            "slice of f32[4] reads axis 0 from 2 to 4, outside [0, 4); strict bounds allow no coordinate outside");
  EXPECT_EQ(infer_error(ops::Slice{.starts = {2}, .sizes = {2, 2}}, {{{4}}}),
            "slice of f32[4] along 1 axes has 1 starts, 2 sizes and 0 strides");
}

}  // namespace
}  // namespace kiln
