/// NVIDIA's library of linear algebra, whose handles plugins are given, through declarations of our own, loaded when
/// first needed. Kiln itself computes nothing with it.
#pragma once

#include <string>

#include "base/error.h"

namespace kiln::cuda {

struct CublasContext;  ///< theirs

/// Its functions, named as there without `cublas` and version; results are cublasStatus_t, 0 for success.
struct Cublas {
  int (*create)(CublasContext** context);
  int (*destroy)(CublasContext* context);

  std::string path;  ///< where it was found

  /// The process's, searched once: KILN_CUBLAS (a path), then where device/cuda_paths.h says. kNotFound says where it
  /// looked.
  static Result<Ref<const Cublas>> instance();
};

}  // namespace kiln::cuda
