#include "backend/cuda/device/cuda_paths.h"

#include <cstdlib>

#include "base/str.h"

namespace kiln::cuda {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

void add_site_packages(const std::string& site, const LibrarySearch& search, const std::string& soname,
                       std::vector<std::string>& out) {
  for (const std::string& folder : search.pip_folders) out.push_back(str(site, "/nvidia/", folder, "/lib/", soname));
}

}  // namespace

std::vector<std::string> library_paths(const LibrarySearch& search) {
  if (const std::string given = environment(search.variable); !given.empty()) return {given};
  const std::string cuda = environment("KILN_CUDA_PATH");
  std::vector<std::string> result;
  for (const std::string& soname : search.sonames) {
    if (!cuda.empty()) {
      for (const char* folder : {"/lib64/", "/lib/", "/"}) result.push_back(str(cuda, folder, soname));
      add_site_packages(cuda, search, soname, result);
    }
    result.push_back(soname);
    result.push_back(str("/usr/local/cuda/lib64/", soname));
    result.push_back(str("/usr/local/cuda-*/lib64/", soname));
    result.push_back(str("/opt/cuda/lib64/", soname));
    for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
      if (const std::string prefix = environment(variable); !prefix.empty())
        add_site_packages(str(prefix, "/lib/python3*/site-packages"), search, soname, result);
    for (const char* site : {"/usr/local/lib/python3*/dist-packages", "/usr/local/lib/python3*/site-packages"})
      add_site_packages(site, search, soname, result);
  }
  return result;
}

}  // namespace kiln::cuda
