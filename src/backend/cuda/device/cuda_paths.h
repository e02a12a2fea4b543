/// Paths on which libraries of CUDA are looked for.
#pragma once

#include <string>
#include <vector>

namespace kiln::cuda {

struct LibrarySearch {
  const char* variable;                  ///< of the environment: a path that stands before all others
  std::vector<std::string> sonames;      ///< the best first
  std::vector<std::string> pip_folders;  ///< below site-packages/nvidia/, where pip's packages put them
};

/// Paths and patterns in the order to try: the variable's, or else each soname by the loader's own path, in
/// KILN_CUDA_PATH (a toolkit's or package's folder, or a site-packages), in the system's CUDA folders, in the
/// site-packages of VIRTUAL_ENV and CONDA_PREFIX and the system's Python.
std::vector<std::string> library_paths(const LibrarySearch& search);

}  // namespace kiln::cuda
