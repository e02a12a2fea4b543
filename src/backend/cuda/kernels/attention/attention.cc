#include "backend/cuda/kernels/attention/attention.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "backend/cuda/kernels/nest/function.h"
#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {
namespace {

constexpr int64_t kMostDepth = 128;
constexpr std::string_view kEntries[] = {"attention_mma", "attention_wgmma", "attention_split", "attention_simt"};
constexpr std::string_view kFiles[] = {"attention/mma.cu", "attention/wgmma.cu", "attention/split.cu",
                                       "attention/simt.cu"};

constexpr int64_t kSectionBytes = 16 << 20;  // of keys and values that the L2 holds beside all else

int64_t size_of(const AttentionKernel& k) { return bytes_of(k.element); }

int64_t shared_bytes(const AttentionKernel& k) {
  if (k.family == AttentionFamily::kSimt)
    return ((k.queries() + 2 * k.keys) * (k.depth + 4) + k.queries() * (k.keys + 4)) * 4;
  const int64_t line = k.depth * size_of(k);
  if (k.family == AttentionFamily::kSplit)  // of a warp: what it copies, then its part of the result
    return k.warps * std::max((k.rows + k.stages * 2 * k.keys) * line, k.rows * (2 + k.depth + 8) * 4);
  return (k.queries() + k.stages * 2 * k.keys) * line + (k.family == AttentionFamily::kWgmma ? kStageAlignment : 0);
}

/// An axis of stride 0 repeats: it has one index in the map.
MapPlan map_of_heads(DType type, const HeadStrides& s, int64_t depth, int64_t rows, int64_t heads, int64_t batch,
                     int64_t box_rows) {
  MapPlan map;
  map.type = map_type(type);
  map.rank = 4;
  const int64_t extents[] = {depth, rows, s.head ? heads : 1, s.batch ? batch : 1}, steps[] = {s.row, s.head, s.batch};
  for (size_t i = 0; i < 4; ++i) map.extents[i] = static_cast<uint64_t>(extents[i]);
  for (size_t i = 0; i < 3; ++i)
    if (steps[i]) map.strides_bytes[i] = static_cast<uint64_t>(steps[i] * 2);
  map.box[0] = kLineBytes / 2;
  map.box[1] = static_cast<uint32_t>(box_rows);
  return map;
}

}  // namespace

int64_t AttentionKernel::queries() const {
  if (family == AttentionFamily::kSplit) return rows;
  return family == AttentionFamily::kSimt ? warps * 2 * rows : warps * rows;
}

std::string AttentionKernel::name() const {
  return str(family, ' ', queries(), " queries in ", warps, " warps, ", keys, " keys", turns ? " in turns" : "",
             stages == 2 ? "" : str(", ", stages, " stages"), causal ? ", causal" : "",
             piece == 16 ? "" : str(", pieces of ", piece, " bytes"));
}

Status AttentionKernel::check() const {
  const bool half = element == DType::kF16 || element == DType::kBF16, simt = family == AttentionFamily::kSimt;
  TRY(require((half && !simt) || (element == DType::kF32 && family != AttentionFamily::kWgmma), "attention's ", family,
              " kernels are of another type"));
  TRY(require(depth >= 16 && depth <= kMostDepth && warps >= 1 && warps <= 16 &&
                  (simt ? rows >= 1 && rows <= 8 : rows == 16 || rows == 32) && keys >= 16 && keys <= 256 &&
                  stages >= 1 && stages <= 8,
              "an attention kernel of ", depth, " channels, ", rows, " rows and ", keys, " keys"));
  return require(piece >= 1 && piece <= 16 && std::has_single_bit(static_cast<uint64_t>(piece)),
                 "an attention kernel loads pieces of ", piece, " bytes");
}

std::string_view entry_of(const AttentionKernel& kernel) { return kEntries[static_cast<size_t>(kernel.family)]; }

KernelSource source_of(const AttentionKernel& kernel) {
  KernelSource source{kFiles[static_cast<size_t>(kernel.family)], {}, {}, std::string(entry_of(kernel))};
  const auto define = [&](std::string_view name, const auto& value) {
    source.defines.push_back(str(name, "=", value));
  };
  define("ELEMENT", element_name(kernel.element));
  define("DEPTH", kernel.depth);
  define("KEYS", kernel.keys);
  if (kernel.family == AttentionFamily::kWgmma) {
    define("GROUPS", kernel.warps / 4);
    define("TURNS", int{kernel.turns});
    source.prelude =
        wgmma_source(kernel.keys, kernel.element) + wgmma_source(kernel.depth, kernel.element, WgmmaForm::kRegisters);
  } else {
    define("WARPS", kernel.warps);
    define("PIECE", kernel.piece);
  }
  define("ROWS", kernel.rows);
  define("STAGES", kernel.stages);
  define("HAS_MASK", int{kernel.has_mask});
  define("CAUSAL", int{kernel.causal});
  define("NAN_ROWS_ARE_ZERO", int{kernel.nan_rows_are_zero});
  return source;
}

