#include "backend/cuda/kernels/attention/attention.h"

#include <algorithm>
#include <cmath>

#include "backend/cuda/kernels/nest/function.h"

namespace kiln::cuda {
namespace {

constexpr int64_t kMostDepth = 128;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t kSize = 2;  // bytes of an element

int64_t shared_bytes(const AttentionKernel& k) {
  return (k.queries() + k.stages * 2 * k.keys) * k.depth * kSize +
         (k.family == AttentionFamily::kWgmma ? kStageAlignment : 0);
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
    if (steps[i]) map.strides_bytes[i] = static_cast<uint64_t>(steps[i] * kSize);
  map.box[0] = kLineBytes / kSize;
  map.box[1] = static_cast<uint32_t>(box_rows);
  return map;
}

}  // namespace

std::string AttentionKernel::name() const {
  return str(family == AttentionFamily::kMma ? "mma " : "wgmma ", queries(), " queries in ", warps, " warps, ", keys,
             " keys", piece == 16 ? "" : str(", pieces of ", piece, " bytes"));
}

Record AttentionKernel::record() const {
  Record record;
  record.set("wgmma", family == AttentionFamily::kWgmma).set("stages", stages);
  record.set("element", name_of(element)).set("depth", depth).set("warps", warps).set("rows", rows).set("keys", keys);
  record.set("piece", piece).set("has_mask", has_mask).set("nan_rows_are_zero", nan_rows_are_zero);
  return record;
}

Result<AttentionKernel> AttentionKernel::parse(const Record& record) {
  AttentionKernel kernel;
  const auto element = dtype_named(TRY(record.get_text("element")));
  TRY(require(element == DType::kF16 || element == DType::kBF16, "attention is computed in f16 or bf16"));
  kernel.element = *element;
  kernel.family = TRY(record.get_bool("wgmma")) ? AttentionFamily::kWgmma : AttentionFamily::kMma;
  kernel.stages = TRY(record.get_int("stages"));
  kernel.depth = TRY(record.get_int("depth"));
  kernel.warps = TRY(record.get_int("warps"));
  kernel.rows = TRY(record.get_int("rows"));
  kernel.keys = TRY(record.get_int("keys"));
  kernel.piece = TRY(record.get_int("piece"));
  kernel.has_mask = TRY(record.get_bool("has_mask"));
  kernel.nan_rows_are_zero = TRY(record.get_bool("nan_rows_are_zero"));
  TRY(require(kernel.depth >= 16 && kernel.depth <= kMostDepth && kernel.warps >= 1 && kernel.warps <= 16 &&
                  (kernel.rows == 16 || kernel.rows == 32) && kernel.keys >= 16 && kernel.keys <= 256 &&
                  kernel.stages >= 2 && kernel.stages <= 8,
              "an attention kernel of ", kernel.depth, " channels, ", kernel.rows, " rows and ", kernel.keys, " keys"));
  return kernel;
}

std::string_view entry_of(const AttentionKernel& kernel) {
  return kernel.family == AttentionFamily::kMma ? "attention_mma" : "attention_wgmma";
}

KernelSource source_of(const AttentionKernel& kernel) {
  const bool mma = kernel.family == AttentionFamily::kMma;
  KernelSource source{mma ? "attention/mma.cu" : "attention/wgmma.cu", {}, {}, std::string(entry_of(kernel))};
  const auto define = [&](std::string_view name, const auto& value) {
    source.defines.push_back(str(name, "=", value));
  };
  define("ELEMENT", element_name(kernel.element));
  define("DEPTH", kernel.depth);
  define("KEYS", kernel.keys);
  if (mma) {
    define("WARPS", kernel.warps);
    define("ROWS", kernel.rows);
    define("PIECE", kernel.piece);
  } else {
    define("GROUPS", kernel.warps / 4);
    define("STAGES", kernel.stages);
    source.prelude =
        wgmma_source(kernel.keys, kernel.element) + wgmma_source(kernel.depth, kernel.element, WgmmaForm::kRegisters);
  }
  define("HAS_MASK", int{kernel.has_mask});
  define("NAN_ROWS_ARE_ZERO", int{kernel.nan_rows_are_zero});
  return source;
}

Result<AttentionLaunch> plan_attention(const AttentionKernel& kernel, const AttentionArguments& a,
                                       int64_t multiprocessors) {
  TRY(require(a.depth <= kernel.depth && a.value_depth <= kernel.depth, "heads of ", a.depth, " and ", a.value_depth,
              " channels are more than the kernel's ", kernel.depth));
  TRY(require(a.kv_heads > 0 && a.heads % a.kv_heads == 0, a.heads, " heads cannot share ", a.kv_heads));
  const int64_t blocks = int64_t{a.batch} * a.heads * ceil_div(a.queries, kernel.queries());
  TRY(require(blocks < (int64_t{1} << 31), "attention of ", blocks, " blocks is more than a grid"));
  AttentionLaunch launch;
  LaunchShape& shape = launch.shape;
  shape.grid[0] = static_cast<uint32_t>(blocks);
  shape.block[0] = static_cast<uint32_t>(kernel.warps * 32);
  shape.shared_bytes = static_cast<uint32_t>(shared_bytes(kernel));
  shape.pdl = blocks <= 2 * multiprocessors;
  if (kernel.family == AttentionFamily::kMma) return launch;
  TRY(require(a.keys > 0 && a.depth > 0 && a.value_depth > 0, "attention to ", a.keys, " keys has no tensor maps"));
  shape.block[0] += 128;  // those that feed
  launch.maps[0] = map_of_heads(kernel.element, a.q_strides, a.depth, a.queries, a.heads, a.batch, kernel.queries());
  launch.maps[1] = map_of_heads(kernel.element, a.k_strides, a.depth, a.keys, a.kv_heads, a.batch, kernel.keys);
  launch.maps[2] = map_of_heads(kernel.element, a.v_strides, a.value_depth, a.keys, a.kv_heads, a.batch, kernel.keys);
  return launch;
}

std::vector<AttentionCandidate> attention_candidates(const AttentionTraits& traits, const Machine& machine) {
  std::vector<AttentionCandidate> result;
  if (machine.compute < 80 || traits.depth > kMostDepth ||
      (traits.element != DType::kF16 && traits.element != DType::kBF16))
    return result;
  AttentionKernel kernel;
  kernel.element = traits.element;
  kernel.has_mask = traits.has_mask;
  kernel.nan_rows_are_zero = traits.nan_rows_are_zero;
  kernel.piece = std::min<int64_t>(16, traits.align * 2);
  kernel.depth = 16;
  while (kernel.depth < traits.depth) kernel.depth *= 2;
  struct Shape {
    int64_t warps, rows, keys;  // of kWgmma: warps, keys, stages
  };
  for (const Shape& shape : {Shape{4, 32, 64}, Shape{4, 16, 64}, Shape{8, 16, 64}, Shape{4, 32, 32}, Shape{2, 16, 64},
                             Shape{4, 16, 128}, Shape{2, 16, 128}, Shape{1, 16, 128}}) {
    kernel.warps = shape.warps;
    kernel.rows = shape.rows;
    kernel.keys = shape.keys;
    if (kernel.depth > 64 && shape.rows == 32 && shape.keys > 32) continue;  // more sums than registers
    if (shared_bytes(kernel) > machine.shared_bytes) continue;
    const double tiles = static_cast<double>(ceil_div(traits.queries, kernel.queries()) * traits.heads);
    const double waves = std::max(1.0, std::ceil(tiles / machine.multiprocessors / 2) * 2);
    const double steps = static_cast<double>(ceil_div(traits.keys, kernel.keys));
    const double flops = 4.0 * static_cast<double>(kernel.queries() * kernel.keys * kernel.depth);
    const double rate = (shape.rows == 32 ? 1400 : 1000) * std::min(1.0, static_cast<double>(shape.warps) / 4);
    const double cycles = waves * (2000 + steps * (flops / rate + 300));
    result.push_back({kernel, 1.5 + 1e6 * cycles / machine.clock_hz});
  }
  if (machine.compute == 90 && traits.align == 8 && traits.keys > 0) {
    kernel.family = AttentionFamily::kWgmma;
    kernel.rows = 16;
    kernel.depth = std::max<int64_t>(kernel.depth, 64);
    for (const auto& [warps, keys, stages] : {Shape{8, 128, 2}, Shape{8, 64, 3}, Shape{12, 64, 3}}) {
      kernel.warps = warps;
      kernel.keys = keys;
      kernel.stages = stages;
      if (kernel.depth > 64 && warps > 8) continue;  // more sums than registers
      if (shared_bytes(kernel) + 1024 > machine.shared_bytes) continue;
      const double tiles = static_cast<double>(ceil_div(traits.queries, kernel.queries()) * traits.heads);
      const double steps = static_cast<double>(ceil_div(traits.keys, keys));
      const double flops = 4.0 * static_cast<double>(kernel.queries() * keys * kernel.depth);
      const double cycles =
          std::max(1.0, std::ceil(tiles / machine.multiprocessors)) * (2500 + steps * (flops / 2400 + 150));
      result.push_back({kernel, 1.5 + 1e6 * cycles / machine.clock_hz});
    }
  }
  std::ranges::stable_sort(result, {}, &AttentionCandidate::estimate_us);
  return result;
}

}  // namespace kiln::cuda
