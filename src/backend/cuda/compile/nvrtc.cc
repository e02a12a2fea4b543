#include "backend/cuda/compile/nvrtc.h"

#include "backend/cuda/device/cuda_paths.h"
#include "backend/cuda/device/driver.h"
#include "backend/cuda/device/shared_library.h"

namespace kiln::cuda {
namespace {

constexpr int kOldestMajor = 12;

/// The newest first that makes cubins which the driver takes: one of its own major version, or an older one. Without a
/// driver kernels are only compiled.
std::vector<std::string> nvrtc_sonames() {
  const auto driver = Driver::instance();
  if (driver && driver->get().version < 13000) return {"libnvrtc.so.12", "libnvrtc.so.13"};
  return {"libnvrtc.so.13", "libnvrtc.so.12"};
}

Result<Nvrtc> load_nvrtc() {
  const std::vector<std::string> paths =
      library_paths({.variable = "KILN_NVRTC", .sonames = nvrtc_sonames(), .pip_folders = {"cu13", "cuda_nvrtc"}});
  Result<SharedLibrary> library = SharedLibrary::open(paths);
  if (!library)
    return error(Code::kNotFound, "NVRTC, which compiles kernels, was not found (", library.error().message,
                 "); install CUDA's run-time compiler (pip: nvidia-cuda-nvrtc) or set KILN_CUDA_PATH to a CUDA folder");
  Nvrtc found{};
  found.path = library->path();
  TRY(library->bind(found.version, "nvrtcVersion"));
  TRY(library->bind(found.error_string, "nvrtcGetErrorString"));
  TRY(library->bind(found.create_program, "nvrtcCreateProgram"));
  TRY(library->bind(found.destroy_program, "nvrtcDestroyProgram"));
  TRY(library->bind(found.compile_program, "nvrtcCompileProgram"));
  TRY(library->bind(found.cubin_size, "nvrtcGetCUBINSize"));
  TRY(library->bind(found.cubin, "nvrtcGetCUBIN"));
  TRY(library->bind(found.log_size, "nvrtcGetProgramLogSize"));
  TRY(library->bind(found.log, "nvrtcGetProgramLog"));
  if (found.version(&found.major, &found.minor) != 0 || found.major < kOldestMajor)
    return error(Code::kVersion, "NVRTC at '", found.path, "' is version ", found.major, ".", found.minor,
                 "; Kiln needs ", kOldestMajor, ".0 or later");
  return found;
}

}  // namespace

Result<Ref<const Nvrtc>> Nvrtc::instance() {
  static const Result<Nvrtc>& loaded = *new Result<Nvrtc>(load_nvrtc());
  if (!loaded) return std::unexpected(loaded.error());
  return Ref<const Nvrtc>(*loaded);
}

}  // namespace kiln::cuda
