// Our declarations of cuBLASLt beside NVIDIA's, where its header is installed (CMake defines KILN_CUDA_HEADERS then).
#include <gtest/gtest.h>

#include "backend/cuda/device/cublaslt.h"

#ifndef KILN_CUDA_HEADERS

TEST(CublasLtHeader, AgreesWithNvidias) { GTEST_SKIP() << "CUDA's headers are not installed"; }

#else
#include <cublasLt.h>

#include "backend/cuda/device/testing/same_shape.h"

namespace kiln::cuda {
namespace {

#define SAME(ours, theirs) static_assert(kSameShape<decltype(CublasLt::ours), decltype(&theirs)>, #theirs)
SAME(get_version, cublasLtGetVersion);
SAME(get_status_name, cublasLtGetStatusName);
SAME(create, cublasLtCreate);
SAME(destroy, cublasLtDestroy);
SAME(matmul_desc_create, cublasLtMatmulDescCreate);
SAME(matmul_desc_destroy, cublasLtMatmulDescDestroy);
SAME(matmul_desc_set_attribute, cublasLtMatmulDescSetAttribute);
SAME(matrix_layout_create, cublasLtMatrixLayoutCreate);
SAME(matrix_layout_destroy, cublasLtMatrixLayoutDestroy);
SAME(matrix_layout_set_attribute, cublasLtMatrixLayoutSetAttribute);
SAME(preference_create, cublasLtMatmulPreferenceCreate);
SAME(preference_destroy, cublasLtMatmulPreferenceDestroy);
SAME(preference_set_attribute, cublasLtMatmulPreferenceSetAttribute);
SAME(algo_get_heuristic, cublasLtMatmulAlgoGetHeuristic);
SAME(algo_check, cublasLtMatmulAlgoCheck);
SAME(algo_config_get_attribute, cublasLtMatmulAlgoConfigGetAttribute);
SAME(algo_cap_get_attribute, cublasLtMatmulAlgoCapGetAttribute);
SAME(matmul, cublasLtMatmul);

#define NUMBER(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs), #theirs)
NUMBER(kLtF32, CUDA_R_32F);
NUMBER(kLtF16, CUDA_R_16F);
NUMBER(kLtI8, CUDA_R_8I);
NUMBER(kLtE4M3, CUDA_R_8F_E4M3);
NUMBER(kLtBF16, CUDA_R_16BF);
NUMBER(kLtCompute32F, CUBLAS_COMPUTE_32F);
NUMBER(kLtCompute32I, CUBLAS_COMPUTE_32I);
NUMBER(kLtAlphaVector, CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO);
NUMBER(kLtTakesAlphaVector, CUBLASLT_POINTER_MODE_MASK_ALPHA_DEVICE_VECTOR_BETA_ZERO);
NUMBER(kLtCapPointerModes, CUBLASLT_ALGO_CAP_POINTER_MODE_MASK);
NUMBER(kLtPointerMode, CUBLASLT_MATMUL_DESC_POINTER_MODE);
NUMBER(kLtFastAccumulation, CUBLASLT_MATMUL_DESC_FAST_ACCUM);
NUMBER(kLtCompute32FFastTf32, CUBLAS_COMPUTE_32F_FAST_TF32);
NUMBER(kLtAsIs, CUBLAS_OP_N);
NUMBER(kLtTranspose, CUBLAS_OP_T);
NUMBER(kLtEpilogueNone, CUBLASLT_EPILOGUE_DEFAULT);
NUMBER(kLtEpilogueRelu, CUBLASLT_EPILOGUE_RELU);
NUMBER(kLtEpilogueBias, CUBLASLT_EPILOGUE_BIAS);
NUMBER(kLtEpilogueReluBias, CUBLASLT_EPILOGUE_RELU_BIAS);
NUMBER(kLtReduceInComputeType, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
NUMBER(kLtTransposeA, CUBLASLT_MATMUL_DESC_TRANSA);
NUMBER(kLtTransposeB, CUBLASLT_MATMUL_DESC_TRANSB);
NUMBER(kLtEpilogue, CUBLASLT_MATMUL_DESC_EPILOGUE);
NUMBER(kLtBiasPointer, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
NUMBER(kLtBiasDataType, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
NUMBER(kLtBatchCount, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
NUMBER(kLtBatchStride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
NUMBER(kLtMaxWorkspaceBytes, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
NUMBER(kLtReductionMask, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
NUMBER(kLtMinAlignmentA, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
NUMBER(kLtMinAlignmentB, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
NUMBER(kLtMinAlignmentC, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
NUMBER(kLtMinAlignmentD, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
NUMBER(kLtAlgoId, CUBLASLT_ALGO_CONFIG_ID);
NUMBER(kLtAlgoTile, CUBLASLT_ALGO_CONFIG_TILE_ID);
NUMBER(kLtAlgoSplits, CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
NUMBER(kLtAlgoStages, CUBLASLT_ALGO_CONFIG_STAGES_ID);
NUMBER(kLtAlgoCluster, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID);

static_assert(sizeof(LtAlgo) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(LtHeuristicResult) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(LtHeuristicResult, workspace_bytes) == offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(LtHeuristicResult, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));
static_assert(offsetof(LtHeuristicResult, waves) == offsetof(cublasLtMatmulHeuristicResult_t, wavesCount));

TEST(CublasLtHeader, AgreesWithNvidias) {
  const auto library = CublasLt::instance();
  if (!library) GTEST_SKIP() << library.error().message;
  EXPECT_GE(library->get().version, 120000 / 10);
  EXPECT_STREQ(library->get().get_status_name(15), "CUBLAS_STATUS_NOT_SUPPORTED");
}

}  // namespace
}  // namespace kiln::cuda
#endif
