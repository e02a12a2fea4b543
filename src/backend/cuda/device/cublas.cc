#include "backend/cuda/device/cublas.h"

#include <vector>

#include "backend/cuda/device/cublaslt.h"
#include "backend/cuda/device/cuda_paths.h"
#include "backend/cuda/device/driver.h"
#include "backend/cuda/device/shared_library.h"

namespace kiln::cuda {
namespace {

/// The newest first that the driver runs.
std::vector<std::string> cublas_sonames() {
  const auto driver = Driver::instance();
  if (driver && driver->get().version < 13000) return {"libcublas.so.12"};
  return {"libcublas.so.13", "libcublas.so.12"};
}

Result<Cublas> load_cublas() {
  // It needs cuBLASLt, which the loader finds by its name once it is loaded, wherever it lies.
  static_cast<void>(CublasLt::instance());
  const std::vector<std::string> paths =
      library_paths({.variable = "KILN_CUBLAS", .sonames = cublas_sonames(), .pip_folders = {"cu13", "cublas"}});
  Result<SharedLibrary> library = SharedLibrary::open(paths);
  if (!library)
    return error(Code::kNotFound, "cuBLAS was not found (", library.error().message,
                 "); install it (pip: nvidia-cublas) or set KILN_CUDA_PATH to a CUDA folder");
  Cublas found{};
  found.path = library->path();
  TRY(library->bind(found.create, "cublasCreate_v2"));
  TRY(library->bind(found.destroy, "cublasDestroy_v2"));
  return found;
}

}  // namespace

Result<Ref<const Cublas>> Cublas::instance() {
  static const Result<Cublas>& loaded = *new Result<Cublas>(load_cublas());
  if (!loaded) return std::unexpected(loaded.error());
  return Ref<const Cublas>(*loaded);
}

}  // namespace kiln::cuda
