#include "backend/cuda/compile/gemm/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "backend/cuda/compile/compiler.h"
#include "backend/cuda/kernels/gemm/family.h"

namespace kiln::cuda {
namespace {

constexpr GemmTraits kHalf{ContractionTypes::all(DType::kF16), true, true, 8, 8, 8, false};

TEST(Gemm, CandidatesEndInWhatAlwaysRuns) {
  for (const int64_t m : {1, 7, 128, 4096}) {
    const auto candidates = gemm_candidates(kHalf, m, 768, 768, 1, {});
    EXPECT_TRUE(std::ranges::any_of(candidates, [](const auto& c) { return c.kernel.family == &kGemmSimt; }));
    EXPECT_EQ(candidates.front().kernel.family, m <= 16 ? &kGemmRows : &kGemmMma) << m;
    EXPECT_TRUE(std::ranges::is_sorted(candidates, {}, &GemmCandidate::estimate_us));
  }
}
TEST(Gemm, Fp32NeedsPermissionForTensorCores) {
  GemmTraits exact = kHalf;
  exact.types = {};
  for (const GemmCandidate& c : gemm_candidates(exact, 512, 512, 512, 1, {})) EXPECT_EQ(c.kernel.family, &kGemmSimt);
}
TEST(Gemm, FewTilesShareK) {
  const auto candidates = gemm_candidates(kHalf, 24, 768, 3072, 1, {});
  EXPECT_GT(candidates.front().kernel.splits, 1);
}
TEST(Gemm, FewRowsNeedWholePieces) {
  const auto has_rows = [](const GemmTraits& traits, int64_t m) {
    return std::ranges::any_of(gemm_candidates(traits, m, 512, 512, 1, {}),
                               [](const auto& c) { return c.kernel.family == &kGemmRows; });
  };
  GemmTraits traits = kHalf;
  EXPECT_TRUE(has_rows(traits, 16));
  EXPECT_FALSE(has_rows(traits, 17));
  traits.b_k_major = false;
  EXPECT_FALSE(has_rows(traits, 16));
  traits = kHalf;
  traits.a_align = 4;
  EXPECT_FALSE(has_rows(traits, 16));
  GemmKernel kernel = gemm_candidates(kHalf, 4, 512, 512, 1, {}).front().kernel;
  GemmArguments arguments;
  arguments.m = 20, arguments.n = 512, arguments.k = 512;  // more rows than it was made for
  arguments.a_row = arguments.b_column = 512, arguments.b_k = 1;
  EXPECT_EQ(plan_gemm(kernel, arguments, 132)->main.grid[0], 3u * 512 / kernel.tile.bn * kernel.splits);
  arguments.k = 511;
  EXPECT_FALSE(plan_gemm(kernel, arguments, 132).has_value());
}
TEST(Gemm, RowsCompile) {
  for (const char* arch : {"sm_80", "sm_90a", "sm_100a"}) {
    Compiler compiler(arch);
    const Machine machine{.compute = arch == std::string_view("sm_80") ? 80 : 90};
    for (const auto& [m, type] : {std::pair{1, DType::kF16}, {16, DType::kBF16}, {8, DType::kF32}}) {
      GemmTraits traits = kHalf;
      traits.types = ContractionTypes::all(type);
      traits.tf32 = traits.b_constant = true;
      int compiled = 0;
      for (const GemmCandidate& c : gemm_candidates(traits, m, 1024, 4096, 1, machine)) {
        if (c.kernel.family != &kGemmRows || ++compiled > 2) continue;
        const auto cubin = compiler.compile(source_of(c.kernel, {.bias = type, .residual = type}));
        if (!cubin && cubin.error().code == Code::kNotFound) GTEST_SKIP() << cubin.error().message;
        ASSERT_TRUE(cubin) << arch << ' ' << c.kernel.name() << ": " << cubin.error().message;
      }
      EXPECT_GE(compiled, 2);
    }
  }
}
/// What a product of bytes reads besides: all there is.
ByteScales all_scales(DType y) {
  ByteScales scales{.x_scale = DType::kF16, .w_by_channel = true, .corrected = true};
  if (is_kernel_float(y)) return scales;
  scales.y_by_value = scales.narrow_sums = y == DType::kI8;
  if (!scales.y_by_value) scales.y_scale = DType::kF32;
  if (y == DType::kU8) scales.y_zero = y;
  return scales;
}
TEST(Gemm, OfBytesCompile) {
  constexpr DType kI8 = DType::kI8, kU8 = DType::kU8, kF8 = DType::kF8E4M3, kF32 = DType::kF32;
  for (const char* arch : {"sm_80", "sm_90a", "sm_100a"}) {
    Compiler compiler(arch);
    const Machine machine{.compute = arch == std::string_view("sm_80") ? 80 : 90};
    for (const ContractionTypes& types : {ContractionTypes{kI8, kI8, kF32, kI8},
                                          {kU8, kI8, kF32, kU8},
                                          {kF8, kF8, kF32, kF8},
                                          {kI8, kI8, kF32, DType::kF16}}) {
      if (types.a == kF8 && machine.compute < 89) continue;
      GemmTraits traits{types, true, true, 16, 16, 8, false};
      traits.one_batch_axis = true;
      std::set<std::string_view> families;
      for (const GemmCandidate& c : gemm_candidates(traits, 2048, 1024, 512, 1, machine)) {
        if (arch == std::string_view("sm_100a") && c.kernel.family == &kGemmWgmma) continue;
        ASSERT_TRUE(c.kernel.check());
        if (!families.insert(c.kernel.family->name).second) continue;
        const auto cubin = compiler.compile(source_of(c.kernel, {.bias = kF32}, all_scales(types.out)));
        if (!cubin && cubin.error().code == Code::kNotFound) GTEST_SKIP() << cubin.error().message;
        ASSERT_TRUE(cubin) << arch << " " << str(types.a) << " " << c.kernel.name() << ": " << cubin.error().message;
      }
      EXPECT_EQ(families.size(), arch == std::string_view("sm_90a") ? 2u : 1u);
    }
  }
}
/// Products of bytes whose columns are interleaved, so that lanes have whole vectors.
std::vector<GemmKernel> with_lanes(const ContractionTypes& types, int64_t lane_columns, int64_t k,
                                   int64_t read_bytes = 0) {
  GemmTraits traits{types, true, true, 16, 16, 8, false};
  traits.one_batch_axis = true;
  traits.lane_columns = lane_columns;
  traits.read_bytes = read_bytes;
  std::vector<GemmKernel> found;
  for (const GemmCandidate& c : gemm_candidates(traits, 4096, 320, k, 1, {}))
    if (c.kernel.lanes) found.push_back(c.kernel);
  return found;
}
TEST(Gemm, LanesHaveVectorsOfWholeSpansOfColumns) {
  constexpr DType kI8 = DType::kI8;
  const ContractionTypes to_bytes{kI8, kI8, DType::kF32, kI8}, to_halves{kI8, kI8, DType::kF32, DType::kF16};
  EXPECT_TRUE(with_lanes(to_bytes, 32, 64).empty());  // four lanes have 16 columns each
  EXPECT_TRUE(with_lanes(to_halves, 16, 64).empty());
  EXPECT_TRUE(with_lanes(ContractionTypes::all(DType::kF16), 64, 64).empty());
  for (const GemmKernel& kernel : with_lanes(to_halves, 32, 64)) EXPECT_EQ(kernel.vec, 8);
  const std::vector<GemmKernel> found = with_lanes(to_bytes, 64, 64, 1);
  ASSERT_FALSE(found.empty());
  for (const GemmKernel& kernel : found) {
    EXPECT_TRUE(from_record<GemmKernel>(to_record(kernel)));
    EXPECT_EQ(kernel.vec, 16);
    EXPECT_EQ(kernel.read_bytes, 1);
    EXPECT_EQ(kernel.tile.bk, 64);  // lines no longer than k
    EXPECT_LE(wgmma_shared_bytes(kernel), kMostSharedBytes);
  }
  EXPECT_EQ(with_lanes(to_bytes, 64, 65).front().tile.bk, 128);
  GemmKernel kernel = found.front();
  kernel.lanes = false;
  EXPECT_FALSE(kernel.check());  // shared memory is read by eights
  kernel = found.front();
  kernel.tile.bn = 96;
  EXPECT_FALSE(kernel.check());
}
TEST(Gemm, ColumnsOfLanesComeInterleaved) {
  const ContractionTypes types{DType::kI8, DType::kI8, DType::kF32, DType::kI8};
  GemmKernel kernel = with_lanes(types, 64, 64, 2).front();
  kernel.tile = {128, 256, 64, 8, 1, 0, 0, 4};
  kernel.cluster = 2;
  GemmArguments g;
  g.m = 4096, g.n = 320, g.k = 48;
  g.a_row = g.b_column = 48, g.b_k = 1, g.c_row = 320;
  const auto plan = plan_gemm(kernel, g, 132);
  ASSERT_TRUE(plan) << plan.error().message;
  const MapPlan& b = plan->map_b;
  EXPECT_EQ(b.rank, 5u);
  EXPECT_EQ(std::vector<uint64_t>(b.extents, b.extents + 5), (std::vector<uint64_t>{48, 2, 4, 8, 5}));
  EXPECT_EQ(std::vector<uint64_t>(b.strides_bytes, b.strides_bytes + 4),
            (std::vector<uint64_t>{48, 16 * 48, 2 * 48, 64 * 48}));
  EXPECT_EQ(std::vector<uint32_t>(b.box, b.box + 5), (std::vector<uint32_t>{64, 2, 4, 8, 2}));
  EXPECT_EQ(plan->map_a.box[0], 64u);
  EXPECT_EQ(plan->map_a.swizzle, kSwizzle64);
  EXPECT_EQ(plan->main.shared_bytes, 4u * 384 * 64 + 1024 + 128 * 256 * 2);
  g.n = 328;
  EXPECT_FALSE(plan_gemm(kernel, g, 132));
  g.n = 320;
  g.batches.axes = 1;
  g.batches.axis[0] = {3, 0, 4096 * 48, 320 * 48, 4096 * 320};  // another b for each batch
  EXPECT_FALSE(plan_gemm(kernel, g, 132));
  g.batches.axis[0].b = 0;
  EXPECT_TRUE(plan_gemm(kernel, g, 132));
  kernel.tile.bk = 32;
  EXPECT_FALSE(plan_gemm(kernel, g, 132));
}
TEST(Gemm, LanesCompile) {
  Compiler compiler("sm_90a");
  constexpr DType kI8 = DType::kI8, kF8 = DType::kF8E4M3;
  for (const ContractionTypes& types : {ContractionTypes{kI8, kI8, DType::kF32, kI8},
                                        {kI8, kI8, DType::kF32, DType::kF16},
                                        {kF8, kF8, DType::kF32, DType::kF32}}) {
    const DType y = is_kernel_float(types.out) ? types.out : DType::kF16;
    const std::vector<GemmKernel> found = with_lanes(types, 64, 64, 2);
    ASSERT_FALSE(found.empty());
    for (const GemmKernel& kernel : {found.front(), found.back()}) {
      const auto cubin =
          compiler.compile(source_of(kernel, {.bias = y, .residual = y, .lo = 0}, all_scales(types.out)));
      if (!cubin && cubin.error().code == Code::kNotFound) GTEST_SKIP() << cubin.error().message;
      ASSERT_TRUE(cubin) << str(types.a) << " " << kernel.name() << ": " << cubin.error().message;
    }
  }
}
TEST(Gemm, OddBytesAreCopiedOneByOne) {
  GemmTraits traits{{DType::kI8, DType::kI8, DType::kF32, DType::kI8}, true, true, 1, 16, 8, false};
  const auto candidates = gemm_candidates(traits, 64, 64, 63, 1, {});
  ASSERT_FALSE(candidates.empty());
  EXPECT_EQ(candidates[0].kernel.a_piece, 1);
  Compiler compiler("sm_80");
  const auto cubin = compiler.compile(source_of(candidates[0].kernel, {}, all_scales(DType::kI8)));
  if (!cubin && cubin.error().code == Code::kNotFound) GTEST_SKIP() << cubin.error().message;
  ASSERT_TRUE(cubin) << cubin.error().message;
}
TEST(Gemm, PiecesFollowAlignment) {
  GemmTraits odd = kHalf;
  odd.a_align = 1;
  odd.b_align = 4;
  odd.c_align = 2;
  const GemmKernel kernel = gemm_candidates(odd, 512, 510, 511, 1, {}).front().kernel;
  EXPECT_EQ(kernel.a_piece, 2);
  EXPECT_EQ(kernel.b_piece, 8);
  EXPECT_EQ(kernel.vec, 2);
}
TEST(Gemm, PlansCoverTheResult) {
  GemmKernel kernel = gemm_candidates(kHalf, 512, 512, 512, 1, {}).front().kernel;
  kernel.tile = {128, 64, 64, 4, 2, 0, 0, 4};
  kernel.splits = 4;
  GemmArguments arguments;
  arguments.m = 300, arguments.n = 200, arguments.k = 104;
  arguments.a_row = arguments.b_column = 104, arguments.b_k = 1;
  arguments.batches.axes = 1;
  arguments.batches.axis[0].extent = 5;
  const GemmLaunch plan = *plan_gemm(kernel, arguments, 132);
  EXPECT_EQ(arguments.splits, 2);  // two steps of 64 are all there is
  EXPECT_EQ(plan.main.grid[0], 3u * 4 * 5 * 2);
  EXPECT_EQ(plan.reduce_vectors, 300 * 200 * 5 / 8);
  EXPECT_EQ(plan.workspace_bytes, 300 * 200 * 5 * 2 * 4);
}
TEST(Gemm, BlocksHaveNoMoreSharedMemoryThanTheMachine) {
  GemmTraits traits = kHalf;
  traits.one_batch_axis = true;
  size_t before = 0;
  for (const int64_t limit : {int64_t{48} << 10, int64_t{99} << 10, kMostSharedBytes}) {
    const auto candidates = gemm_candidates(traits, 4096, 4096, 4096, 1, {.shared_bytes = limit});
    EXPECT_GT(candidates.size(), before) << limit << ": more memory, more kernels";
    before = candidates.size();
    for (const GemmCandidate& c : candidates) {
      GemmArguments arguments;
      arguments.m = arguments.n = arguments.k = 4096;
      arguments.a_row = arguments.b_column = 4096, arguments.a_k = arguments.b_k = 1;
      arguments.batches.axes = 1;
      arguments.batches.axis[0].extent = 1;
      const auto plan = plan_gemm(c.kernel, arguments, 132);
      ASSERT_TRUE(plan) << c.kernel.name() << ": " << plan.error().message;
      EXPECT_LE(plan->main.shared_bytes, limit) << c.kernel.name();
    }
  }
}
TEST(Gemm, RefusesWhatItsPiecesDoNotTake) {
  GemmKernel kernel = gemm_candidates(kHalf, 512, 512, 512, 1, {}).front().kernel;
  kernel.tile = {128, 64, 64, 4, 2, 0, 0, 4};
  GemmArguments whole;
  whole.m = whole.n = whole.k = whole.a_row = whole.b_column = 64;
  whole.b_k = 1;
  whole.batches.axes = 1;
  whole.batches.axis[0] = {3, 0, 4096, 4096, 4096};
  ASSERT_TRUE(plan_gemm(kernel, whole, 132));
  const auto takes = [&](const auto& change) {
    GemmArguments arguments = whole;
    change(arguments);
    return plan_gemm(kernel, arguments, 132).has_value();
  };
  EXPECT_TRUE(takes([](GemmArguments& g) { g.k = 63; }));  // padded
  EXPECT_FALSE(takes([](GemmArguments& g) { g.k = 65; }));
  EXPECT_FALSE(takes([](GemmArguments& g) { g.a_row = 63; }));
  EXPECT_FALSE(takes([](GemmArguments& g) { g.n = 63; }));
  EXPECT_FALSE(takes([](GemmArguments& g) { g.b_k = 2; }));
  EXPECT_FALSE(takes([](GemmArguments& g) { g.batches.axis[0].b = 4095; }));
}
TEST(Gemm, HopperKernelsNeedAlignedRowsAndOneBatchAxis) {
  const auto has_maps = [](const GemmTraits& traits) {
    return std::ranges::any_of(gemm_candidates(traits, 512, 512, 512, 1, {}),
                               [](const auto& c) { return c.kernel.reads_maps(); });
  };
  GemmTraits traits = kHalf;
  EXPECT_FALSE(has_maps(traits));
  traits.one_batch_axis = true;
  EXPECT_TRUE(has_maps(traits));
  traits.b_align = 4;
  EXPECT_FALSE(has_maps(traits));
  GemmKernel kernel;
  kernel.family = &kGemmWgmma;
  kernel.tile = {128, 128, 64, 8, 1, 0, 0, 6};
  GemmArguments arguments;
  arguments.m = arguments.n = 128, arguments.k = 0;
  EXPECT_FALSE(plan_gemm(kernel, arguments, 132).has_value());
}
TEST(Gemm, BlocksThatStayAreNoMoreThanMultiprocessors) {
  GemmKernel kernel;
  kernel.family = &kGemmWgmma;
  kernel.types = ContractionTypes::all(DType::kF16);
  kernel.tile = {128, 256, 64, 8, 1, 0, 0, 4};
  kernel.cluster = 2;
  GemmArguments arguments;
  arguments.m = arguments.n = arguments.k = 4096;
  arguments.a_row = arguments.b_column = 4096;
  arguments.b_k = 1;
  const GemmLaunch plan = *plan_gemm(kernel, arguments, 131);
  EXPECT_EQ(plan.main.grid[0], 130u);
  EXPECT_EQ(plan.main.cluster, 2u);
  EXPECT_EQ(plan.map_b.box[1], 128u);  // each block of a pair loads half of B
  EXPECT_EQ(plan.map_a.strides_bytes[0], 8192u);
}
TEST(Gemm, FloatWeightsOfHalvesAreTwoMatrices) {
  GemmTraits traits = kHalf;
  traits.one_batch_axis = traits.b_constant = true;
  traits.types.b = DType::kF32;
  const auto candidates = gemm_candidates(traits, 3136, 16, 64, 1, {});
  ASSERT_FALSE(candidates.empty());
  for (const GemmCandidate& c : candidates) {
    EXPECT_EQ(c.kernel.family, &kGemmSmall);
    EXPECT_TRUE(from_record<GemmKernel>(to_record(c.kernel))->types.is_mixed());
  }
  const float w[] = {1, 4 + 0x1p-12f};
  const Bytes packed = pack_split_rows(DType::kF16, std::as_bytes(std::span(w)));
  _Float16 halves[4];
  ASSERT_EQ(packed.size(), sizeof halves);
  std::memcpy(halves, packed.data(), sizeof halves);
  EXPECT_EQ(std::vector<float>(halves, halves + 4), (std::vector<float>{1, 4, 0, 0x1p-12f}));
  GemmKernel kernel = candidates.front().kernel;
  GemmArguments arguments;
  arguments.m = 3136, arguments.n = 16, arguments.k = 64;
  arguments.a_row = arguments.b_column = 64;
  arguments.b_k = 1;
  const GemmLaunch plan = *plan_gemm(kernel, arguments, 132);
  EXPECT_EQ(plan.map_b.extents[2], 2u);
  EXPECT_EQ(plan.map_b.strides_bytes[1], 16u * 64 * 2);
  EXPECT_EQ(plan.map_a.extents[2], 1u);
  arguments.batches.axes = 1;
  EXPECT_FALSE(plan_gemm(kernel, arguments, 132).has_value());
  kernel.types.b = DType::kBF16;
  EXPECT_FALSE(kernel.check());
}
TEST(Gemm, HopperKernelsCompile) {
  Compiler compiler("sm_90a");
  GemmTraits traits = kHalf;
  traits.one_batch_axis = traits.b_constant = true;
  for (const auto& [m, type] : {std::pair{4096, DType::kF16}, {128, DType::kBF16}, {512, DType::kF32}}) {
    traits.types = ContractionTypes::all(type);
    traits.tf32 = true;
    int compiled = 0;
    for (const GemmCandidate& c : gemm_candidates(traits, m, 1024, 1024, 1, {})) {
      if (!c.kernel.reads_maps() || ++compiled > 3) continue;
      const auto cubin = compiler.compile(source_of(c.kernel, {.bias = type}));
      if (!cubin && cubin.error().code == Code::kNotFound) GTEST_SKIP() << cubin.error().message;
      ASSERT_TRUE(cubin) << c.kernel.name() << ": " << cubin.error().message;
    }
    EXPECT_GE(compiled, 3);
  }
}
TEST(Gemm, GatesCompile) {
  constexpr DType kF16 = DType::kF16;
  const NestProgram gate{
      {{ScalarFn::kSigmoid, kF16, kF16, {~0}}, {ScalarFn::kProd, kF16, kF16, {0, ~1}}}, {kF16, kF16}, {kF16}, {1}};
  GemmTraits traits = kHalf;
  traits.one_batch_axis = true;
  for (const char* arch : {"sm_80", "sm_90a", "sm_100a"}) {
    Compiler compiler(arch);
    const Machine machine{.compute = arch == std::string_view("sm_80")    ? 80
                                     : arch == std::string_view("sm_90a") ? 90
                                                                          : 100};
    std::set<const GemmFamily*> compiled;
    for (const int64_t m : {4, 512})
      for (const GemmCandidate& c : gemm_candidates(traits, m, 1024, 256, 1, machine)) {
        if (!c.kernel.may_gate() || !compiled.insert(c.kernel.family).second) continue;
        const auto cubin = compiler.compile(source_of(c.kernel, {.bias = kF16}, gate));
        if (!cubin && cubin.error().code == Code::kNotFound) GTEST_SKIP() << cubin.error().message;
        ASSERT_TRUE(cubin) << arch << ' ' << c.kernel.name() << ": " << cubin.error().message;
      }
    EXPECT_EQ(compiled.size(), machine.compute == 90 ? 3u : 2u) << arch;
  }
}

TEST(Gemm, KernelsSurviveTheirRecords) {
  for (const GemmCandidate& c : gemm_candidates(kHalf, 64, 512, 4096, 1, {}))
    EXPECT_EQ(to_record(*from_record<GemmKernel>(to_record(c.kernel))), to_record(c.kernel));
}
TEST(Gemm, ATileFromOutsideIsChecked) {
  GemmKernel kernel = gemm_candidates(kHalf, 64, 64, 64, 1, {}).front().kernel;
  EXPECT_TRUE(kernel.check());
  for (const auto width : {&GemmKernel::vec, &GemmKernel::a_piece, &GemmKernel::b_piece}) {
    GemmKernel other = kernel;
    other.*width = 3;  // no address is aligned to that
    EXPECT_FALSE(from_record<GemmKernel>(to_record(other)));
  }
  kernel.tile = {128, 128, 32, 0, 0, 0, 8, 4};
  EXPECT_FALSE(from_record<GemmKernel>(to_record(kernel)));
}

/// Every tile of a family, with and without splits, and each way of reading.
TEST(Gemm, KernelsCompile) {
  const Epilogue epilogue{.bias = DType::kF32, .residual = DType::kF16, .lo = 0};
  for (const char* arch : {"sm_80", "sm_90a", "sm_100a"}) {
    Compiler compiler(arch);
    for (const bool major : {true, false}) {
      GemmTraits traits = kHalf;
      traits.a_k_major = traits.b_k_major = major;
      if (!major) traits = {{}, false, false, 1, 2, 4, true};
      std::vector<GemmCandidate> candidates = gemm_candidates(traits, 512, 512, 4096, 1, {});
      candidates.resize(4);
      for (const GemmCandidate& c : candidates) {
        const auto cubin = compiler.compile(source_of(c.kernel, epilogue));
        if (!cubin && cubin.error().code == Code::kNotFound) GTEST_SKIP() << cubin.error().message;
        ASSERT_TRUE(cubin) << arch << ' ' << c.kernel.name() << ": " << cubin.error().message;
      }
    }
  }
}

}  // namespace
}  // namespace kiln::cuda
