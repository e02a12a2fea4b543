// Kernels of sm_90a: their text, their launch, and when they are worth timing.
#include <algorithm>
#include <array>
#include <cmath>

#include "backend/cuda/device/driver_types.h"
#include "backend/cuda/kernels/gemm/gemm.h"
#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {
namespace {

int64_t dynamic_bytes(const GemmKernel& kernel) {
  const TileShape& t = kernel.tile;
  const int64_t stages = t.stages * (t.bm + t.bn) * kLineBytes + kStageAlignment;
  if (kernel.family == GemmFamily::kWgmma) return stages;
  return stages + exchange_bytes(t.bm, t.bn, kernel.splits);
}
/// Groups of four warps that multiply, of gemm/wgmma.cu.
int64_t groups(const GemmKernel& kernel) { return kernel.turns == 1 ? kernel.tile.bm / 64 : kernel.turns; }
/// Shared memory with the static arrays of gemm/wgmma.cu.
int64_t shared_bytes(const GemmKernel& kernel) {
  const int64_t fixed = kernel.family == GemmFamily::kWgmma ? groups(kernel) * 4 * slab_bytes(32) : 0;
  return dynamic_bytes(kernel) + fixed + kernel.tile.stages * 16;
}

/// Blocks that share k exchange their sums; several of them fit a multiprocessor.
double small_estimate_us(const GemmKernel& kernel, int64_t tiles, int64_t steps, double peak, const Machine& machine) {
  const TileShape& t = kernel.tile;
  const double splits = static_cast<double>(kernel.splits), area = static_cast<double>(t.bm * t.bn);
  const double own_steps = std::ceil(static_cast<double>(steps) / splits);
  const double step_cycles = std::max(2 * area * static_cast<double>(t.bk) / (peak * std::sqrt(area) / 128), 60.0);
  const double turns = std::max(1.0, static_cast<double>(tiles) * splits / machine.multiprocessors);
  const double exchanged = area * 4 * (splits - 1) / splits;
  constexpr double kExchangedPerUs = 25e3;
  return 0.5 + turns * (own_steps * step_cycles + 1500) * 1e6 / machine.clock_hz + 0.25 * std::log2(splits) +
         exchanged / kExchangedPerUs;
}

}  // namespace

int map_type(DType type) { return type == DType::kF16 ? kMapF16 : type == DType::kBF16 ? kMapBF16 : kMapTF32; }

MapPlan map_of(DType type, int64_t k, int64_t rows, int64_t pitch, int64_t batches, int64_t step, int64_t box_rows) {
  const int64_t size = bytes_of(type);
  MapPlan map;
  map.type = map_type(type);
  map.extents[0] = static_cast<uint64_t>(k);
  map.extents[1] = static_cast<uint64_t>(rows);
  map.extents[2] = static_cast<uint64_t>(step ? batches : 1);
  map.strides_bytes[0] = static_cast<uint64_t>(pitch * size);
  map.strides_bytes[1] = static_cast<uint64_t>((step ? step : pitch) * size);
  map.box[0] = static_cast<uint32_t>(kLineBytes / size);
  map.box[1] = static_cast<uint32_t>(box_rows);
  return map;
}

std::vector<std::string> hopper_defines(const GemmKernel& kernel) {
  std::vector<std::string> defines{str("BM=", kernel.tile.bm), str("BN=", kernel.tile.bn),
                                   str("STAGES=", kernel.tile.stages), str("VEC=", kernel.vec)};
  if (kernel.family == GemmFamily::kWgmma) {
    defines.push_back(str("CLUSTER=", kernel.cluster));
    defines.push_back(str("TURNS=", kernel.turns));
  } else {
    defines.push_back(str("SPLIT=", kernel.splits));
    defines.push_back(str("B_CONSTANT=", int{kernel.b_constant}));
    if (kernel.float_weights) defines.push_back("TERMS=2");
  }
  return defines;
}

