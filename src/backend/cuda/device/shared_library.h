/// Libraries of CUDA, opened when first needed and never closed.
#pragma once

#include <span>
#include <string>

#include "base/error.h"

namespace kiln::cuda {

class SharedLibrary {
 public:
  /// The first of `paths` (sonames, paths, or patterns with '*', whose last match in order is tried first) that opens.
  /// Fails with kNotFound and what the loader said of each.
  static Result<SharedLibrary> open(std::span<const std::string> paths);

  const std::string& path() const { return path_; }
  void* symbol(const char* name) const;  ///< null where there is none
  /// `function` becomes that symbol; kVersion if the library lacks it.
  template <class F>
  Status bind(F*& function, const char* name) const {
    function = reinterpret_cast<F*>(symbol(name));
    return function ? Status() : lacks(name);
  }

 private:
  SharedLibrary(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  Status lacks(const char* name) const;
  void* handle_;
  std::string path_;
};

}  // namespace kiln::cuda
