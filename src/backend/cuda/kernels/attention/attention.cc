#include "backend/cuda/kernels/attention/attention.h"

#include <algorithm>
#include <cmath>

#include "backend/cuda/kernels/nest/function.h"

namespace kiln::cuda {
namespace {

constexpr int64_t kMostDepth = 128;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t shared_bytes(const AttentionKernel& k) {
  constexpr int64_t kStages = 2;
  return (k.queries() + kStages * 2 * k.keys) * k.depth * (bits_of(k.element) / 8);
}

}  // namespace

std::string AttentionKernel::name() const {
  return str("mma, ", queries(), " queries in ", warps, " warps, ", keys, " keys",
             piece == 16 ? "" : str(", pieces of ", piece, " bytes"));
}

Record AttentionKernel::record() const {
  Record record;
  record.set("element", name_of(element)).set("depth", depth).set("warps", warps).set("rows", rows).set("keys", keys);
  record.set("piece", piece).set("has_mask", has_mask).set("nan_rows_are_zero", nan_rows_are_zero);
  return record;
}

Result<AttentionKernel> AttentionKernel::parse(const Record& record) {
  AttentionKernel kernel;
  const auto element = dtype_named(TRY(record.get_text("element")));
  TRY(require(element == DType::kF16 || element == DType::kBF16, "attention is computed in f16 or bf16"));
  kernel.element = *element;
  kernel.depth = TRY(record.get_int("depth"));
  kernel.warps = TRY(record.get_int("warps"));
  kernel.rows = TRY(record.get_int("rows"));
  kernel.keys = TRY(record.get_int("keys"));
  kernel.piece = TRY(record.get_int("piece"));
  kernel.has_mask = TRY(record.get_bool("has_mask"));
  kernel.nan_rows_are_zero = TRY(record.get_bool("nan_rows_are_zero"));
  TRY(require(kernel.depth >= 16 && kernel.depth <= kMostDepth && kernel.warps >= 1 && kernel.warps <= 16 &&
                  (kernel.rows == 16 || kernel.rows == 32) && kernel.keys >= 16 && kernel.keys <= 256,
              "an attention kernel of ", kernel.depth, " channels, ", kernel.rows, " rows and ", kernel.keys, " keys"));
  return kernel;
}

std::string_view entry_of(const AttentionKernel&) { return "attention_mma"; }

KernelSource source_of(const AttentionKernel& kernel) {
  KernelSource source{"attention/mma.cu", {}, {}, std::string(entry_of(kernel))};
  const auto define = [&](std::string_view name, const auto& value) {
    source.defines.push_back(str(name, "=", value));
  };
  define("ELEMENT", element_name(kernel.element));
  define("DEPTH", kernel.depth);
  define("WARPS", kernel.warps);
  define("ROWS", kernel.rows);
  define("KEYS", kernel.keys);
  define("PIECE", kernel.piece);
  define("HAS_MASK", int{kernel.has_mask});
  define("NAN_ROWS_ARE_ZERO", int{kernel.nan_rows_are_zero});
  return source;
}

Result<LaunchShape> plan_attention(const AttentionKernel& kernel, const AttentionArguments& a,
                                   int64_t multiprocessors) {
  TRY(require(a.depth <= kernel.depth && a.value_depth <= kernel.depth, "heads of ", a.depth, " and ", a.value_depth,
              " channels are more than the kernel's ", kernel.depth));
  TRY(require(a.kv_heads > 0 && a.heads % a.kv_heads == 0, a.heads, " heads cannot share ", a.kv_heads));
  const int64_t blocks = int64_t{a.batch} * a.heads * ceil_div(a.queries, kernel.queries());
  TRY(require(blocks < (int64_t{1} << 31), "attention of ", blocks, " blocks is more than a grid"));
  LaunchShape shape;
  shape.grid[0] = static_cast<uint32_t>(blocks);
  shape.block[0] = static_cast<uint32_t>(kernel.warps * 32);
  shape.shared_bytes = static_cast<uint32_t>(shared_bytes(kernel));
  shape.pdl = blocks <= 2 * multiprocessors;
  return shape;
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
    int64_t warps, rows, keys;
  };
  for (const Shape& shape :
       {Shape{4, 32, 64}, Shape{4, 16, 64}, Shape{8, 16, 64}, Shape{4, 32, 32}, Shape{2, 16, 64}, Shape{4, 16, 128}}) {
    kernel.warps = shape.warps;
    kernel.rows = shape.rows;
    kernel.keys = shape.keys;
    if (kernel.depth > 64 && shape.rows == 32 && shape.keys > 32) continue;  // more sums than registers
    if (shared_bytes(kernel) > machine.shared_bytes) continue;
    const double tiles = static_cast<double>(ceil_div(traits.queries, kernel.queries()) * traits.heads);
    const double waves = std::max(1.0, std::ceil(tiles / machine.multiprocessors / 2) * 2);
    const double steps = static_cast<double>(ceil_div(traits.keys, kernel.keys));
    const double flops = 4.0 * static_cast<double>(kernel.queries() * kernel.keys * kernel.depth);
    const double rate = shape.rows == 32 ? 1400 : 1000;
    const double cycles = waves * (2000 + steps * (flops / rate + 300));
    result.push_back({kernel, 1.5 + 1e6 * cycles / machine.clock_hz});
  }
  std::ranges::stable_sort(result, {}, &AttentionCandidate::estimate_us);
  return result;
}

}  // namespace kiln::cuda