std::string wgmma_source(int64_t n, DType element, WgmmaForm form) {
  const int64_t sums = n / 2;
  const bool tf32 = element == DType::kF32, shared = form == WgmmaForm::kShared;
  const std::string_view type = tf32 ? "tf32" : element == DType::kF16 ? "f16" : "bf16";
  std::string registers, operands;
  for (int64_t i = 0; i < sums; ++i) {
    registers += str(i ? ", " : "", "%", i);
    operands += str(i ? ", " : "", "\"+f\"(d[", i / 4, "][", i % 4, "])");
  }
  // Operands by number: the sums, then a (a descriptor or four registers), b, and whether to accumulate.
  const int64_t b = sums + (shared ? 1 : 4);
  const std::string a =
      shared ? str("%", sums) : str("{%", sums, ", %", sums + 1, ", %", sums + 2, ", %", sums + 3, "}");
  const std::string_view layout = tf32 ? "" : shared ? ", 0, 0" : ", 1";
  return str("namespace kiln {\n/// d (64 x ", n, ") = a * b, or d + a * b, for 32 bytes of k.\n",
             "__device__ __forceinline__ void ", shared ? "wgmma" : "wgmma_values", "(float (&d)[", n / 8, "][4], ",
             shared ? "unsigned long long a" : "const unsigned (&a)[4]", ", unsigned long long b, int accumulate) {\n",
             "  asm volatile(\"{\\n.reg .pred p;\\nsetp.ne.b32 p, %", b + 1, ", 0;\\nwgmma.mma_async.sync.aligned.m64n",
             n, tf32 ? "k8" : "k16", ".f32.", type, ".", type, " {", registers, "}, ", a, ", %", b, ", p, 1, 1", layout,
             ";\\n}\"\n               : ", operands,
             "\n               : ", shared ? "\"l\"(a)" : "\"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3])",
             ", \"l\"(b), \"r\"(accumulate));\n}\n}  // namespace kiln\n");
}

Result<GemmLaunch> plan_hopper(const GemmKernel& kernel, GemmArguments& g, int64_t multiprocessors) {
  const TileShape& t = kernel.tile;
  const int64_t size = bytes_of(kernel.element), batches = g.batches.count();
  const BatchAxis axis = g.batches.axes ? g.batches.axis[0] : BatchAxis{};
  const auto aligned = [&](int64_t elements) { return elements * size % 16 == 0; };
  TRY(require(g.batches.axes <= 1 && g.k > 0 && g.a_k == 1 && g.b_k == 1 && aligned(g.a_row) && aligned(g.b_column) &&
                  aligned(axis.a) && aligned(axis.b),
              "a product of ", g.batches.axes, " batch axes and k = ", g.k,
              " is not for tensor maps, which take one axis and rows of whole 16 bytes"));
  g.splits = 1;
  GemmLaunch launch;
  launch.batches = static_cast<int32_t>(batches);
  const int64_t box_b = kernel.family == GemmFamily::kWgmma ? t.bn / kernel.cluster : t.bn;
  launch.map_a = map_of(kernel.element, g.k, g.m, g.a_row, batches, axis.a, t.bm);
  TRY(require(!kernel.float_weights || g.batches.axes == 0, "a product of FP32 weights has no batches"));
  launch.map_b = kernel.float_weights ? map_of(kernel.element, g.k, g.n, g.b_column, 2, g.n * g.b_column, box_b)
                                      : map_of(kernel.element, g.k, g.n, g.b_column, batches, axis.b, box_b);
  launch.main.shared_bytes = static_cast<uint32_t>(dynamic_bytes(kernel));
  int64_t blocks = 0;
  if (kernel.family == GemmFamily::kWgmma) {
    const int64_t clusters = ceil_div(g.m, t.bm * kernel.cluster) * ceil_div(g.n, t.bn) * batches;
    blocks = std::min(clusters, std::max<int64_t>(1, multiprocessors / kernel.cluster)) * kernel.cluster;
    launch.main.block[0] = static_cast<uint32_t>(128 * (groups(kernel) + 1));
    launch.main.cluster = static_cast<uint32_t>(kernel.cluster);
  } else {
    blocks = ceil_div(g.m, t.bm) * ceil_div(g.n, t.bn) * batches * kernel.splits;
    launch.main.block[0] = static_cast<uint32_t>(2 * t.bm + 32);
    launch.main.cluster = static_cast<uint32_t>(kernel.splits);
  }
  TRY(require(blocks < (int64_t{1} << 31), "a product of ", g.m, " x ", g.n, " has more tiles than a grid"));
  launch.main.grid[0] = static_cast<uint32_t>(blocks);
  launch.main.pdl = blocks <= 2 * multiprocessors;
  return launch;
}

