#include "backend/cuda/device/cublas.h"

#include "backend/cuda/device/cublas_library.h"
#include "backend/cuda/device/cublaslt.h"

namespace kiln::cuda {
namespace {

Result<Cublas> load_cublas() {
  // It needs cuBLASLt, which the loader finds by its name once it is loaded, wherever it lies.
  static_cast<void>(CublasLt::instance());
  const SharedLibrary library = TRY(open_cublas_library("cuBLAS", "libcublas", "KILN_CUBLAS"));
  Cublas found{};
  found.path = library.path();
  TRY(library.bind(found.create, "cublasCreate_v2"));
  TRY(library.bind(found.destroy, "cublasDestroy_v2"));
  return found;
}

}  // namespace

Result<Ref<const Cublas>> Cublas::instance() {
  static const Result<Cublas>& loaded = *new Result<Cublas>(load_cublas());
  if (!loaded) return std::unexpected(loaded.error());
  return Ref<const Cublas>(*loaded);
}

}  // namespace kiln::cuda
