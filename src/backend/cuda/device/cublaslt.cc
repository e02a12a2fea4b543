#include "backend/cuda/device/cublaslt.h"

#include "backend/cuda/device/cublas_library.h"

namespace kiln::cuda {
namespace {

Result<CublasLt> load_cublaslt() {
  const SharedLibrary library = TRY(open_cublas_library("cuBLASLt", "libcublasLt", "KILN_CUBLASLT"));
  CublasLt found{};
  found.path = library.path();
  TRY(library.bind(found.get_version, "cublasLtGetVersion"));
  TRY(library.bind(found.get_status_name, "cublasLtGetStatusName"));
  TRY(library.bind(found.create, "cublasLtCreate"));
  TRY(library.bind(found.destroy, "cublasLtDestroy"));
  TRY(library.bind(found.matmul_desc_create, "cublasLtMatmulDescCreate"));
  TRY(library.bind(found.matmul_desc_destroy, "cublasLtMatmulDescDestroy"));
  TRY(library.bind(found.matmul_desc_set_attribute, "cublasLtMatmulDescSetAttribute"));
  TRY(library.bind(found.matrix_layout_create, "cublasLtMatrixLayoutCreate"));
  TRY(library.bind(found.matrix_layout_destroy, "cublasLtMatrixLayoutDestroy"));
  TRY(library.bind(found.matrix_layout_set_attribute, "cublasLtMatrixLayoutSetAttribute"));
  TRY(library.bind(found.preference_create, "cublasLtMatmulPreferenceCreate"));
  TRY(library.bind(found.preference_destroy, "cublasLtMatmulPreferenceDestroy"));
  TRY(library.bind(found.preference_set_attribute, "cublasLtMatmulPreferenceSetAttribute"));
  TRY(library.bind(found.algo_get_heuristic, "cublasLtMatmulAlgoGetHeuristic"));
  TRY(library.bind(found.algo_check, "cublasLtMatmulAlgoCheck"));
  TRY(library.bind(found.algo_config_get_attribute, "cublasLtMatmulAlgoConfigGetAttribute"));
  TRY(library.bind(found.algo_cap_get_attribute, "cublasLtMatmulAlgoCapGetAttribute"));
  TRY(library.bind(found.matmul, "cublasLtMatmul"));
  found.version = static_cast<int64_t>(found.get_version());
  return found;
}

}  // namespace

Result<Ref<const CublasLt>> CublasLt::instance() {
  static const Result<CublasLt>& loaded = *new Result<CublasLt>(load_cublaslt());
  if (!loaded) return std::unexpected(loaded.error());
  return Ref<const CublasLt>(*loaded);
}

Status CublasLt::failure(int status, const std::string& what) const {
  constexpr int kAllocationFailed = 3;
  const char* name = get_status_name(status);
  return error(status == kAllocationFailed ? Code::kOutOfMemory : Code::kDevice, what, ": cuBLASLt answers ",
               name ? name : "a status without a name", " (", status, ")");
}

}  // namespace kiln::cuda