void add_hopper_candidates(const GemmTraits& traits, int64_t m, int64_t n, int64_t k, int64_t batches,
                           const Machine& machine, std::vector<GemmCandidate>& candidates) {
  const int64_t size = bytes_of(traits.element);
  if (machine.compute != 90 || machine.shared_bytes < kMostSharedBytes ||
      (traits.element == DType::kF32 && !traits.tf32))
    return;
  if (!traits.a_k_major || !traits.b_k_major || traits.a_align * size < 16 || traits.b_align * size < 16 || k < 1 ||
      !traits.one_batch_axis)
    return;
  GemmKernel kernel;
  kernel.element = traits.element;
  kernel.result = traits.result;
  kernel.b_k_major = true;
  kernel.vec = std::min<int64_t>(traits.c_align, 16 / bytes_of(traits.result));
  const double peak = traits.element == DType::kF32 ? 1800 : 3600;
  const int64_t bk = kLineBytes / size, processors = static_cast<int64_t>(machine.multiprocessors);
  const auto add = [&](double estimate_us) {
    if (shared_bytes(kernel) <= kMostSharedBytes) candidates.push_back({kernel, estimate_us});
  };
  const auto product_us = [&] {
    return product_estimate_us(kernel.tile, static_cast<double>(m), static_cast<double>(n), static_cast<double>(k),
                               static_cast<double>(batches), 1, size, peak, machine);
  };
  kernel.family = GemmFamily::kSmall;
  kernel.b_constant = traits.b_constant;
  kernel.float_weights = traits.float_weights;
  const int64_t steps = ceil_div(k, bk) * (traits.float_weights ? 2 : 1);
  for (const auto& [bm, bn, stages] :
       {std::array<int64_t, 3>{64, 32, 8}, {64, 64, 6}, {64, 128, 6}, {128, 32, 8}, {128, 64, 6}, {64, 16, 8}}) {
    kernel.tile = {bm, bn, bk, bm / 16, 1, 0, 0, stages};
    const int64_t tiles = ceil_div(m, bm) * ceil_div(n, bn) * batches;
    for (const int64_t splits : {1, 2, 4, 8}) {
      if (bn / 8 % splits != 0 || steps < splits || tiles * splits > 2 * processors) continue;
      kernel.splits = splits;
      add(small_estimate_us(kernel, tiles, steps, peak, machine));
    }
  }
  if (traits.float_weights) return;
  kernel.splits = 1;
  kernel.b_constant = false;
  kernel.family = GemmFamily::kWgmma;
  for (const auto& [bm, bn, stages] : {std::array<int64_t, 3>{128, 256, 4},
                                       {128, 192, 5},
                                       {128, 128, 6},
                                       {128, 96, 7},
                                       {128, 64, 8},
                                       {64, 256, 5},
                                       {64, 128, 8},
                                       {64, 96, 8},
                                       {64, 64, 8}}) {
    kernel.tile = {bm, bn, bk, bm / 16, 1, 0, 0, stages};
    add(product_us());
    const bool both = bm == 128 && bn == 128;
    if (m >= 1024 && (both || bn == 256) && bm == 128) {
      kernel.cluster = 2;
      add(product_us() - 0.1);
      kernel.cluster = 1;
    }
    // Where a block has several tiles, one ends while the next is multiplied.
    const int64_t tiles_each = ceil_div(ceil_div(m, bm) * ceil_div(n, bn) * batches, processors);
    if (both && tiles_each > 1) {
      constexpr double kEndCycles = 1200;
      kernel.turns = 2;
      add(product_us() - static_cast<double>(tiles_each - 1) * kEndCycles * 1e6 / machine.clock_hz);
      kernel.turns = 1;
    }
  }
}

}  // namespace kiln::cuda
