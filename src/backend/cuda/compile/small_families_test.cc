// Every kernel of the small families compiles for every architecture.
#include <gtest/gtest.h>

#include "backend/cuda/compile/fill/fill.h"
#include "backend/cuda/compile/gather/gather.h"
#include "backend/cuda/compile/pool/pool.h"
#include "backend/cuda/compile/recurrence/recurrence.h"
#include "backend/cuda/compile/resize/resize.h"
#include "backend/cuda/compile/sample/sample.h"
#include "backend/cuda/compile/scan/cumulative.h"
#include "backend/cuda/compile/scan/non_zero.h"
#include "backend/cuda/compile/scatter/scatter.h"
#include "backend/cuda/compile/sort/non_max_suppression.h"
#include "backend/cuda/compile/sort/top_k.h"
#include "backend/cuda/compile/sort/unique.h"
#include "backend/cuda/compile/testing.h"
#include "backend/cuda/kernels/scan/non_zero.h"
#include "backend/cuda/kernels/scatter/reduce.h"
#include "backend/cuda/kernels/sort/unique.h"

namespace kiln::cuda {
namespace {

constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kI32,
                            DType::kI64, DType::kI8,  DType::kU8,   DType::kBool};
int widest(DType type) { return std::min(8, 128 / bits_of(type)); }

#define COMPILES(source)                            \
  ASSERT_NO_FATAL_FAILURE(expect_compiles(source)); \
  if (::testing::Test::IsSkipped()) return

TEST(PoolKernel, AllCompile) {
  for (const DType type : kTypes)
    for (const PoolKind kind : {PoolKind::kMax, PoolKind::kAverage, PoolKind::kBlend})
      if (can_pool(kind, type)) {
        COMPILES(pool_source(type, kind, widest(type), std::vector<int64_t>{3, 2},
                             is_kernel_float(type) && has_window_kernels(type, kind, std::vector<int64_t>{3, 2})));
      }
  for (const DType type : {DType::kI8, DType::kU8}) {
    const KernelSource source = pool_source(type, PoolKind::kMax, 16, std::vector<int64_t>{3, 3}, false);
    EXPECT_NE(source.prelude.find("pool_window<"), source.prelude.npos) << name_of(type);
    COMPILES(source);
  }
}
TEST(PoolPiecesKernel, AllCompile) {
  const Extents windows[] = {{3, 3}, {2, 2}, {5, 5}, {1, 4}}, strides[] = {{2, 2}, {2, 2}, {1, 1}, {3, 4}};
  for (size_t i = 0; i < std::size(windows); ++i)
    for (const DType type : {DType::kF32, DType::kBF16})
      for (const int vec : {1, widest(type)}) {
        const PoolKind kind = i % 2 == 0 ? PoolKind::kMax : PoolKind::kAverage;
        const auto pieces = pool_pieces(type, kind, windows[i], strides[i], Extents{1, 1}, windows[i][1] / 2, vec);
        ASSERT_TRUE(pieces);
        COMPILES(pool_source(type, kind, *pieces));
      }
}
TEST(PoolTallKernel, AllCompile) {
  for (const DType type : {DType::kF32, DType::kF16, DType::kBF16}) {
    const auto tall = pool_tall(type, PoolKind::kAverage, Extents{3, 3}, Extents{2, 1}, Extents{1, 1});
    ASSERT_TRUE(tall);
    COMPILES(pool_source(type, *tall));
  }
}
TEST(GatherKernel, AllCompile) {
  constexpr int kUnits[] = {16, 8, 4, 2, 1};
  for (const GatherMode mode : {GatherMode::kDefault, GatherMode::kElement, GatherMode::kNd})
    for (const DType indices : {DType::kI32, DType::kI64}) {
      COMPILES(gather_source(mode, indices, kUnits));
    }
}
TEST(ScatterKernel, AllCompile) {
  constexpr int kUnits[] = {16, 8, 4, 2, 1};
  for (const ScatterMode mode : {ScatterMode::kElement, ScatterMode::kNd})
    for (const DType indices : {DType::kI32, DType::kI64}) {
      COMPILES(scatter_source(mode, indices, kUnits, kUnits));
    }
}
TEST(ScatterKernel, AllThatReduceCompile) {
  using enum ScatterReduction;
  for (const ScatterReduction reduction : {kSum, kProd, kMax, kMin})
    for (const DType data : {DType::kF32, DType::kF16, DType::kBF16, DType::kI32, DType::kI64}) {
      const bool rows = data == DType::kF16 || reduction == kMin;
      COMPILES(scatter_reduce_source(
          {.op = {.mode = rows ? ScatterMode::kNd : ScatterMode::kElement, .reduction = reduction},
           .data = data,
           .indices = rows ? DType::kI64 : DType::kI32,
           .copied = {16, bits_of(data) / 8}}));
    }
}
TEST(TopKKernel, AllCompile) {
  constexpr TopKWay kWays[] = {TopKWay::kShort, TopKWay::kSelect, TopKWay::kSort};
  for (const DType type : kTypes)
    if (type != DType::kBool) {
      COMPILES(top_k_source(type, kWays));
    }
}
TEST(UniqueKernel, AllCompile) {
  for (const DType type : kTypes) {
    COMPILES(unique_source(type, type == DType::kI64 || type == DType::kBool));
  }
}
TEST(NonMaxSuppressionKernel, AllCompile) {
  for (const DType boxes : {DType::kF32, DType::kF16, DType::kBF16})
    for (const DType indices : {DType::kI32, DType::kI64}) {
      for (const bool may_be_long : {false, true}) COMPILES(non_max_suppression_source(boxes, indices, may_be_long));
    }
}
TEST(SampleKernels, AllCompile) {
  for (const DType x : {DType::kF32, DType::kF16, DType::kBF16})
    for (const DType grid : {DType::kF32, x}) {
      COMPILES(roi_align_source(x, grid));
      for (const ResizeMode mode : {ResizeMode::kNearest, ResizeMode::kLinear, ResizeMode::kCubic})
        for (const int axes : {2, 3})
          if (x == grid) {
            COMPILES(grid_sample_source(x, grid, mode, axes));
          }
    }
}
TEST(CumulativeKernel, AllCompile) {
  for (const DType type : {DType::kF32, DType::kF16, DType::kBF16, DType::kI32, DType::kI64}) {
    COMPILES(cumulative_source(CumulativeOperation::kSum, type));
    COMPILES(cumulative_source(CumulativeOperation::kProd, type));
  }
}
TEST(NonZeroKernel, AllCompile) {
  for (const DType x : {DType::kBool, DType::kF16, DType::kF32, DType::kI64})
    for (const DType indices : {DType::kI32, DType::kI64}) {
      COMPILES(non_zero_source(x, indices));
    }
}
TEST(ResizeKernel, AllCompile) {
  for (const DType type : kTypes)
    for (const ResizeMode mode : {ResizeMode::kNearest, ResizeMode::kLinear})
      if (can_resize(mode, type)) {
        COMPILES(resize_source(mode, type, widest(type)));
      }
}
TEST(RecurrenceKernel, AllCompile) {
  using enum RecurrencePlace;
  const ops::Recurrence rnn{.cell = ops::RecurrenceCell::kRnn}, lstm{.cell = ops::RecurrenceCell::kLstm},
      gru{.cell = ops::RecurrenceCell::kGru}, linear{.cell = gru.cell, .linear_before_reset = true};
  COMPILES(recurrence_source(RecurrenceKernel::of(rnn, DType::kBF16, 100, {1, 1}), kShared));
  COMPILES(recurrence_source(RecurrenceKernel::of(lstm, DType::kF32, 256, {8, 1}), kRegisters));
  COMPILES(recurrence_source(RecurrenceKernel::of(gru, DType::kF16, 1024, {8, 4}), kGlobal));
  COMPILES(recurrence_source(RecurrenceKernel::of(linear, DType::kF32, 100, {1, 8}), kGlobal));
}
TEST(FillKernel, AllCompile) {
  for (const DType type : kTypes)
    for (const FillOperation operation :
         {FillOperation::kLinspace, FillOperation::kRandomUniform, FillOperation::kRandomNormal})
      if (can_fill(operation, type)) {
        COMPILES(fill_source(operation, type));
      }
  COMPILES(values_source());
  for (const DType type : {DType::kI32, DType::kI64, DType::kBool}) {
    COMPILES(read_values_source(type));
  }
}

TEST(GatherLaunch, RowsMoveInWideUnits) {
  const auto launch = gather_launch({.axis = 0}, 2, 16, Extents{30522, 768}, Extents{8, 128});
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->unit_bytes, 16);
  EXPECT_EQ(launch->argument.count, 8u * 128 * 96);
  const auto odd = gather_launch({.axis = 1}, 4, 16, Extents{5, 7, 3}, Extents{2});
  ASSERT_TRUE(odd) << odd.error().message;
  EXPECT_EQ(odd->unit_bytes, 4);
}
TEST(ScatterLaunch, RowsMoveInWideUnits) {
  const auto rows = scatter_launch({.mode = ScatterMode::kNd}, 2, 16, Extents{2, 30, 64}, Extents{5, 2});
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->row_bytes, 16);
  EXPECT_EQ(rows->argument.slices, 60u);
  EXPECT_EQ(rows->argument.picks, 5u);
  const auto elements = scatter_launch({.axis = 1}, 4, 16, Extents{3, 8}, Extents{3, 2});
  ASSERT_TRUE(elements) << elements.error().message;
  EXPECT_EQ(elements->copy_bytes, 16);
  EXPECT_EQ(elements->row_bytes, 4);
  EXPECT_EQ(elements->workspace_bytes(), 24 * 4);
  EXPECT_FALSE(scatter_launch({.axis = 0}, 4, 16, Extents{int64_t{1} << 31}, Extents{1}));
}
TEST(ScatterReducePlan, SortsInABlockOrByTheDigitsOfTargets) {
  using Calls = std::vector<std::string>;
  const auto calls = [](const ops::Scatter& op, int bytes, const Extents& data, const Extents& indices) {
    const auto plan = plan_scatter_reduce(op, bytes, data, indices);
    EXPECT_TRUE(plan) << plan.error().message;
    Calls text;
    const auto add = [&](std::string_view entry, const LaunchShape& shape) {
      text.push_back(str(entry, ' ', shape.grid[0]));
    };
    if (!plan || plan->reduce.empty()) return text;
    add(plan->targets.entry, plan->targets.shape);
    for (const TopKCall& call : plan->sort) add(call.entry, call.shape);
    for (const ScatterReducePlan::Call& call : plan->reduce) add(call.entry, call.shape);
    return text;
  };
  const ops::Scatter rows{.mode = ScatterMode::kNd, .reduction = ScatterReduction::kSum},
      elements{.reduction = ScatterReduction::kMax};
  EXPECT_EQ(calls(rows, 2, {5, 33}, {17, 1}), (Calls{"scatter_sort 1", "scatter_reduce 3"}));
  EXPECT_EQ(calls(rows, 4, {5, 33}, {4096, 1}),
            (Calls{"scatter_sort 1", "scatter_reduce 528", "scatter_reduce_long 160"}));
  EXPECT_EQ(calls(elements, 8, {255}, {5000}), (Calls{"scatter_targets 20", "top_k_digits 2", "top_k_starts 1",
                                                      "top_k_move 2", "scatter_reduce 20", "scatter_reduce_long 40"}));
  EXPECT_EQ(calls(elements, 8, {256}, {5000}).size(), 9u) << "256 is the target of updates that are for nothing";
  EXPECT_EQ(calls(rows, 4, {5, 0}, {17, 1}), Calls{});
  EXPECT_EQ(calls(elements, 4, {5}, {0}), Calls{});
  EXPECT_FALSE(plan_scatter_reduce(rows, 4, Extents{2, 1 << 20}, Extents{1 << 12, 1}));
}
TEST(TopKPlan, GoesByTheLengthOfRowsAndByK) {
  const auto entries = [](const TopKRows& rows) {
    std::string text;
    const auto plan = plan_top_k(rows);
    EXPECT_TRUE(plan) << plan.error().message;
    for (const TopKCall& call : plan->calls) text += str(call.entry + 6, ' ', call.shape.grid[0], ' ');
    return text;
  };
  EXPECT_EQ(entries({.lanes = {.outer = 9, .length = 1000}}), "short 3 ");
  EXPECT_EQ(entries({.lanes = {.length = 4096}, .k = 4096}), "short 1 ");
  EXPECT_EQ(entries({.lanes = {.outer = 64, .length = 100'000}, .k = 1000}),
            "begin 64 count 1600 count 1600 count 1600 ties 1600 gather 1600 finish 64 ");
  EXPECT_EQ(entries({.lanes = {.outer = 2, .length = 5000, .inner = 3}, .k = 4500, .dtype = DType::kF16}),
            "digits 12 starts 6 move 12 digits 12 starts 6 move 12 store 108 ");
  EXPECT_EQ(entries({.lanes = {.length = 200'000}, .k = 5000, .dtype = DType::kI8}),
            "digits 49 bin_starts 256 move 49 store 20 ");
  EXPECT_EQ(entries({.lanes = {.outer = 2, .length = 5000}, .k = 0}), "");
  EXPECT_FALSE(plan_top_k({.lanes = {.outer = int64_t{1} << 30, .length = 1 << 20}}));
}
TEST(NonZeroPlan, BlocksReadTheNumbersOfAll) {
  const NonZeroPlan few = plan_non_zero(DType::kBool, Extents{3, 5}, 15);
  EXPECT_EQ(few.shape.grid[0], 1u);
  EXPECT_EQ(few.argument.groups, 1);
  EXPECT_EQ(few.workspace_bytes, 8 + 8 * 9 + 128);
  const NonZeroPlan many = plan_non_zero(DType::kF32, Extents{100, 1 << 20}, 5);
  EXPECT_EQ(many.argument.of_a_warp, 13);
  EXPECT_EQ(many.shape.grid[0], 985u);
  EXPECT_EQ(many.argument.is_wide, 0);
  EXPECT_EQ(plan_non_zero(DType::kU8, Extents{1 << 16, 1 << 16}, 5).argument.is_wide, 1);
  EXPECT_EQ(plan_non_zero(DType::kU8, Extents{4, 0}, 0).shape.grid[0], 0u);
}
TEST(UniquePlan, NumbersGroupsTwiceUnlessTheyAreSorted) {
  const auto entries = [](int64_t count, bool sorted) {
    std::string text;
    for (const UniquePlan::Call& call : plan_unique(DType::kU8, {.length = count}, count, sorted).calls)
      text += str(call.entry + 7, ' ', call.shape.grid[0], ' ');
    return text;
  };
  EXPECT_EQ(entries(1, true), "sorted_count 1 sorted_number 1 store 1 ");
  EXPECT_EQ(entries(1'000'000, false),
            "sorted_count 1954 sorted_number 1954 appearing_count 1954 appearing_number 1954 store 3907 ");
}
TEST(UniquePlan, SlicesAreSortedByTheirLastElementFirst) {
  const UniquePlan plan = plan_unique(DType::kI32, {.outer = 3, .length = 100, .inner = 2}, 100, true);
  EXPECT_EQ(plan.argument.size, 6u);
  EXPECT_EQ(plan.argument.passes, 24u);
  EXPECT_EQ(plan.sort.argument.rows, 1u);
  EXPECT_EQ(plan.sort.argument.inner, 2u);
  const std::byte x[1]{};
  EXPECT_EQ(static_cast<const std::byte*>(plan.last_elements(x)) - x, (2 * 100 * 2 + 1) * 4);
}
TEST(ResizePlan, ChannelsLastAreVectors) {
  const ops::Resize twice{.scales = {1, 1, 2, 2}};
  const auto plan = plan_resize(twice, false, Extents{2, 64, 5, 6}, Extents{2, 64, 10, 12}, Format::channels_last(4));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->planes, 2);
  EXPECT_EQ(plan->inner, 64);
  const ResizeArgument a = resize_launches(*plan, ResizeMode::kCubic, 2, 8, 132)[0].argument;
  EXPECT_EQ(a.count, 2u * 10 * 12 * 8);
  EXPECT_EQ(a.strides[2], 64);
  EXPECT_EQ(a.strides[1], 6 * 64);
  EXPECT_EQ(a.plane, 5 * 6 * 64);
  EXPECT_EQ(resize_launches(*plan, ResizeMode::kNearest, 2, 8, 132)[0].argument.strides[2],
            8);  // in units
}
TEST(ResizePlan, RowsThatShareRows) {
  const auto bands_of = [](float scale, int64_t in, int64_t out) {
    const ops::Resize resize{.mode = ResizeMode::kLinear,
                             .scales = {1, 1, scale, scale},
                             .coordinate = CoordinateTransformation::kHalfPixel};
    return plan_resize(resize, false, Extents{8, 64, in, in}, Extents{8, 64, out, out}, Format::channels_last(4));
  };
  const auto twice = bands_of(2, 65, 130);
  ASSERT_TRUE(twice) << twice.error().message;
  ASSERT_EQ(twice->bands.size(), 2u);
  const ResizeBands& four = twice->bands[1];
  EXPECT_EQ(four.rows, 4);
  EXPECT_EQ(four.weights % 4, 0);
  // Rows 4 ... 7 of y lie at 1.75, 2.25, 2.75 and 3.25: between rows 1 and 4 of x.
  EXPECT_EQ(twice->index[static_cast<size_t>(four.first_rows) + 2], 1);
  EXPECT_EQ(twice->index[static_cast<size_t>(four.first_rows) + 3], 3);  // more
  const float* weights = &twice->weight[static_cast<size_t>(four.weights) + 16];
  EXPECT_EQ(std::vector<float>(weights, weights + 16),
            (std::vector<float>{0.25F, 0.75F, 0, 0, 0, 0.75F, 0.25F, 0, 0, 0.25F, 0.75F, 0, 0, 0, 0.75F, 0.25F}));
  const auto launches = resize_launches(*twice, ResizeMode::kLinear, 2, 8, 132);
  EXPECT_EQ(launches[0].entry, "resize_band_4_8");
  EXPECT_EQ(launches[0].argument.count, 8u * 33 * 130 * 8);
  EXPECT_EQ(launches[1].entry, "resize_band_4_1");
  EXPECT_EQ(resize_launches(*twice, ResizeMode::kLinear, 2, 8, 10'000)[0].entry, "resize_band_1_8") << "few threads";
  const auto half = bands_of(0.5F, 64, 32);
  ASSERT_TRUE(half) << half.error().message;
  EXPECT_EQ(half->bands.size(), 1u) << "four rows of y are eight of x";
}
TEST(ResizePlan, ColumnsThatLieTogether) {
  const ops::Resize twice{.scales = {1, 1, 2, 2}};
  const auto plan = plan_resize(twice, false, Extents{8, 64, 64, 64}, Extents{8, 64, 128, 128}, Format::linear());
  ASSERT_TRUE(plan) << plan.error().message;
  const auto launches = resize_launches(*plan, ResizeMode::kNearest, 2, 1, 132);
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].entry, "resize_lines");
  EXPECT_EQ(launches[0].align, 16);
  EXPECT_EQ(launches[0].argument.count, 8u * 64 * 32 * 16);
  EXPECT_EQ(launches[0].argument.table[2] % 8, 0);
  EXPECT_EQ(launches[1].entry, "resize_band_4_1");
}

}  // namespace
}  // namespace kiln::cuda
