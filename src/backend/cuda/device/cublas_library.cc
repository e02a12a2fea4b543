#include "backend/cuda/device/cublas_library.h"

#include <vector>

#include "backend/cuda/device/cuda_paths.h"
#include "backend/cuda/device/driver.h"

namespace kiln::cuda {

Result<SharedLibrary> open_cublas_library(const std::string& name, const std::string& stem, const char* variable) {
  const auto driver = Driver::instance();
  std::vector<std::string> sonames{stem + ".so.13", stem + ".so.12"};  // the newest first
  if (driver && driver->get().version < 13000) sonames.erase(sonames.begin());
  Result<SharedLibrary> library = SharedLibrary::open(
      library_paths({.variable = variable, .sonames = std::move(sonames), .pip_folders = {"cu13", "cublas"}}));
  if (library) return library;
  return error(Code::kNotFound, name, " was not found (", library.error().message,
               "); install it (pip: nvidia-cublas) or set KILN_CUDA_PATH to a CUDA folder");
}

}  // namespace kiln::cuda