Result<AttentionLaunch> plan_attention(const AttentionKernel& kernel, AttentionArguments& a, int64_t multiprocessors) {
  TRY(require(a.depth <= kernel.depth && a.value_depth <= kernel.depth, "heads of ", a.depth, " and ", a.value_depth,
              " channels are more than the kernel's ", kernel.depth));
  TRY(require(a.kv_heads > 0 && a.heads % a.kv_heads == 0, a.heads, " heads cannot share ", a.kv_heads));
  const int64_t blocks = int64_t{a.batch} * a.heads * ceil_div(a.queries, kernel.queries());
  TRY(require(blocks < (int64_t{1} << 31), "attention of ", blocks, " blocks is more than a grid"));
  const int64_t head_bytes = std::max<int64_t>(1, int64_t{a.keys} * (a.depth + a.value_depth) * size_of(kernel));
  a.section = static_cast<int32_t>(
      std::clamp<int64_t>(kSectionBytes / head_bytes, 1, std::max<int64_t>(1, int64_t{a.batch} * a.heads)));
  a.causal_offset = a.keys - a.queries;
  AttentionLaunch launch;
  LaunchShape& shape = launch.shape;
  shape.grid[0] = static_cast<uint32_t>(blocks);
  shape.block[0] = static_cast<uint32_t>(kernel.warps * 32);
  shape.shared_bytes = static_cast<uint32_t>(shared_bytes(kernel));
  shape.pdl = blocks <= 2 * multiprocessors;
  if (kernel.family != AttentionFamily::kWgmma) return launch;
  TRY(require(a.keys > 0 && a.depth > 0 && a.value_depth > 0, "attention to ", a.keys, " keys has no tensor maps"));
  shape.block[0] += 128;                                                     // those that feed
  shape.grid[0] = static_cast<uint32_t>(std::min(blocks, multiprocessors));  // blocks take tile after tile
  launch.maps[0] = map_of_heads(kernel.element, a.q_strides, a.depth, a.queries, a.heads, a.batch, kernel.queries());
  launch.maps[1] = map_of_heads(kernel.element, a.k_strides, a.depth, a.keys, a.kv_heads, a.batch, kernel.keys);
  launch.maps[2] = map_of_heads(kernel.element, a.v_strides, a.value_depth, a.keys, a.kv_heads, a.batch, kernel.keys);
  return launch;
}

namespace {

struct Shape {
  int64_t warps, rows, keys, stages = 2;
  bool turns = false;
};
double blocks_of(const AttentionKernel& kernel, const AttentionTraits& traits) {
  return static_cast<double>(ceil_div(traits.queries, kernel.queries()) * traits.heads);
}

// Fitted to an H200's times (docs/performance.md); what they order comes within a third of them.

/// Blocks of few warps, several on a multiprocessor: either their steps' latency counts or their work.
double mma_cycles(const AttentionKernel& k, const AttentionTraits& traits, const Machine& machine) {
  const double steps = static_cast<double>(ceil_div(traits.keys, k.keys));
  const double work = static_cast<double>(k.queries() * k.keys * k.depth) / (64 * 64 * 64);
  const double latency =
      800 + 800 * static_cast<double>(k.keys * k.depth) / (64 * 64) * static_cast<double>(k.rows / 16);
  const double slower = k.element == DType::kF32 ? 2.5 : 1;
  return 500 + slower * steps * std::max(latency, blocks_of(k, traits) / machine.multiprocessors * (90 + 1100 * work));
}
double split_cycles(const AttentionKernel& k, const AttentionTraits& traits, const Machine& machine) {
  const double steps = static_cast<double>(ceil_div(traits.keys, k.keys * k.warps));
  const double work = static_cast<double>(k.keys * k.depth) / (32 * 64);
  const double slower = k.element == DType::kF32 ? 2.5 : 1;
  return 700 + std::max(1.0, blocks_of(k, traits) / machine.multiprocessors) * static_cast<double>(k.warps) *
                   (235 + slower * 180 * steps * work);
}
/// A block a multiprocessor, which takes tile after tile.
double wgmma_cycles(const AttentionKernel& k, const AttentionTraits& traits, const Machine& machine) {
  const double waves = std::max(1.0, std::ceil(blocks_of(k, traits) / machine.multiprocessors));
  const double steps = static_cast<double>(ceil_div(traits.keys, k.keys));
  const double flops = 4.0 * static_cast<double>(k.queries() * k.keys * k.depth);
  const double rate = (k.depth > 64 ? 2800 : 2000) * (k.has_mask ? 0.7 : 1.0) * (k.turns ? 1.0 : 0.97);
  return 3000 + waves * (800 + steps * (flops / rate + 60));
}
double simt_cycles(const AttentionKernel& k, const AttentionTraits& traits, const Machine& machine) {
  const double waves = std::max(1.0, std::ceil(blocks_of(k, traits) / machine.multiprocessors / 2) * 2);
  const double steps = static_cast<double>(ceil_div(traits.keys, k.keys));
  const double flops = 4.0 * static_cast<double>(k.queries() * k.keys * k.depth);
  return waves * (2000 + steps * (flops / 180 + 600));
}

}  // namespace

