#include "backend/cuda/device/cudnn.h"

#include "backend/cuda/device/cuda_paths.h"
#include "backend/cuda/device/shared_library.h"

namespace kiln::cuda {
namespace {

Result<Cudnn> load_cudnn() {
  const std::vector<std::string> paths =
      library_paths({.variable = "KILN_CUDNN", .sonames = {"libcudnn.so.9"}, .pip_folders = {"cudnn"}});
  Result<SharedLibrary> library = SharedLibrary::open(paths);
  if (!library)
    return error(Code::kNotFound, "cuDNN 9 was not found (", library.error().message,
                 "); install it (pip: nvidia-cudnn-cu13) or set KILN_CUDA_PATH to a folder that has it");
  Cudnn found{};
  found.path = library->path();
  TRY(library->bind(found.get_version, "cudnnGetVersion"));
  TRY(library->bind(found.get_error_string, "cudnnGetErrorString"));
  TRY(library->bind(found.get_last_error_string, "cudnnGetLastErrorString"));
  TRY(library->bind(found.create, "cudnnCreate"));
  TRY(library->bind(found.destroy, "cudnnDestroy"));
  TRY(library->bind(found.set_stream, "cudnnSetStream"));
  TRY(library->bind(found.create_descriptor, "cudnnBackendCreateDescriptor"));
  TRY(library->bind(found.destroy_descriptor, "cudnnBackendDestroyDescriptor"));
  TRY(library->bind(found.finalize, "cudnnBackendFinalize"));
  TRY(library->bind(found.set_attribute, "cudnnBackendSetAttribute"));
  TRY(library->bind(found.get_attribute, "cudnnBackendGetAttribute"));
  TRY(library->bind(found.execute, "cudnnBackendExecute"));
  found.version = static_cast<int64_t>(found.get_version());
  return found;
}

}  // namespace

Result<Ref<const Cudnn>> Cudnn::instance() {
  static const Result<Cudnn>& loaded = *new Result<Cudnn>(load_cudnn());
  if (!loaded) return std::unexpected(loaded.error());
  return Ref<const Cudnn>(*loaded);
}

Status Cudnn::failure(int status, const std::string& what) const {
  constexpr int kNotSupported = 3000, kInternal = 4000;
  constexpr int kNoHostMemory = 4003, kNoDeviceMemory = 4004;
  const Code code = status == kNoHostMemory || status == kNoDeviceMemory ? Code::kOutOfMemory
                    : status >= kNotSupported && status < kInternal      ? Code::kUnsupported
                                                                         : Code::kDevice;
  char details[512] = {};
  get_last_error_string(details, sizeof details);
  const char* name = get_error_string(status);
  return error(code, what, ": cuDNN answers ", name ? name : "a status without a name", " (", status, ")",
               details[0] ? ": " : "", static_cast<const char*>(details));
}

Result<CudnnObject> CudnnObject::make(const Cudnn& library, CudnnKind kind) {
  void* handle = nullptr;
  TRY(library.check(library.create_descriptor(kind, &handle), "making an object of kind ", static_cast<int>(kind)));
  return CudnnObject(library, handle);
}

Result<int64_t> CudnnObject::get(CudnnAttribute attribute, CudnnType type, int64_t most, void* elements) const {
  int64_t count = 0;
  TRY(library_->check(library_->get_attribute(handle_, attribute, type, most, &count, elements), "reading attribute ",
                      static_cast<int>(attribute)));
  return count;
}

std::string version_text(const Cudnn& library) {
  return str(library.version / 10000, '.', library.version / 100 % 100, '.', library.version % 100);
}

}  // namespace kiln::cuda
