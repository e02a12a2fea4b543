// attention/mma.cu: sm_80 and up; FP32 is multiplied in TF32.
#include "backend/cuda/kernels/attention/family.h"

namespace kiln::cuda {

const AttentionFamily kAttentionMma{.name = "mma",
                                    .entry = "attention_mma",
                                    .takes = takes_fragments,
                                    .queries = queries_of_warps,
                                    .shared_bytes = staged_bytes,
                                    .plan_maps = nullptr};

}  // namespace kiln::cuda
