/// How the libraries of NVIDIA's BLAS are found: cuBLAS and cuBLASLt lie in one folder and have one version.
#pragma once

#include <string>

#include "backend/cuda/device/shared_library.h"

namespace kiln::cuda {

/// Opens "<stem>.so" of the newest version that the driver runs. `name` is what an error calls it; the environment
/// variable, where it is set, names the file. Fails with kNotFound, and says how to get the library.
Result<SharedLibrary> open_cublas_library(const std::string& name, const std::string& stem, const char* variable);

}  // namespace kiln::cuda