std::vector<AttentionCandidate> attention_candidates(const AttentionTraits& traits, const Machine& machine) {
  std::vector<AttentionCandidate> result;
  const bool single = traits.element == DType::kF32,
             half = traits.element == DType::kF16 || traits.element == DType::kBF16;
  if (machine.compute < 80 || traits.depth > kMostDepth || (!single && !half)) return result;
  AttentionKernel kernel;
  kernel.element = traits.element;
  kernel.has_mask = traits.has_mask;
  kernel.causal = traits.causal;
  kernel.nan_rows_are_zero = traits.nan_rows_are_zero;
  kernel.piece = std::min<int64_t>(16, traits.align * (single ? 4 : 2));
  kernel.depth = 16;
  while (kernel.depth < traits.depth) kernel.depth *= 2;
  const auto add = [&](AttentionFamily family, const Shape& shape, auto cycles) {
    AttentionKernel k = kernel;
    k.family = family;
    k.warps = shape.warps, k.rows = shape.rows, k.keys = shape.keys, k.stages = shape.stages, k.turns = shape.turns;
    if (shared_bytes(k) > machine.shared_bytes) return;
    result.push_back({k, 1.5 + 1e6 * cycles(k, traits, machine) / machine.clock_hz});
  };
  if (single)
    for (const int64_t rows : {8, 4, 2}) add(AttentionFamily::kSimt, {4, rows, 64}, simt_cycles);
  if (single && !traits.tf32) {
    std::ranges::stable_sort(result, {}, &AttentionCandidate::estimate_us);
    return result;
  }
  if (single) kernel.depth = std::max<int64_t>(kernel.depth, 32);  // a line of values fills the banks
  const int64_t keys = single && kernel.depth > 64 ? 32 : 64;
  for (const Shape& shape : {Shape{4, 16, keys}, Shape{2, 16, keys}, Shape{8, 16, keys}, Shape{4, 32, 32}})
    add(AttentionFamily::kMma, shape, mma_cycles);
  for (Shape shape : {Shape{4, 16, 32}, Shape{8, 16, 32}}) {
    if (traits.keys <= shape.warps * shape.keys) shape.stages = 1;
    add(AttentionFamily::kSplit, shape, split_cycles);
  }
  if (!single && machine.compute == 90 && traits.align == 8 && traits.keys > 0) {
    kernel.depth = std::max<int64_t>(kernel.depth, 64);
    // As many sums and words of a mask as there are registers.
    const bool deep = kernel.depth > 64;
    const std::initializer_list<Shape> plain = {{12, 16, 128, 2, true}, {8, 16, 128, 2, true}, {8, 16, 128}},
                                       plain_deep = {{8, 16, 128, 2, true}, {8, 16, 176, 2, true}, {8, 16, 128}},
                                       masked = {{8, 16, 128, 2, true}, {12, 16, 64, 4, true}, {8, 16, 64, 4, true}},
                                       masked_deep = {{8, 16, 128, 2, true}, {8, 16, 64, 3, true}};
    for (const Shape& shape : kernel.has_mask ? (deep ? masked_deep : masked) : (deep ? plain_deep : plain))
      add(AttentionFamily::kWgmma, shape, wgmma_cycles);
  }
  std::ranges::stable_sort(result, {}, &AttentionCandidate::estimate_us);
  return result;
}

}  // namespace kiln::cuda
