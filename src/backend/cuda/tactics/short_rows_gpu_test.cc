// Very many rows of few elements by teams of every size, against the ops' references, and their rates; on a machine
// with a GPU only.
#include <gtest/gtest.h>

#include <cstdio>

#include "backend/cuda/compile/lanes/normalize.h"
#include "backend/cuda/compile/lanes/softmax.h"
#include "backend/cuda/compile/lanes/tile.h"
#include "backend/cuda/kernels/lanes/short_layout.cuh"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"
#include "backend/cuda/testing/net.h"
#include "backend/cuda/testing/on_gpu.h"
#include "ops/normalization.h"
#include "ops/softmax.h"
#include "steps/normalization.h"
#include "steps/softmax.h"

namespace kiln::cuda {
namespace {

/// The tactic of a graph's only op with a tile that is given rather than chosen.
class WithTile final : public Tactic {
 public:
  WithTile(const Net& net, const RowTile& tile)
      : of_(*tactics_for(net.graph.node(net.graph.value(net.graph.outputs()[0].value).producer).op.info()).front()),
        tile_(tile) {}
  std::string_view name() const override { return of_.name(); }
  Match match(const TacticContext& cx, ir::NodeId root) const override { return of_.match(cx, root); }
  std::vector<Variant> variants(const TacticContext&, const Region& region) const override {
    return {{"row-major", std::vector<Format>(region.inputs.size()), {Format::linear()}, {}, 0}};
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant&) const override {
    const DType type = cx.graph.type(region.inputs[0]).dtype;
    if (name() == "softmax") {
      const SoftmaxTuning tuning{.tile = tile_};
      StepDraft draft = cuda_step(steps::Softmax{.axis = 1}, tuning);
      draft.binary = TRY(compile_kernel(cx, softmax_source(type, tuning)));
      return draft;
    }
    StepDraft draft =
        cuda_step(TRY(from_record<steps::Normalization>(region.data)), NormalizationTuning{.tile = tile_});
    draft.binary = TRY(compile_kernel(cx, normalization_source({type, type, tile_})));
    return draft;
  }

 private:
  const Tactic& of_;
  RowTile tile_;
};

enum class Kind : uint8_t { kSoftmax, kNorm, kNormByCoefficients };
Net net_of(Kind kind, DType type, const Extents& x, Net::Inputs given) {
  Net net(type, given);
  const ir::ValueId in = net.input(x, 2);
  const ops::Normalization norm{.axes = {1}};
  net.finish(kind == Kind::kSoftmax ? net.add(ops::Softmax{1}, {in})
             : kind == Kind::kNorm  ? net.add(norm, {in})
                                    : net.add(norm, {in, net.constant({x[1]}), net.constant({x[1]})}));
  return net;
}

class ShortRowsOnGpu : public OnGpu {
 protected:
  static void check(DType type, int64_t cols, const RowTile& tile) {
    const Extents x{2 * tile.threads / tile.team - 3, cols};  // rows that end inside a block
    for (const Kind kind : {Kind::kSoftmax, Kind::kNorm, Kind::kNormByCoefficients}) {
      if (kind != Kind::kSoftmax && cols == 2) continue;  // the difference of two elements has fewer digits
      const Net net = net_of(kind, type, x, Net::Inputs::kRandom);
      const double tolerance = type == DType::kF16 ? 2e-3 : type == DType::kBF16 ? 1.6e-2 : 3e-6;
      const std::string name = str(kind == Kind::kSoftmax ? "softmax" : "layer norm", " of ", name_of(type), ' ', x,
                                   ", ", tile.name(), kind == Kind::kNorm ? ", no coefficients" : "");
      EXPECT_EQ(expect_agreement(name, net, WithTile(net, tile), tolerance, {.numerics = {.strongly_typed = true}}), 1);
    }
  }

