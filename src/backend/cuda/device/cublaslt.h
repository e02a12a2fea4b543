/// NVIDIA's library of matrix products through declarations of our own, loaded when first needed.
/// cublaslt_header_test.cc compares them with NVIDIA's where its header is installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "backend/cuda/device/driver_types.h"
#include "base/error.h"

namespace kiln::cuda {

/// Theirs, made and freed by them.
struct LtContext;
struct LtMatmulDesc;
struct LtMatrixLayout;
struct LtPreference;

/// A way to compute a product, as the library writes it down: opaque, and of one version of the library.
struct LtAlgo {
  uint64_t data[8];
};
struct LtHeuristicResult {
  LtAlgo algo;
  size_t workspace_bytes;
  int state;  ///< 0: the rest is valid
  float waves;
  int reserved[4];
};

/// cudaDataType_t
enum LtDataType : int { kLtF32 = 0, kLtF16 = 2, kLtI8 = 3, kLtBF16 = 14, kLtE4M3 = 28 };
/// cublasComputeType_t
enum LtComputeType : int { kLtCompute32F = 68, kLtCompute32I = 72, kLtCompute32FFastTf32 = 77 };
/// cublasOperation_t
enum LtOperation : int { kLtAsIs = 0, kLtTranspose = 1 };
/// cublasLtEpilogue_t
enum LtEpilogue : int { kLtEpilogueNone = 1, kLtEpilogueRelu = 2, kLtEpilogueBias = 4, kLtEpilogueReluBias = 6 };
/// cublasLtPointerMode_t
enum LtPointerMode : int { kLtAlphaVector = 3 };  ///< on the device, one a row of the result; beta is 0
/// Bits of cublasLtPointerModeMask_t, which say what an algorithm takes
enum LtPointerModes : uint32_t { kLtTakesAlphaVector = 8 };
/// cublasLtReductionScheme_t
enum LtReduction : uint32_t { kLtReduceInComputeType = 2 };
/// cublasLtMatmulDescAttributes_t
enum LtMatmulAttribute : int {
  kLtPointerMode = 2,
  kLtTransposeA = 3,
  kLtTransposeB = 4,
  kLtEpilogue = 7,
  kLtBiasPointer = 8,
  kLtFastAccumulation = 25,
  kLtBiasDataType = 26
};
/// cublasLtMatrixLayoutAttribute_t
enum LtLayoutAttribute : int { kLtBatchCount = 5, kLtBatchStride = 6 };
/// cublasLtMatmulPreferenceAttributes_t
enum LtPreferenceAttribute : int {
  kLtMaxWorkspaceBytes = 1,
  kLtReductionMask = 3,
  kLtMinAlignmentA = 5,
  kLtMinAlignmentB = 6,
  kLtMinAlignmentC = 7,
  kLtMinAlignmentD = 8
};
/// cublasLtMatmulAlgoConfigAttributes_t
enum LtAlgoAttribute : int { kLtAlgoId = 0, kLtAlgoTile = 1, kLtAlgoSplits = 2, kLtAlgoStages = 6, kLtAlgoCluster = 8 };

/// cublasLtMatmulAlgoCapAttributes_t
enum LtCapability : int { kLtCapPointerModes = 11 };

/// Its functions, named as there without `cublasLt`; results are cublasStatus_t, 0 for success.
struct CublasLt {
  size_t (*get_version)();
  const char* (*get_status_name)(int status);
  int (*create)(LtContext** context);
  int (*destroy)(LtContext* context);
  int (*matmul_desc_create)(LtMatmulDesc** desc, int compute_type, int scale_type);
  int (*matmul_desc_destroy)(LtMatmulDesc* desc);
  int (*matmul_desc_set_attribute)(LtMatmulDesc* desc, int attribute, const void* value, size_t bytes);
  int (*matrix_layout_create)(LtMatrixLayout** layout, int type, uint64_t rows, uint64_t columns, int64_t pitch);
  int (*matrix_layout_destroy)(LtMatrixLayout* layout);
  int (*matrix_layout_set_attribute)(LtMatrixLayout* layout, int attribute, const void* value, size_t bytes);
  int (*preference_create)(LtPreference** preference);
  int (*preference_destroy)(LtPreference* preference);
  int (*preference_set_attribute)(LtPreference* preference, int attribute, const void* value, size_t bytes);
  int (*algo_get_heuristic)(LtContext* context, LtMatmulDesc* desc, LtMatrixLayout* a, LtMatrixLayout* b,
                            LtMatrixLayout* c, LtMatrixLayout* d, LtPreference* preference, int wanted,
                            LtHeuristicResult* results, int* found);
  int (*algo_check)(LtContext* context, LtMatmulDesc* desc, LtMatrixLayout* a, LtMatrixLayout* b, LtMatrixLayout* c,
                    LtMatrixLayout* d, const LtAlgo* algo, LtHeuristicResult* result);
  int (*algo_config_get_attribute)(const LtAlgo* algo, int attribute, void* value, size_t bytes, size_t* written);
  int (*algo_cap_get_attribute)(const LtAlgo* algo, int attribute, void* value, size_t bytes, size_t* written);
  int (*matmul)(LtContext* context, LtMatmulDesc* desc, const void* alpha, const void* a, LtMatrixLayout* a_layout,
                const void* b, LtMatrixLayout* b_layout, const void* beta, const void* c, LtMatrixLayout* c_layout,
                void* d, LtMatrixLayout* d_layout, const LtAlgo* algo, void* workspace, size_t workspace_bytes,
                StreamHandle stream);

  std::string path;     ///< where it was found
  int64_t version = 0;  ///< 130100 is 13.1.0; before 12.8 or so, with two digits less

  /// The process's, searched once: KILN_CUBLASLT (a path), then where device/cuda_paths.h says. kNotFound says where it
  /// looked.
  static Result<Ref<const CublasLt>> instance();

  /// Success, or what failed by its name.
  template <class... Parts>
  Status check(int status, const Parts&... what) const {
    return status == 0 ? Status() : failure(status, str(what...));
  }

 private:
  Status failure(int status, const std::string& what) const;
};

}  // namespace kiln::cuda
