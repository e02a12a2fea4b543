// attention/bytes.cu: q, k and v of bytes; sm_80 and up, of FP8 sm_89. FP32 around it is rounded as TF32 is.
#include "backend/cuda/kernels/attention/family.h"

namespace kiln::cuda {

const AttentionFamily kAttentionBytes{.name = "bytes",
                                      .entry = "attention_bytes",
                                      .takes = takes_fragments,
                                      .queries = queries_of_warps,
                                      .shared_bytes = staged_bytes,
                                      .plan_maps = nullptr};

}  // namespace kiln::cuda
