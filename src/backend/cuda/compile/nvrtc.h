/// NVIDIA's run-time compiler through declarations of our own, loaded when first needed.
#pragma once

#include <cstddef>
#include <string>

#include "base/error.h"

namespace kiln::cuda {

struct NvrtcProgram;  ///< theirs: _nvrtcProgram

/// Its functions, named as there; results are nvrtcResult, 0 for success.
struct Nvrtc {
  int (*version)(int* major, int* minor);
  const char* (*error_string)(int result);
  int (*create_program)(NvrtcProgram** program, const char* source, const char* name, int num_headers,
                        const char* const* headers, const char* const* include_names);
  int (*destroy_program)(NvrtcProgram** program);
  int (*compile_program)(NvrtcProgram* program, int num_options, const char* const* options);
  int (*cubin_size)(NvrtcProgram* program, size_t* size);
  int (*cubin)(NvrtcProgram* program, char* cubin);
  int (*log_size)(NvrtcProgram* program, size_t* size);
  int (*log)(NvrtcProgram* program, char* log);

  std::string path;  ///< where it was found
  int major = 0, minor = 0;

  /// The process's, searched once: KILN_NVRTC (a path), the loader's path by soname, KILN_CUDA_PATH, the system's CUDA
  /// folders, and pip's packages of the Python that is active. kNotFound says where it looked.
  static Result<Ref<const Nvrtc>> instance();
};

}  // namespace kiln::cuda
