#include "backend/cuda/kernels/attention/attention.h"

#include <bit>

#include "backend/cuda/kernels/attention/family.h"
#include "base/family.h"
#include "steps/quantized_result.h"

namespace kiln::cuda {
namespace {

constexpr int64_t kSectionBytes = 16 << 20;  // keys and values that the L2 cache holds beside all else

constexpr const AttentionFamily* kFamilies[] = {
#define FAMILY(Name) &kAttention##Name,
#include "backend/cuda/kernels/attention/families.def"
#undef FAMILY
};

}  // namespace

const FieldType& field_type(Tag<const AttentionFamily*>) {
  static const FamilyFieldType<AttentionFamily> type(kFamilies);
  return type;
}

int64_t AttentionKernel::queries() const { return family->queries(*this); }
bool AttentionKernel::reads_maps() const { return family->plan_maps != nullptr; }

std::string AttentionKernel::name() const {
  return str(family->name, ' ', queries(), " queries in ", warps, " warps, ", keys, " keys", turns ? " in turns" : "",
             stages == 2 ? "" : str(", ", stages, " stages"), cluster == 1 ? "" : str(", by ", cluster, " blocks"),
             causal ? ", causal" : "", joined ? ", joined" : "",
             piece == 16 ? "" : str(", pieces of ", piece, " bytes"), operand ? str(", of ", *operand) : "",
             rounds_weights ? ", weights rounded" : "", result ? str(", to ", *result) : "");
}

Status AttentionKernel::check() const {
  TRY(require(is_kernel_float(element) && family->takes(element, rows), "attention's ", family->name,
              " kernels do not take ", element, " in ", rows, " rows"));
  TRY(require(depth >= 16 && depth <= kMostDepth && warps >= 1 && warps <= 16 && keys >= 16 && keys <= 256 &&
                  stages >= 1 && stages <= 8,
              "there is no attention kernel of ", depth, " channels, ", warps, " warps, ", keys, " keys and ", stages,
              " stages"));
  TRY(require(!result || steps::is_quantized_result(*result), "attention's kernels do not quantize to ",
              result.value_or(element)));
  TRY(require(!joined || family == &kAttentionSplit, "attention's ", family->name, " kernels read keys of one tensor"));
  TRY(require(cluster == 1 || (family == &kAttentionSplit && cluster >= 1 && cluster <= 8), "attention's ",
              family->name, " kernels do not share keys among ", cluster, " blocks"));
  TRY(require(operand.has_value() == (family == &kAttentionBytes), "attention's ", family->name, " kernels read ",
              operand.has_value() ? "floats" : "bytes"));
  TRY(require(!operand || ((*operand == DType::kI8 || *operand == DType::kF8E4M3) && keys % 32 == 0 && depth % 32 == 0),
              "there is no attention kernel of ", operand_type(), ", ", depth, " channels and ", keys, " keys"));
  TRY(require(operand || !rounds_weights, "attention's kernels of floats do not round weights"));
  return require(piece >= 1 && piece <= 16 && std::has_single_bit(static_cast<uint64_t>(piece)),
                 "an attention kernel loads pieces of ", piece, " bytes; a power of two up to 16 is needed");
}

std::string_view entry_of(const AttentionKernel& kernel) { return kernel.family->entry; }

void share_keys(AttentionArguments& a) {
  const int32_t group = a.heads / std::max(1, a.kv_heads);
  if (a.queries != 1 || group <= 1 || a.heads % a.kv_heads != 0) return;
  a.heads = a.kv_heads;
  a.queries = group;
  for (HeadStrides* strides : {&a.q_strides, &a.mask_strides, &a.out_strides}) {
    strides->row = strides->head;
    strides->head *= group;
  }
}

Result<AttentionLaunch> plan_attention(const AttentionKernel& kernel, AttentionArguments& a, int64_t multiprocessors) {
  TRY(require(a.depth <= kernel.depth && a.value_depth <= kernel.depth, "heads of ", a.depth, " and ", a.value_depth,
              " channels are more than the kernel's ", kernel.depth));
  TRY(require(a.kv_heads > 0 && a.heads % a.kv_heads == 0, a.heads, " heads cannot share ", a.kv_heads));
  a.causal_offset = a.keys - a.queries;
  if (a.queries == 1) {
    a.causal_offset = a.keys;
    share_keys(a);
  }
  const int64_t blocks = int64_t{a.batch} * a.heads * ceil_div(a.queries, kernel.queries()) * kernel.cluster;
  TRY(require(blocks < (int64_t{1} << 31), "attention of ", blocks, " blocks exceeds a grid's 2^31 - 1"));
  const int64_t head_bytes = std::max<int64_t>(1, int64_t{a.keys} * (a.depth + a.value_depth) * size_of(kernel));
  a.section = static_cast<int32_t>(
      std::clamp<int64_t>(kSectionBytes / head_bytes, 1, std::max<int64_t>(1, int64_t{a.batch} * a.heads)));
  AttentionLaunch launch;
  LaunchShape& shape = launch.shape;
  shape.grid[0] = static_cast<uint32_t>(blocks);
  shape.block[0] = static_cast<uint32_t>(kernel.warps * 32);
  shape.cluster = static_cast<uint32_t>(kernel.cluster);
  shape.shared_bytes = static_cast<uint32_t>(kernel.family->shared_bytes(kernel));
  shape.pdl = blocks <= 2 * multiprocessors;
  if (kernel.reads_maps()) TRY(kernel.family->plan_maps(kernel, a, multiprocessors, launch));
  return launch;
}

}  // namespace kiln::cuda