  /// Prints GB/s by teams of every size that leaves each thread work, and what the rule chooses.
  static void rates(Kind kind, DType type) {
    constexpr int64_t kBytes = int64_t{128} << 20;  // of x
    const int element = bits_of(type) / 8;
    const auto copy_us = copy_time_us(*gpu_, kBytes);
    ASSERT_TRUE(copy_us) << copy_us.error().message;
    std::printf("%s of %s, GB/s by the team's size (a copy: %.0f)\n",
                kind == Kind::kSoftmax ? "softmax"
                : kind == Kind::kNorm  ? "layer norm"
                                       : "layer norm by coefficients",
                str(name_of(type)).c_str(), 2 * static_cast<double>(kBytes) / *copy_us * 1e-3);
    for (const int64_t cols : {10, 21, 32, 33, 49, 64, 65, 96, 97, 127, 128, 129, 256}) {
      const bool is_typical = cols == 33 || cols == 49 || cols == 64 || cols == 96 || cols == 127;
      if (cols * element > 512 || (kind == Kind::kNormByCoefficients && !is_typical)) continue;
      const Extents x{kBytes / element / cols, cols};
      const auto chosen = short_row_tile(x[0], cols, element, gpu_->properties().num_multiprocessors);
      std::printf("  %3d:", static_cast<int>(cols));
      const auto print = [&](const RowTile& tile) {
        const Net net = net_of(kind, type, x, Net::Inputs::kNone);
        const auto ran = run_variants(*gpu_, net.graph, WithTile(net, tile), {}, {.timed = true, .made_up = true});
        ASSERT_TRUE(ran) << ran.error().message;
        const RanVariant& variant = ran->front();
        ASSERT_EQ(variant.failure, "");
        std::printf("  %2d%s %4.0f (%3.0f %%)", tile.team, chosen == tile ? "*" : " ",
                    2 * static_cast<double>(x[0] * cols * element) / variant.time_us * 1e-3,
                    *copy_us / variant.time_us * 100);
      };
      for (const int team : {1, 2, 4, 8, 16}) {
        const auto tile = team_row_tile(cols, element, team);
        if (!tile || (team > 1 && cols < 6 * team)) continue;
        ASSERT_NO_FATAL_FAILURE(print(*tile));
      }
      if (chosen && chosen->threads == 128) {
        RowTile twice = *chosen;
        twice.threads *= 2;
        std::printf("  blocks twice as large:");
        ASSERT_NO_FATAL_FAILURE(print(twice));
      }
      std::printf("\n");
      std::fflush(stdout);
    }
  }
};

TEST_F(ShortRowsOnGpu, TeamsOfEverySize) {
  for (const DType type : {DType::kF32, DType::kF16})
    for (const int64_t cols : {2, 3, 10, 21, 33, 40, 49, 64, 65, 96, 97, 127, 128, 255, 256})
      for (const int team : {1, 2, 4, 8, 16}) {
        const auto tile = team_row_tile(cols, bits_of(type) / 8, team);
        if (!tile) continue;
        ASSERT_NO_FATAL_FAILURE(check(type, cols, *tile));
      }
  for (const int64_t cols : {49, 96, 97})
    ASSERT_NO_FATAL_FAILURE(check(DType::kBF16, cols, *team_row_tile(cols, 2, 4)));
}

// Rates: run with --gtest_also_run_disabled_tests --gtest_filter='ShortRowsOnGpu*Rates'.
TEST_F(ShortRowsOnGpu, DISABLED_SoftmaxRates) {
  for (const DType type : {DType::kF16, DType::kF32}) rates(Kind::kSoftmax, type);
}
TEST_F(ShortRowsOnGpu, DISABLED_NormRates) {
  for (const DType type : {DType::kF16, DType::kF32}) rates(Kind::kNorm, type);
}
TEST_F(ShortRowsOnGpu, DISABLED_CoefficientRates) {
  for (const DType type : {DType::kF16, DType::kF32}) rates(Kind::kNormByCoefficients, type);
}

}  // namespace
}  // namespace kiln::cuda
