/// Shared by the tactics of matrix products, convolutions and deconvolutions.
#pragma once

#include "backend/cuda/compile/gemm/epilogue.h"
#include "backend/cuda/compile/gemm/tile.h"
#include "backend/cuda/device/cuda_device.h"
#include "steps/contraction_types.h"
#include "tactics/epilogue.h"

namespace kiln::cuda {

Machine machine_of(const Properties& properties);
/// The context's device, with no more shared memory than the build may take.
Machine machine_of(const TacticContext& cx);
/// Whether the region's contraction, its first node, may round FP32 operands to TF32.
bool may_use_tf32(const TacticContext& cx, const Region& region);
/// What a contraction's region reads and writes.
ContractionTypes types_of(const TacticContext& cx, const Region& region);
/// Bytes that the region's epilogue reads for each result, beside what results share; an operand counts as wide as the
/// result at least.
int64_t bytes_read_by_result(const TacticContext& cx, const Region& region);
/// The region, or why kernels cannot have its epilogue.
Match checked(const TacticContext& cx, Match region);
/// Leaves what is worth timing of variants by their estimates: the best of each kind (the first word of a name), then
/// the next best, none far behind the first, as many as the optimization level allows.
void keep_likeliest(const TacticContext& cx, std::vector<Variant>& variants);

}  // namespace kiln::cuda
