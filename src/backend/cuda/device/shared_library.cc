#include "backend/cuda/device/shared_library.h"

#include <dlfcn.h>
#include <glob.h>

#include <vector>

namespace kiln::cuda {
namespace {

/// The files that a pattern stands for, the greatest version first.
std::vector<std::string> expand(const std::string& path) {
  if (path.find('*') == path.npos) return {path};
  std::vector<std::string> result;
  glob_t found{};
  if (glob(path.c_str(), 0, nullptr, &found) == 0)
    for (size_t i = found.gl_pathc; i-- > 0;) result.emplace_back(found.gl_pathv[i]);
  globfree(&found);
  return result;
}

}  // namespace

Result<SharedLibrary> SharedLibrary::open(std::span<const std::string> paths) {
  std::string reasons;
  for (const std::string& pattern : paths)
    for (const std::string& path : expand(pattern)) {
      if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return SharedLibrary(handle, path);
      const char* reason = dlerror();
      reasons += str(reasons.empty() ? "" : "; ", reason ? reason : path.c_str());
    }
  return error(Code::kNotFound, reasons);
}

void* SharedLibrary::symbol(const char* name) const { return dlsym(handle_, name); }

Status SharedLibrary::lacks(const char* name) const {
  return error(Code::kVersion, "'", path_, "' has no ", name, ": it is too old for Kiln");
}

}  // namespace kiln::cuda
